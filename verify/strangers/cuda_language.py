"""What CUDA C++ compiles to as a language (cuda_language.cu), against NumPy."""
import functools

import numpy as np

import cuda_compile
from case import In, Out, kernel, random

NAME = f"NVRTC {cuda_compile.version('nvidia-cuda-nvrtc')}"
compiled = functools.partial(cuda_compile.compiled, generator=NAME, source="cuda_language.cu")


@kernel("cuda_virtual_calls")
def _(arch):
    x = random(64)
    return compiled(arch, entry="virtual_calls", grid=(1,), block=(64,), x=In(x), y=Out(np.where(np.arange(64) % 3 == 0, x * x, x * 2)))


@kernel("cuda_recursion")
def _(arch):
    return compiled(arch, entry="recursion", grid=(1,), block=(32,), y=Out((2 * (np.arange(32) % 8) + 3).astype(np.int32)))


@kernel("cuda_wide_integers")
def _(arch):
    r = np.random.default_rng(1)
    a, b = (r.integers(0, 1 << 64, 64, dtype=np.uint64) >> r.integers(0, 64, 64, dtype=np.uint64) for _ in range(2))
    products = [int(x) * int(y) for x, y in zip(a, b)]
    quotients = [p // (int(x) | 1) for p, x in zip(products, a)]
    return compiled(arch, entry="wide_integers", grid=(1,), block=(64,), a=In(a), b=In(b),
                    high=Out(np.array([p >> 64 for p in products], np.uint64)), quotient=Out(np.array(quotients, np.uint64)))


@kernel("cuda_own_arrays")
def _(arch):
    x = np.random.default_rng(2).integers(-1000, 1000, (32, 16)).astype(np.int32)
    return compiled(arch, entry="own_arrays", grid=(1,), block=(32,), x=In(x), y=Out(np.sort(x, 1)))


@kernel("cuda_printf")
def _(arch):
    x = np.random.default_rng(3).integers(0, 1000, 32).astype(np.int32)
    return compiled(arch, entry="printed", grid=(1,), block=(32,), x=In(x), y=Out(x % 7))


@kernel("cuda_doubles")
def _(arch):
    x = np.random.default_rng(4).integers(-1000, 1000, 64).astype(np.float64)
    return compiled(arch, entry="doubles", grid=(1,), block=(64,), x=In(x), total=Out(x.sum(keepdims=True), before=np.zeros(1)),
                    roots=Out(np.sqrt(np.abs(x)) / (1 + x * x)))


@kernel("cuda_mandelbrot")
def _(arch):
    width, height = 64, 24
    c = (np.arange(width) * 3 / width - 2)[None, :] + 1j * (np.arange(height) * 2 / height - 1)[:, None]
    z, n = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(20):
        inside = np.abs(z) < 2
        z, n = np.where(inside, z * z + c, z), n + inside
    return compiled(arch, entry="mandelbrot", grid=(2, height), block=(32,), y=Out(n.astype(np.int32)), width=width)


@kernel("cuda_pipeline_primitives")
def _(arch):
    x = np.random.default_rng(5).integers(0, 1 << 31, (5, 32, 4)).astype(np.int32)
    y = np.stack([x[..., 0].sum(0, dtype=np.int32), np.bitwise_xor.reduce(x[..., 1], 0), x[..., 2].max(0),
                  np.bitwise_count(x[..., 3]).sum(0)], 1)
    return compiled(arch, entry="pipeline_primitives", grid=(1,), block=(32,), x=In(x), y=Out(y.astype(np.int32)), stages=5)


def intrinsics(v):
    """The same in whole numbers of any size."""
    mask = 0xFFFFFFFF

    def signed(x, bits=32):
        return x - (1 << bits) if x >> (bits - 1) & 1 else x

    def parts(x, bits):
        return [x >> i & (1 << bits) - 1 for i in range(0, 32, bits)]

    def joined(values, bits):
        return sum((x & (1 << bits) - 1) << bits * i for i, x in enumerate(values))

    inverse = ~v & mask
    r = int(f"{v:032b}"[::-1], 2) ^ (v & 0xFFFF | (inverse & 0xFFFF) << 16) ^ ((inverse << 32 | v) << 7 >> 32 & mask)
    r ^= 32 - v.bit_length() ^ (v & -v).bit_length() << 8
    dot = sum(signed(x, 8) * y for x, y in zip(parts(v, 8), (4, 3, 2, 1))) + 5 & mask
    added = joined([x + y for x, y in zip(parts(v, 8), parts(0x01FF7F80, 8))], 8)
    larger = joined([max(signed(x, 16), signed(y, 16)) for x, y in zip(parts(v, 16), parts(0x80007FFF, 16))], 16)
    r = r + (dot ^ added ^ larger ^ (abs(v - 77) + 3 & mask)) & mask
    return r ^ (signed(v) * 0x12345678 >> 32 & mask) ^ ((v & 0xFFFFFF) * (1234567 & 0xFFFFFF) & mask)


@kernel("cuda_intrinsics")
def _(arch):
    x = np.random.default_rng(6).integers(0, 1 << 32, 64, dtype=np.uint32)
    return compiled(arch, entry="intrinsics", grid=(1,), block=(64,), x=In(x), y=Out(np.array([intrinsics(int(v)) for v in x], np.uint32)))
