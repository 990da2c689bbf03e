"""Functions of the CuTe DSL (nvidia-cutlass-dsl) on a machine without a GPU: the DSL compiles, bitwell launches.

    import bitwell, cutlass.cute as cute

    compiled = bitwell.cute.compile(function, *fakes)  # as cute.compile takes them
    compiled(a, b, c)                                  # arrays of NumPy, tensors of torch's CPU, in place

The compiler is the DSL's own, and so is its host code, which computes the grid, the shared memory and the tensor maps.
What that calls of a CUDA runtime is answered here, in this process: no driver, no library of CUDA. Nothing of the DSL is
imported before the first call.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arguments import aligned

if TYPE_CHECKING:
    from .compiled import Compiled

__all__ = ["activate", "aligned", "compile"]


def compile(function: Any, *arguments: Any, options: str = "", arch: str = "", **named: Any) -> Compiled:
    """Compiles a function of the CuTe DSL (`@cute.jit`) for `arch`, as `cute.compile` does: `arguments` are fake tensors
    (`cutlass.cute.runtime.make_fake_compact_tensor`) or real ones, numbers, pointers, a fake stream.

    `arch` is "sm_90a" or "sm_100a"; without it that of `options` (`--gpu-arch`), of CUTE_DSL_ARCH, of the GPU that
    `pytest --bitwell` shows, or sm_90a. `options` are the DSL's, as text. What comes back is called with arrays; its
    `ptx` is what was compiled."""
    from .dsl import compile_here

    return compile_here(function, arguments, named, options, arch)


def activate() -> None:
    """From now on every function of the CuTe DSL in this process is launched here, also those that a program or a test
    compiles by `cute.compile` or calls as they are: what `pytest --bitwell` does."""
    from .dsl import activate as on

    on()
