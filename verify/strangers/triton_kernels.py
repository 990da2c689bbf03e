"""Kernels in Triton that use no tensor core."""
import math

import numpy as np
import triton
import triton.language as tl

from case import In, Out, Scratch, bf16, e4m3, e5m2, kernel, random
from triton_compile import compiled


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@kernel("triton_add")
def _(arch):
    x, y = random(1000), random(1000, seed=2)
    return compiled(arch, add, (4,), constants={"BLOCK": 256}, x=In(x), y=In(y), z=Out(x + y), n=1000)


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + i, mask=i < columns, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + i, e / tl.sum(e, 0), mask=i < columns)


@kernel("triton_softmax")
def _(arch):
    x = random(6, 200)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return compiled(arch, softmax, (6,), constants={"BLOCK": 256}, x=In(x),
                    y=Out(e / e.sum(1, keepdims=True), "f4", rtol=1e-6, atol=1e-12), columns=200)


@triton.jit
def layer_norm(x, w, b, y, columns, epsilon, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + i).to(tl.float32)
    d = v - tl.sum(v, 0) / columns
    scale = 1 / tl.sqrt_rn(tl.sum(d * d, 0) / columns + epsilon)
    tl.store(y + row + i, (d * scale * tl.load(w + i) + tl.load(b + i)).to(tl.float16))


@kernel("triton_layer_norm")
def _(arch):
    x, w, b = random(4, 512).astype(np.float16), random(512, seed=2), random(512, seed=3)
    v = x.astype(np.float64)
    d = v - v.mean(1, keepdims=True)
    y = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * w + b
    return compiled(arch, layer_norm, (4,), constants={"BLOCK": 512}, x=In(x), w=In(w), b=In(b),
                    y=Out(y, "f2", rtol=1e-3, atol=1e-6), columns=512, epsilon=1e-5)


@triton.jit
def row_statistics(x, top, where, low, columns: tl.constexpr):
    row = tl.program_id(0)
    v = tl.load(x + row * columns + tl.arange(0, columns))
    tl.store(top + row, tl.max(v, 0))
    tl.store(where + row, tl.argmax(v, 0))
    tl.store(low + row, tl.min(v, 0))


@kernel("triton_argmax")
def _(arch):
    x = random(8, 256)
    return compiled(arch, row_statistics, (8,), constants={"columns": 256}, x=In(x), top=Out(x.max(1)),
                    where=Out(x.argmax(1).astype(np.int32)), low=Out(x.min(1)))


@triton.jit
def prefix_sums(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.cumsum(tl.load(x + i), 0))


@kernel("triton_cumsum")
def _(arch):
    x = np.random.default_rng(4).integers(-100, 100, 1024).astype(np.int32)
    return compiled(arch, prefix_sums, (1,), constants={"n": 1024}, x=In(x), y=Out(np.cumsum(x).astype(np.int32)))


@triton.jit
def product_and_sum(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(a, b, h, n: tl.constexpr):
    i = tl.arange(0, n)
    _, out = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, product_and_sum)
    tl.store(h + i, out)


@kernel("triton_linear_recurrence")
def _(arch):
    a, b = np.random.default_rng(5).uniform(0.5, 1, 256).astype(np.float32), random(256)
    h, out = 0.0, []
    for x, y in zip(a.astype(np.float64), b.astype(np.float64)):
        h = x * h + y
        out.append(h)
    return compiled(arch, recurrence, (1,), constants={"n": 256}, a=In(a), b=In(b),
                    h=Out(np.array(out), "f4", rtol=1e-5, atol=1e-5))


@triton.jit
def histogram(x, counts, n: tl.constexpr, bins: tl.constexpr):
    h = tl.histogram(tl.load(x + tl.program_id(0) * n + tl.arange(0, n)), bins)
    tl.atomic_add(counts + tl.arange(0, bins), h)


@kernel("triton_histogram")
def _(arch):
    x = np.random.default_rng(6).integers(0, 64, 2048).astype(np.int32)
    return compiled(arch, histogram, (4,), constants={"n": 512, "bins": 64}, x=In(x),
                    counts=Out(np.bincount(x, minlength=64).astype(np.int32), before=np.zeros(64, np.int32)))


@triton.jit
def sort_rows(x, y, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(y + i, tl.sort(tl.load(x + i), descending=True))


@kernel("triton_sort")
def _(arch):
    x = random(4, 256)
    return compiled(arch, sort_rows, (4,), constants={"n": 256}, x=In(x), y=Out(np.sort(x, 1)[:, ::-1]))


@triton.jit
def transpose(x, y, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + r[:, None] * columns + c[None, :])
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(tile))


@kernel("triton_transpose")
def _(arch):
    x = random(64, 128).astype(np.float16)
    return compiled(arch, transpose, (2, 4), constants={"BLOCK": 32}, x=In(x), y=Out(x.T), rows=64, columns=128)


