"""The CuTe DSL, told the target; its tensors have layouts that are known at compile time, and are passed as an address."""
import importlib.metadata
import re
import tempfile

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor

from case import Case, In, Out, scalar

TYPES = {"f4": cutlass.Float32, "f2": cutlass.Float16, "i4": cutlass.Int32, "u1": cutlass.Uint8, "i1": cutlass.Int8}
FORMATS = {"bf16": cutlass.BFloat16, "e4m3": cutlass.Float8E4M3FN, "e5m2": cutlass.Float8E5M2}


def tensor(buffer):
    """A tensor of the buffer's shape, the last dimension innermost, aligned to 16 bytes."""
    shape = (buffer.array if isinstance(buffer, In) else buffer.expected).shape
    dtype = buffer.array.dtype if isinstance(buffer, In) else buffer.dtype
    element = FORMATS[buffer.format] if buffer.format else TYPES[dtype.str[1:]]
    return make_fake_compact_tensor(element, shape, stride_order=tuple(reversed(range(len(shape)))), assumed_align=16)


def compiled(arch, function, grid, block, shared=0, **arguments):
    """The Case of a @cute.jit function that launches one kernel with the same arguments: In, Out, int and float."""
    given = [tensor(v) if isinstance(v, (In, Out)) else cutlass.Float32(v) if isinstance(v, float) else cutlass.Int32(v)
             for v in arguments.values()]
    with tempfile.TemporaryDirectory() as folder:
        out = cute.compile(function, *given, options=f"--gpu-arch {arch} --keep-ptx --dump-dir {folder}")
        ptx = out.__ptx__
    buffers = {n: v for n, v in arguments.items() if isinstance(v, (In, Out))}
    passed = [n if n in buffers else scalar("f32" if isinstance(v, float) else "s32", v) for n, v in arguments.items()]
    # A TiledMMA's fields come last, as zeros: nothing negated, and no accumulation before the kernel asks for it.
    sizes = [int(n) for n in re.findall(r"\.b8 \S+\[(\d+)\]", re.search(r"\.entry[^{]*", ptx).group())]
    passed += [{"bytes": "00" * n} for n in sizes[len(passed):]]
    return Case(f"CuTe DSL {importlib.metadata.version('nvidia-cutlass-dsl')}", ptx, re.search(r"\.entry (\w+)\(", ptx).group(1), grid,
                block, buffers, passed, shared=shared)
