"""Triton's compiler, told the target: no GPU is asked for."""
import os

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from case import Case, In, Out, Scratch, scalar

TYPES = {"f4": "fp32", "f2": "fp16", "f8": "fp64", "i4": "i32", "i8": "i64", "i1": "i8", "u1": "u8", "u4": "u32", "i2": "i16"}
FORMATS = {"bf16": "bf16", "e4m3": "fp8e4nv", "e5m2": "fp8e5"}


class Descriptor:
    """A tensor map that the host makes over a buffer, of boxes of this shape (outermost dimension first)."""

    def __init__(self, buffer, box):
        self.buffer, self.box = buffer, box

    def shape(self):
        return (self.buffer.array if isinstance(self.buffer, In) else self.buffer.expected).shape

    def arguments(self, name, meta):
        """The map as Triton's launcher makes it from the compiler's `meta`, then shape, strides and padding."""
        size, shape = meta["elem_size"], self.shape()
        types = {"f4": "f32", "f2": "f16"}
        dtype = self.buffer.array.dtype if isinstance(self.buffer, In) else self.buffer.dtype
        tensor_map = {"tensor_map": name, "type": types[dtype.str[1:]], "dims": list(shape[::-1]), "strides": [shape[1] * size],
                      "box": list(meta["block_size"][::-1]), "swizzle": ("none", "32b", "64b", "128b")[meta["swizzle"]]}
        return [tensor_map, *(scalar("s32", n) for n in shape), scalar("s64", shape[1]), scalar("s64", 1)]


def element(buffer):
    if buffer.format:
        return FORMATS[buffer.format]
    dtype = buffer.array.dtype if isinstance(buffer, In) else buffer.dtype
    return TYPES[dtype.str[1:]]


def compiled(arch, function, grid, warps=4, constants=None, options=None, **arguments):
    """The Case of a @triton.jit function: arguments in its order are In and Out (pointers), int and float.

    The PTX is of version 9.0: by default Triton's is 9.4, which its own ptxas takes and driver 580 does not.
    """
    signature, buffers, passed, attributes = {}, {}, [], {}
    for at, (name, value) in enumerate(arguments.items()):
        if isinstance(value, (In, Out, Scratch)):
            signature[name] = "*i32" if isinstance(value, Scratch) else "*" + element(value)
            attributes[(at,)] = [["tt.divisibility", 16]]
            buffers[name] = value
            passed.append(name)
        elif isinstance(value, Descriptor):
            rows, columns = value.box
            signature[name] = f"tensordesc<{element(value.buffer)}[{rows},{columns}]>"
            buffers[name] = value.buffer
            passed.append(value)
        else:
            kind = "fp32" if isinstance(value, float) else "i32"
            signature[name] = kind
            if kind == "i32" and value % 16 == 0:
                attributes[(at,)] = [["tt.divisibility", 16]]
            passed.append(scalar("f32" if kind == "fp32" else "s32", value))
    constants = constants or {}
    signature |= {name: "constexpr" for name in constants}
    source = ASTSource(function, signature=signature, constexprs=constants, attrs=attributes)
    target = GPUTarget("cuda", int(arch[3:].rstrip("a")), 32)
    out = triton.compile(source, target=target, options={"num_warps": warps, "ptx_version": 90} | (options or {}))
    m = out.metadata
    maps = iter(m.tensordesc_meta)
    named = {id(v): n for n, v in arguments.items()}
    passed = [x for p in passed for x in (p.arguments(named[id(p)], next(maps)) if isinstance(p, Descriptor) else [p])]
    clusters = int(np.prod(grid))
    for name, size in (("global_scratch", m.global_scratch_size), ("profile_scratch", m.profile_scratch_size)):
        buffers[name] = Scratch(max(16, size * clusters * m.num_ctas))
        passed.append(name)
    block = (32 * m.num_warps,)
    # Kernels with warps of several roles ask for more threads than num_warps has.
    for line in out.asm["ptx"].splitlines():
        if line.startswith(".reqntid"):
            block = (int(line.split()[1].rstrip(",")),)
    grid = (grid[0] * m.num_ctas, *grid[1:])
    return Case(f"Triton {triton.__version__}", out.asm["ptx"], m.name, grid, block, buffers, passed, shared=m.shared,
                cluster=(m.num_ctas,))