@triton.jit
def gather_rows(table, index, y, columns: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    i = tl.arange(0, columns)
    v = tl.gather(tl.load(table + row * columns + i), columns - 1 - i, 0)
    tl.store(y + tl.program_id(0) * columns + i, v)


@kernel("triton_gather")
def _(arch):
    table, index = random(32, 128), np.random.default_rng(7).integers(0, 32, 10).astype(np.int32)
    return compiled(arch, gather_rows, (10,), constants={"columns": 128}, table=In(table), index=In(index),
                    y=Out(table[index][:, ::-1]))


@triton.jit
def scatter_sum(x, index, y, columns: tl.constexpr):
    i = tl.arange(0, columns)
    row = tl.load(index + tl.program_id(0))
    tl.atomic_add(y + row * columns + i, tl.load(x + tl.program_id(0) * columns + i))


@kernel("triton_scatter_atomics")
def _(arch):
    x, index = random(24, 128), np.random.default_rng(8).integers(0, 4, 24).astype(np.int32)
    y = np.zeros((4, 128))
    np.add.at(y, index, x.astype(np.float64))
    return compiled(arch, scatter_sum, (24,), constants={"columns": 128}, x=In(x), index=In(index),
                    y=Out(y, "f4", before=np.zeros((4, 128), np.float32), rtol=1e-5, atol=1e-5))


@triton.jit
def narrow(x, b, e, f, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    v = tl.load(x + i)
    tl.store(b + i, v.to(tl.bfloat16))
    tl.store(e + i, v.to(tl.float8e4nv))
    tl.store(f + i, v.to(tl.float8e5))


@kernel("triton_to_fp8")
def _(arch):
    x = random(1024) * np.exp2(np.random.default_rng(9).integers(-12, 8, 1024)).astype(np.float32)
    return compiled(arch, narrow, (2,), constants={"n": 512}, x=In(x), b=Out(bf16(x), format="bf16"),
                    e=Out(e4m3(x), format="e4m3"), f=Out(e5m2(x), format="e5m2"))


@triton.jit
def widen(e, f, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(e + i).to(tl.float32) * tl.load(f + i).to(tl.float32))


@kernel("triton_from_fp8")
def _(arch):
    e, f = e4m3(random(256) * 8), e5m2(random(256, seed=2) * 8)
    return compiled(arch, widen, (1,), constants={"n": 256}, e=In(e, "e4m3"), f=In(f, "e5m2"), y=Out(e * f))


@triton.jit
def laplace(x, y, height, width, BLOCK: tl.constexpr):
    r = tl.program_id(0) + 1
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK) + 1
    inside = c < width - 1
    at = x + r * width + c
    around = tl.load(at - width, inside) + tl.load(at + width, inside) + tl.load(at - 1, inside) + tl.load(at + 1, inside)
    tl.store(y + r * width + c, around - 4 * tl.load(at, inside), inside)


@kernel("triton_stencil")
def _(arch):
    x = np.random.default_rng(10).integers(-50, 50, (18, 70)).astype(np.float32)
    y = np.zeros_like(x)
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    return compiled(arch, laplace, (16, 3), constants={"BLOCK": 32}, x=In(x), y=Out(y, before=np.zeros_like(x)), height=18, width=70)


@triton.jit
def dropout(x, y, seed, keep, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.randint(seed, i)
    tl.store(y + i, tl.where(r.to(tl.uint32, bitcast=True) < 1 << 31, tl.load(x + i) / keep, 0.0))


def philox(seed, counter):
    """The first word of Philox4x32-10, as Salmon, Moraes, Dror and Shaw define it (SC 2011)."""
    c = [counter.astype(np.uint64)] + [np.zeros_like(counter, np.uint64)] * 3
    k0, k1, mask = seed & 0xFFFFFFFF, seed >> 32, np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [q >> np.uint64(32) ^ c[1] ^ np.uint64(k0), q & mask, p >> np.uint64(32) ^ c[3] ^ np.uint64(k1), p & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0]


@kernel("triton_dropout")
def _(arch):
    x = random(512)
    kept = philox(1234, np.arange(512)) < 1 << 31
    return compiled(arch, dropout, (2,), constants={"BLOCK": 256}, x=In(x),
                    y=Out(np.where(kept, x / np.float32(0.5), np.float32(0))), seed=1234, keep=0.5)


@triton.jit
def grid_sum(x, partial, arrived, y, ctas, BLOCK: tl.constexpr):
    me = tl.program_id(0)
    tl.store(partial + me, tl.sum(tl.load(x + me * BLOCK + tl.arange(0, BLOCK)), 0))
    tl.debug_barrier()
    tl.atomic_add(arrived, 1, sem="acq_rel")
    while tl.atomic_cas(arrived, ctas, ctas, sem="acquire") != ctas:
        pass
    total = 0
    for i in range(ctas):
        total += tl.load(partial + i, volatile=True)
    tl.store(y + me, total)


@kernel("triton_grid_barrier")
def _(arch):
    x = np.random.default_rng(11).integers(-100, 100, 8 * 128).astype(np.int32)
    return compiled(arch, grid_sum, (8,), constants={"BLOCK": 128}, x=In(x), partial=Scratch(64), arrived=Scratch(16),
                    y=Out(np.full(8, x.sum(), np.int32)), ctas=8)


@triton.jit
def reversed_bytes(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.load(x + i)
    tl.store(y + i, tl.inline_asm_elementwise("prmt.b32 $0, $1, 0, 0x0123;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1))


@kernel("triton_inline_assembly")
def _(arch):
    x = np.random.default_rng(12).integers(-(1 << 31), 1 << 31, 128).astype(np.int32)
    return compiled(arch, reversed_bytes, (1,), constants={"n": 128}, x=In(x), y=Out(x.byteswap()))


@triton.jit
def activations(x, s, g, t, n: tl.constexpr):
    i = tl.arange(0, n)
    v = tl.load(x + i)
    tl.store(s + i, v * tl.sigmoid(v))
    tl.store(g + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)))
    tl.store(t + i, tl.log(1 + tl.exp(v)))


@kernel("triton_activations")
def _(arch):
    x = random(256)
    v = x.astype(np.float64)
    return compiled(arch, activations, (1,), constants={"n": 256}, x=In(x), s=Out(v / (1 + np.exp(-v)), "f4", rtol=1e-5, atol=1e-6),
                    g=Out(0.5 * v * (1 + np.vectorize(math.erf)(v / math.sqrt(2))), "f4", rtol=1e-5, atol=1e-6),
                    t=Out(np.log1p(np.exp(v)), "f4", rtol=1e-5, atol=1e-6))
