"""The projects whose programs are run here."""
import collections

from flashinfer_kernels import FLASHINFER
from liger import LIGER
from packages import FLASH_ATTENTION, HELION, QUACK
from tutorials import GLUON, TUTORIALS

# The checkout, "" where the package has all; the repository's folders that are needed, that of the programs, and the package whose version
# the rows have.
Suite = collections.namedtuple("Suite", "checkout needs folder package programs")
SUITES = {
    "triton": Suite("triton", ("python/tutorials", "third_party/nvidia/backend/lib"), "python/tutorials", "triton", TUTORIALS),
    "gluon": Suite("triton", ("python/tutorials",), "python/tutorials/gluon", "triton", GLUON),
    "liger": Suite("liger", ("test/transformers", "test/utils.py", "test/__init__.py", "test/conftest.py"), "", "liger-kernel", LIGER),
    "FlashAttention-4": Suite("", (), "", "flash-attn-4", FLASH_ATTENTION),
    "FlashInfer": Suite("", (), "", "flashinfer-python", FLASHINFER),
    "quack": Suite("", (), "", "quack-kernels", QUACK),
    "helion": Suite("", (), "", "helion", HELION),
}
