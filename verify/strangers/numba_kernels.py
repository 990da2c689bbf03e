"""Kernels in Python as numba-cuda compiles them: arrays are passed as seven words and more, names are long."""
import math
import re

import numba_cuda
import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32, uint8

from case import Case, In, Out, kernel, random, scalar


def array(name, value):
    """An array as numba passes it: two null pointers, length, bytes of an element, data, shape and strides."""
    a = value.array if isinstance(value, In) else np.empty(value.expected.shape, value.dtype)
    words = [0, 0, a.size, a.itemsize, name, *a.shape, *a.strides]
    return [w if isinstance(w, str) else scalar("s64", w) for w in words]


def compiled(arch, function, signature, grid, block, **arguments):
    """The Case of a Python function; arguments in its order: In and Out (arrays), int and float of the signature's types."""
    types = {"int32": "s32", "int64": "s64", "uint32": "u32", "float32": "f32", "float64": "f64"}
    ptx, _ = cuda.compile_ptx(function, signature, cc={"sm_90a": (9, 0), "sm_100a": (10, 0)}[arch])
    passed = []
    for (name, value), type in zip(arguments.items(), signature):
        passed += array(name, value) if isinstance(value, (In, Out)) else [scalar(types[str(type)], value)]
    buffers = {n: v for n, v in arguments.items() if isinstance(v, (In, Out))}
    entry = re.search(r"\.entry (\w+)\(", ptx).group(1)
    return Case(f"numba-cuda {numba_cuda.__version__}", ptx, entry, grid, block, buffers, passed)


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


@kernel("numba_saxpy")
def _(arch):
    x, y = random(1000), random(1000, seed=2)
    return compiled(arch, saxpy, (float32, float32[::1], float32[::1]), (4,), (256,), a=2.0, x=In(x), y=Out(2 * x + y, before=y))


def strided_sum(x, y):
    row = cuda.grid(1)
    total = 0.0
    for c in range(x.shape[1]):
        total += x[row, c]
    y[row] = total


@kernel("numba_row_sums_f64")
def _(arch):
    x = random(64, 20).astype(np.float64)
    return compiled(arch, strided_sum, (float64[:, ::1], float64[::1]), (2,), (32,), x=In(x), y=Out(x.sum(1), rtol=1e-14, atol=1e-14))


def block_sum(x, y):
    part = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(y, 0, part[0])


@kernel("numba_block_sum")
def _(arch):
    x = np.random.default_rng(1).integers(-1000, 1000, 512).astype(np.int32)
    return compiled(arch, block_sum, (int32[::1], int32[::1]), (4,), (128,), x=In(x),
                    y=Out(x.sum(keepdims=True).astype(np.int32), before=np.zeros(1, np.int32)))


def warp_sum(x, y):
    v = x[cuda.grid(1)]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, step)
    y[cuda.grid(1)] = v


@kernel("numba_shuffles")
def _(arch):
    x = np.random.default_rng(2).integers(-1000, 1000, 128).astype(np.int32)
    return compiled(arch, warp_sum, (int32[::1], int32[::1]), (2,), (64,), x=In(x),
                    y=Out(np.repeat(x.reshape(-1, 32).sum(1), 32).astype(np.int32)))


def tiled_matmul(a, b, c):
    ta = cuda.shared.array((16, 16), float32)
    tb = cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1] // 16):
        ta[y, x] = a[row, k * 16 + x]
        tb[y, x] = b[k * 16 + y, column]
        cuda.syncthreads()
        for i in range(16):
            total += ta[y, i] * tb[i, x]
        cuda.syncthreads()
    c[row, column] = total


@kernel("numba_matmul")
def _(arch):
    a, b = random(32, 48), random(48, 32, seed=2)
    m = float32[:, ::1]
    return compiled(arch, tiled_matmul, (m, m, m), (2, 2), (16, 16), a=In(a), b=In(b),
                    c=Out(a.astype(np.float64) @ b, "f4", rtol=1e-5, atol=1e-5))


def histogram(x, counts):
    i = cuda.grid(1)
    while i < x.size:
        cuda.atomic.add(counts, x[i] >> 4, 1)
        i += cuda.gridsize(1)


