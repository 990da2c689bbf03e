"""Kernels in Triton with what its library and compiler add: libdevice, asserts, block pointers, persistent loops, fp64, gathers by TMA."""
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

from case import In, Out, Scratch, kernel, random, whole
from triton_compile import compiled


@triton.jit
def library(x, y, z, w, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.load(x + i)
    tl.store(y + i, libdevice.pow(tl.abs(v), 1.5))
    tl.store(z + i, libdevice.atan2(v, 0.5))
    tl.store(w + i, libdevice.rint(v * 10))


@kernel("triton_libdevice")
def _(arch):
    x = random(128)
    return compiled(arch, library, (1,), constants={"n": 128}, x=In(x), y=Out(np.abs(x.astype(np.float64)) ** 1.5, "f4", rtol=1e-5, atol=1e-6),
                    z=Out(np.arctan2(x, 0.5), "f4", rtol=1e-6, atol=1e-6), w=Out(np.rint(x * 10)))


@triton.jit
def doubles(a, b, c, K: tl.constexpr, n: tl.constexpr):
    m = tl.arange(0, n)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * n + m[None, :])
    tl.store(c + m[:, None] * n + m[None, :], tl.dot(x, y, out_dtype=tl.float64))


@kernel("triton_matmul_f64")
def _(arch):
    a, b = random(16, 16).astype(np.float64), random(16, 16, seed=2).astype(np.float64)
    return compiled(arch, doubles, (1,), constants={"K": 16, "n": 16}, a=In(a), b=In(b), c=Out(a @ b, rtol=1e-12, atol=1e-12))


@triton.jit
def persistent(a, b, c, M, N, K, CTAS: tl.constexpr, B: tl.constexpr):
    columns = N // B
    r = tl.arange(0, B)
    for tile in tl.range(tl.program_id(0), (M // B) * columns, CTAS, flatten=True):
        m, n = tile // columns * B, tile % columns * B
        total = tl.zeros((B, B), dtype=tl.float32)
        for k in range(0, K, B):
            x = tl.load(a + (m + r)[:, None] * K + (k + r)[None, :])
            y = tl.load(b + (k + r)[:, None] * N + (n + r)[None, :])
            total = tl.dot(x, y, total)
        tl.store(c + (m + r)[:, None] * N + (n + r)[None, :], total)


@kernel("triton_persistent_matmul")
def _(arch):
    a, b = whole(192, 128).astype(np.float16), whole(128, 128, seed=2).astype(np.float16)
    return compiled(arch, persistent, (2,), constants={"CTAS": 2, "B": 64}, a=In(a), b=In(b), c=Out(a.astype(np.float32) @ b.astype(np.float32)),
                    M=192, N=128, K=128)


@triton.jit
def gather_by_tma(x, index, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr, n: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [ROWS, COLUMNS], [COLUMNS, 1], [1, 32])
    i = tl.arange(0, n)
    v = d.gather(tl.load(index + i), 32)
    tl.store(y + i[:, None] * 32 + tl.arange(0, 32)[None, :], v)


@kernel("triton_tma_gather", only=("sm_100a",))
def _(arch):
    x, index = random(64, 64).astype(np.float16), np.random.default_rng(1).integers(0, 64, 16).astype(np.int32)
    return compiled(arch, gather_by_tma, (1,), constants={"ROWS": 64, "COLUMNS": 64, "n": 16}, x=In(x), index=In(index),
                    y=Out(x[index, 32:]))


@triton.jit
def reduce_by_tma(x, y, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(y, [M, N], [N, 1], [M, N])
    r, c = tl.arange(0, M), tl.arange(0, N)
    d.atomic_add([0, 0], tl.load(x + tl.program_id(0) * M * N + r[:, None] * N + c[None, :]))


@kernel("triton_tma_reduce")
def _(arch):
    x = whole(4, 16, 32, below=50)
    return compiled(arch, reduce_by_tma, (4,), constants={"M": 16, "N": 32}, x=In(x), y=Out(x.sum(0), before=np.zeros((16, 32), np.float32)))


@triton.jit
def exchange(lock, total, x, n: tl.constexpr):
    v = tl.sum(tl.load(x + tl.program_id(0) * n + tl.arange(0, n)), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total, volatile=True) + v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@kernel("triton_lock")
def _(arch):
    x = np.random.default_rng(2).integers(-100, 100, 6 * 128).astype(np.int32)
    return compiled(arch, exchange, (6,), constants={"n": 128}, lock=Scratch(16),
                    total=Out(x.sum(keepdims=True).astype(np.int32), before=np.zeros(1, np.int32)), x=In(x))


@triton.jit
def asserted(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.load(x + i)
    tl.device_assert(v < 1000, "too large")
    tl.device_print("sum", tl.sum(v, 0))
    tl.store(y + i, tl.where(v > 0, v, -v))


@kernel("triton_assert_and_print")
def _(arch):
    x = np.random.default_rng(3).integers(-100, 100, 64).astype(np.int32)
    return compiled(arch, asserted, (1,), warps=1, constants={"n": 64}, options={"debug": True}, x=In(x), y=Out(np.abs(x)))


@triton.jit
def grouped_norms(x, y, rows: tl.constexpr, groups: tl.constexpr, n: tl.constexpr):
    r, c = tl.arange(0, rows), tl.arange(0, groups * n)
    v = tl.reshape(tl.load(x + r[:, None] * (groups * n) + c[None, :]), (rows, groups, n))
    top = tl.max(tl.abs(v), 2)
    a, b = tl.split(tl.reshape(tl.permute(v, (0, 2, 1)), (rows * n * groups // 2, 2)))
    tl.store(y + r[:, None] * groups + tl.arange(0, groups)[None, :], top + tl.max(a, 0) - tl.max(b, 0))


@kernel("triton_reshapes")
def _(arch):
    x = np.random.default_rng(4).integers(-99, 99, (8, 4 * 16)).astype(np.float32)
    v = x.reshape(8, 4, 16)
    pairs = v.transpose(0, 2, 1).reshape(-1, 2)
    y = np.abs(v).max(2) + pairs[:, 0].max() - pairs[:, 1].max()
    return compiled(arch, grouped_norms, (1,), constants={"rows": 8, "groups": 4, "n": 16}, x=In(x), y=Out(y))
