"""CUDA C++ (cuda_kernels.cu, cuda_functions.cu, cuda_wide_tiles.cu) against NumPy."""
import functools

import numpy as np

import cuda_compile
from case import In, Out, Scratch, bf16, e4m3, e5m2, kernel, random, rounded, whole

NAME = f"NVRTC {cuda_compile.version('nvidia-cuda-nvrtc')}"
compiled = functools.partial(cuda_compile.compiled, generator=NAME, source="cuda_kernels.cu")


def integers(*shape, low=-1000, high=1000, seed=1):
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.int32)


@kernel("cuda_grid_sync")
def _(arch):
    x = integers(256)
    m = x + np.roll(x, -1)
    return compiled(arch, entry="grid_sync", grid=(4,), block=(64,), cooperative=True, x=In(x), middle=Out(m),
                    y=Out(m - np.roll(m, -128)), n=256)


@kernel("cuda_tiles")
def _(arch):
    x = integers(256)
    rows = x.reshape(-1, 8)
    return compiled(arch, entry="tiles", grid=(2,), block=(128,), x=In(x), sums=Out(np.repeat(rows.sum(1), 8).astype(np.int32)),
                    prefixes=Out(np.cumsum(rows, 1).astype(np.int32)))


@kernel("cuda_wide_tiles")
def _(arch):
    x = integers(512)
    turned = x.reshape(-1, 64)[:, ::-1]
    return compiled(arch, source="cuda_wide_tiles.cu", entry="wide_tiles", grid=(2,), block=(256,), x=In(x),
                    sums=Out((turned + turned.sum(1, keepdims=True)).astype(np.int32)),
                    largest=Out(np.repeat(turned.max(1), 64).astype(np.int32)))


@kernel("cuda_memcpy_async")
def _(arch):
    x = whole(5, 128, below=50)
    return compiled(arch, entry="pipelined_sum", grid=(1,), block=(128,), x=In(x), y=Out(x.sum(0)[::-1]), stages=5)


@kernel("cuda_barriers")
def _(arch):
    x = integers(4, 64)
    y = (x * np.arange(1, 5)[:, None]).sum(0)[::-1]
    return compiled(arch, entry="barriers", grid=(1,), block=(128,), x=In(x), y=Out(y.astype(np.int32)), rounds=4)


@kernel("cuda_look_back")
def _(arch):
    x = integers(12 * 32)
    return compiled(arch, entry="look_back", grid=(12,), block=(32,), x=In(x), y=Out(np.cumsum(x).astype(np.int32)),
                    states=Scratch(8 * 12), tickets=Scratch(4))


@kernel("cuda_cluster_sum")
def _(arch):
    x = integers(8, 64)
    y = x.reshape(2, 4, 64).sum(1)[:, ::-1].repeat(4, 0)
    return compiled(arch, entry="cluster_sum", grid=(8,), block=(64,), cluster=(4,), x=In(x), y=Out(y.astype(np.int32)))


def codes(numbers, fraction, bias):
    """The byte of each number of a format with so many fraction bits and this bias; the numbers are of it."""
    m, e = np.frexp(np.abs(numbers))
    exponent = np.maximum(e - 1, 1 - bias)
    whole_part = np.ldexp(m, e - exponent + fraction).astype(int)  # with the leading bit, where it is normal
    code = whole_part + np.where(whole_part >= 1 << fraction, (exponent + bias - 1) << fraction, 0)
    return code, np.signbit(numbers)


@kernel("cuda_narrow_formats")
def _(arch):
    x = random(512) * np.exp2(np.random.default_rng(9).integers(-12, 10, 512)).astype(np.float32)
    outs = []
    for y, fraction, bias in ((e4m3(x), 3, 7), (e5m2(x), 2, 15)):
        code, negative = codes(np.copysign(y, x), fraction, bias)
        outs.append((code | negative.astype(int) << 7).astype(np.uint8))
    code, negative = codes(np.copysign(rounded(x, 1, 0, 6), x), 1, 1)
    pair = (code | negative.astype(int) << 3) | (code | (~negative).astype(int) << 3) << 4
    return compiled(arch, entry="narrow", grid=(2,), block=(256,), x=In(x), e4m3=Out(outs[0]), e5m2=Out(outs[1]),
                    e2m1=Out(pair.astype(np.uint8)))


@kernel("cuda_halves")
def _(arch):
    a, b = random(256).astype(np.float16), random(256, seed=2).astype(np.float16)
    d = a.astype(np.float64)
    return compiled(arch, entry="halves", grid=(1,), block=(128,), a=In(a), b=In(b), fused=Out((d * b + d).astype(np.float16)),
                    rounded=Out(bf16(a[::2].astype(np.float32) + b[1::2].astype(np.float32)), format="bf16"),
                    largest=Out(np.maximum(np.abs(a[::2]), b[::2])))


@kernel("cuda_wmma")
def _(arch):
    a, b = whole(16, 64).astype(np.float16), whole(16, 64, seed=2).astype(np.float16)
    return compiled(arch, entry="wmma_product", grid=(1,), block=(32,), a=In(a), b=In(b),
                    c=Out(a.astype(np.float32) @ b.astype(np.float32).T), k=64)


@kernel("cuda_aggregated_atomics")
def _(arch):
    x = integers(512, low=0, high=16)
    return compiled(arch, entry="aggregated_histogram", grid=(4,), block=(128,), x=In(x),
                    counts=Out(np.bincount(x, minlength=16).astype(np.uint32), before=np.zeros(16, np.uint32)))


@kernel("cuda_compact")
def _(arch):
    x = np.where(np.random.default_rng(1).random(256) < 0.3, 7, -1).astype(np.int32)
    kept = int((x > 0).sum())
    return compiled(arch, entry="compact", grid=(2,), block=(128,), x=In(x), y=Out(np.full(kept, 7, np.int32)),
                    count=Out(np.array([kept], np.int32), before=np.zeros(1, np.int32)))


@kernel("cuda_convolution")
def _(arch):
    x = whole(256, below=50)
    y = np.convolve(x, [1, 4, 6, 4, 1], "same").astype(np.float32)
    return compiled(arch, entry="convolve", grid=(2,), block=(128,), shared=4 * 132, x=In(x), y=Out(y), n=256)


@kernel("cuda_unordered_sum")
def _(arch):
    x = random(512)
    return compiled(arch, entry="unordered_sum", grid=(4,), block=(128,), x=In(x),
                    y=Out(np.array([x.astype(np.float64).sum()]), "f4", before=np.zeros(1, np.float32), rtol=1e-4, atol=1e-4))


@kernel("cuda_functions")
def _(arch):
    x = random(128)
    v = x.astype(np.float64)
    y = np.sin(v) + np.log1p(v * v)
    return compiled(arch, source="cuda_functions.cu", entry="waves", grid=(1,), block=(128,), x=In(x), fast=Out(y, "f4", rtol=1e-5, atol=1e-5),
                    precise=Out(y, "f4", rtol=1e-6, atol=1e-6))