@kernel("numba_histogram")
def _(arch):
    x = np.random.default_rng(3).integers(0, 256, 3000).astype(np.uint8)
    return compiled(arch, histogram, (uint8[::1], uint32[::1]), (3,), (128,), x=In(x),
                    counts=Out(np.bincount(x >> 4, minlength=16).astype(np.uint32), before=np.zeros(16, np.uint32)))


def heat(a, b, arrived, steps):
    i = cuda.grid(1)
    for s in range(steps):
        source, target = (a, b) if s % 2 == 0 else (b, a)
        if 0 < i < a.size - 1:
            target[i] = (source[i - 1] + source[i + 1]) * float32(0.5)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.atomic.add(arrived, 0, 1)
            while cuda.atomic.add(arrived, 0, 0) < (s + 1) * cuda.gridDim.x:
                pass
            cuda.threadfence()
        cuda.syncthreads()


@kernel("numba_grid_barrier")
def _(arch):
    x = np.random.default_rng(4).integers(-64, 64, 256).astype(np.float32)
    a, b = x.copy(), x.copy()
    for s in range(4):
        p, q = (a, b) if s % 2 == 0 else (b, a)
        q[1:-1] = (p[:-2] + p[2:]) * np.float32(0.5)
    return compiled(arch, heat, (float32[::1], float32[::1], int32[::1], int32), (4,), (64,), a=Out(a, before=x), b=Out(b, before=x),
                    arrived=Out(np.array([16], np.int32), before=np.zeros(1, np.int32)), steps=4)


def collatz(x, y):
    i = cuda.grid(1)
    v, n = x[i], 0
    while v != 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        n += 1
    y[i] = n


@kernel("numba_collatz")
def _(arch):
    x = np.arange(1, 129, dtype=np.int64)

    def steps(v):
        n = 0
        while v != 1:
            v, n = (v // 2 if v % 2 == 0 else 3 * v + 1), n + 1
        return n

    return compiled(arch, collatz, (int64[::1], int64[::1]), (2,), (64,), x=In(x), y=Out(np.array([steps(int(v)) for v in x])))


def largest(x, at):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(at, 0, x[i])
        cuda.atomic.min(at, 1, x[i])


@kernel("numba_atomic_extremes")
def _(arch):
    x = random(500)
    return compiled(arch, largest, (float32[::1], float32[::1]), (4,), (128,), x=In(x),
                    at=Out(np.array([x.max(), x.min()]), before=np.zeros(2, np.float32)))


def inclusive_scan(x, y):
    v = x[cuda.threadIdx.x]
    lane = cuda.laneid
    totals = cuda.shared.array(8, float32)
    for step in (1, 2, 4, 8, 16):
        below = cuda.shfl_up_sync(0xFFFFFFFF, v, step)
        if lane >= step:
            v += below
    if lane == 31:
        totals[cuda.threadIdx.x // 32] = v
    cuda.syncthreads()
    for w in range(cuda.threadIdx.x // 32):
        v += totals[w]
    y[cuda.threadIdx.x] = v


@kernel("numba_scan")
def _(arch):
    x = np.random.default_rng(5).integers(-9, 9, 256).astype(np.float32)
    return compiled(arch, inclusive_scan, (float32[::1], float32[::1]), (1,), (256,), x=In(x), y=Out(np.cumsum(x)))


def normalise(x, y, z):
    i = cuda.grid(1)
    length = math.sqrt(x[i] * x[i] + y[i] * y[i])
    x[i] /= length
    y[i] /= length
    z[i] = length


@kernel("numba_f64_division")
def _(arch):
    x, y = random(128).astype(np.float64), random(128, seed=2).astype(np.float64)
    z = np.hypot(x, y)
    return compiled(arch, normalise, (float64[::1],) * 3, (1,), (128,), x=Out(x / z, before=x, ulp=4), y=Out(y / z, before=y, ulp=4),
                    z=Out(z, ulp=2))


def powers(x, y):
    i = cuda.grid(1)
    y[i] = x[i] ** 1.5


@kernel("numba_f64_power")
def _(arch):
    x = np.abs(random(64)).astype(np.float64)
    return compiled(arch, powers, (float64[::1], float64[::1]), (1,), (64,), x=In(x), y=Out(x**1.5, ulp=2))
