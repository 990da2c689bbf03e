"""CUB's primitives (cub_kernels.cu) against NumPy."""
import functools

import numpy as np

import cuda_compile
from case import In, Out, kernel, random

NAME = f"CUB of CCCL {cuda_compile.version('nvidia-cuda-cccl')}, NVRTC"
compiled = functools.partial(cuda_compile.compiled, generator=NAME, source="cub_kernels.cu", block=(128,))


def integers(n, low=-1000, high=1000, seed=1, dtype=np.int32):
    return np.random.default_rng(seed).integers(low, high, n).astype(dtype)


@kernel("cub_radix_sort_pairs")
def _(arch):
    x = integers(512, 0, 1 << 32, dtype=np.uint32) >> np.uint32(20) << np.uint32(20)  # keys that come more than once: it is stable
    order = np.argsort(x, kind="stable")
    return compiled(arch, entry="radix_sort", grid=(1,), x=In(x), keys=Out(x[order]), places=Out(order.astype(np.int32)))


@kernel("cub_radix_sort_floats")
def _(arch):
    x = random(256)
    return compiled(arch, entry="radix_sort_floats", grid=(1,), x=In(x), y=Out(np.sort(x)[::-1]))


@kernel("cub_merge_sort")
def _(arch):
    x = integers(300, -(1 << 40), 1 << 40, dtype=np.int64)
    return compiled(arch, entry="merge_sort", grid=(1,), x=In(x), y=Out(np.sort(x)), n=300)


@kernel("cub_warp_merge_sort")
def _(arch):
    x = integers(512)
    return compiled(arch, entry="warp_merge_sort", grid=(1,), x=In(x), y=Out(np.sort(x.reshape(-1, 64), 1).reshape(-1)))


@kernel("cub_scan")
def _(arch):
    x = integers(1024)
    return compiled(arch, entry="scan", grid=(1,), x=In(x), y=Out((np.cumsum(x) - x).astype(np.int32)),
                    total=Out(x.sum(keepdims=True).astype(np.int32)))


@kernel("cub_scan_maxima")
def _(arch):
    x = random(128)
    return compiled(arch, entry="scan_maxima", grid=(1,), x=In(x), y=Out(np.maximum.accumulate(x)))


@kernel("cub_reduce_f64")
def _(arch):
    x = random(3, 128).astype(np.float64)
    return compiled(arch, entry="reduce", grid=(3,), x=In(x), y=Out(x.sum(1), rtol=1e-14, atol=1e-14))


@kernel("cub_warp_primitives")
def _(arch):
    x = integers(128)
    rows = x.reshape(4, 32)
    return compiled(arch, entry="warp_primitives", grid=(1,), x=In(x), sums=Out(x.reshape(8, 16).sum(1).astype(np.int32)),
                    prefixes=Out((np.cumsum(rows, 1) - rows).astype(np.int32)))


@kernel("cub_histogram")
def _(arch):
    x = integers(512, 0, 64, dtype=np.uint8)
    return compiled(arch, entry="histogram", grid=(1,), x=In(x), counts=Out(np.bincount(x, minlength=64).astype(np.uint32)))


@kernel("cub_heads_and_differences")
def _(arch):
    x = integers(256, 0, 3)
    heads, differences = np.ones(256, np.int32), x.copy()
    heads[1:] = x[1:] != x[:-1]
    differences[1:] = x[1:] - x[:-1]
    return compiled(arch, entry="heads_and_differences", grid=(1,), x=In(x), heads=Out(heads), differences=Out(differences))


@kernel("cub_run_length_decode")
def _(arch):
    values, lengths = integers(128), integers(128, 1, 9, seed=2, dtype=np.uint32)
    y = np.repeat(values, lengths)
    return compiled(arch, entry="run_length_decode", grid=(1,), values=In(values), lengths=In(lengths), y=Out(y), n=y.size)


@kernel("cub_exchange")
def _(arch):
    x = integers(512)
    striped = x.reshape(4, 4, 32).transpose(0, 2, 1)
    return compiled(arch, entry="exchange", grid=(1,), x=In(x), y=Out(striped), rotated=Out(np.roll(x[::4], -5)))
