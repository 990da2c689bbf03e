"""Kernels in the CuTe DSL: layouts, tiled copies, warp-wide MMAs."""
import cutlass
import cutlass.cute as cute
import numpy as np
from cutlass.cute.nvgpu import warp

from case import In, Out, bf16, e4m3, kernel, random, whole
from cute_compile import compiled


@cute.kernel
def axpy_kernel(x: cute.Tensor, y: cute.Tensor, a: cutlass.Float32):
    t, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    i = b * 128 + t
    if i < cute.size(x):
        y[i] = a * x[i] + y[i]


@cute.jit
def axpy(x: cute.Tensor, y: cute.Tensor, a: cutlass.Float32):
    axpy_kernel(x, y, a).launch(grid=(4, 1, 1), block=(128, 1, 1))


@kernel("cute_axpy")
def _(arch):
    x, y = random(500), random(500, seed=2)
    return compiled(arch, axpy, (4,), (128,), x=In(x), y=Out(4 * x + y, before=y), a=4.0)


@cute.kernel
def vectors_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    m, n = a.shape[1]
    at = (None, (t // n, t % n))
    c[at] = (a[at].load() * b[at].load() + a[at].load()).to(c.element_type)


@cute.jit
def vectors(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    a, b, c = (cute.zipped_divide(x, (1, 8)) for x in (a, b, c))
    vectors_kernel(a, b, c).launch(grid=(1, 1, 1), block=(cute.size(a, mode=[1]), 1, 1))


@kernel("cute_vectors")
def _(arch):
    a, b = whole(16, 64).astype(np.float16), whole(16, 64, seed=2).astype(np.float16)
    return compiled(arch, vectors, (1,), (128,), a=In(a), b=In(b), c=Out(a * b + a))


@cute.kernel
def transpose_kernel(x: cute.Tensor, y: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    bx, by, _ = cute.arch.block_idx()
    storage = cutlass.utils.SmemAllocator()
    tile = storage.allocate_tensor(cutlass.Float32, cute.make_layout((32, 32), stride=(33, 1)), 16)
    for i in cutlass.range_constexpr(8):
        tile[t // 32 + 4 * i, t % 32] = x[by * 32 + t // 32 + 4 * i, bx * 32 + t % 32]
    cute.arch.sync_threads()
    for i in cutlass.range_constexpr(8):
        y[bx * 32 + t // 32 + 4 * i, by * 32 + t % 32] = tile[t % 32, t // 32 + 4 * i]


@cute.jit
def transpose(x: cute.Tensor, y: cute.Tensor):
    transpose_kernel(x, y).launch(grid=(4, 2, 1), block=(128, 1, 1))


@kernel("cute_transpose")
def _(arch):
    x = random(64, 128)
    return compiled(arch, transpose, (4, 2), (128,), x=In(x), y=Out(x.T), shared=4 * 32 * 33 + 16)


@cute.kernel
def softmax_kernel(x: cute.Tensor, y: cute.Tensor):
    lane, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    v = cute.make_rmem_tensor((4,), cutlass.Float32)
    top = -cutlass.Float32.inf
    for i in cutlass.range_constexpr(4):
        v[i] = x[row, lane + 32 * i]
        top = cute.arch.fmax(top, v[i])
    top = cute.arch.warp_reduction(top, cute.arch.fmax)
    total = cutlass.Float32(0)
    for i in cutlass.range_constexpr(4):
        v[i] = cute.math.exp(v[i] - top)
        total += v[i]
    total = cute.arch.warp_reduction(total, lambda a, b: a + b)
    for i in cutlass.range_constexpr(4):
        y[row, lane + 32 * i] = v[i] / total


@cute.jit
def softmax(x: cute.Tensor, y: cute.Tensor):
    softmax_kernel(x, y).launch(grid=(6, 1, 1), block=(32, 1, 1))


@kernel("cute_softmax")
def _(arch):
    x = random(6, 128)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return compiled(arch, softmax, (6,), (32,), x=In(x), y=Out(e / e.sum(1, keepdims=True), "f4", rtol=1e-5, atol=1e-9))


@cute.kernel
def histogram_kernel(x: cute.Tensor, counts: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    cute.arch.atomic_add(counts.iterator + x[b * 128 + t], cutlass.Int32(1), sem="relaxed", scope="gpu")


@cute.jit
def histogram(x: cute.Tensor, counts: cute.Tensor):
    histogram_kernel(x, counts).launch(grid=(4, 1, 1), block=(128, 1, 1))


@kernel("cute_histogram")
def _(arch):
    x = np.random.default_rng(1).integers(0, 32, 512).astype(np.int32)
    return compiled(arch, histogram, (4,), (128,), x=In(x),
                    counts=Out(np.bincount(x, minlength=32).astype(np.int32), before=np.zeros(32, np.int32)))


@cute.kernel
def narrow_kernel(x: cute.Tensor, e: cute.Tensor, b: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    v = x[(None, t)].load()
    e[(None, t)] = v.to(cutlass.Float8E4M3FN)
    b[(None, t)] = v.to(cutlass.BFloat16)


@cute.jit
def narrow(x: cute.Tensor, e: cute.Tensor, b: cute.Tensor):
    x, e, b = (cute.zipped_divide(v, (8,)) for v in (x, e, b))
    narrow_kernel(x, e, b).launch(grid=(1, 1, 1), block=(64, 1, 1))


@kernel("cute_to_fp8")
def _(arch):
    x = random(512) * np.exp2(np.random.default_rng(9).integers(-10, 8, 512)).astype(np.float32)
    return compiled(arch, narrow, (1,), (64,), x=In(x), e=Out(e4m3(x), format="e4m3"), b=Out(bf16(x), format="bf16"))


@cute.kernel
def warp_mma_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tiled_mma: cute.TiledMma):
    t, _, _ = cute.arch.thread_idx()
    mine = tiled_mma.get_slice(t)
    ga, gb, gc = mine.partition_A(a), mine.partition_B(b), mine.partition_C(c)
    fa, fb, fc = tiled_mma.make_fragment_A(ga), tiled_mma.make_fragment_B(gb), tiled_mma.make_fragment_C(gc)
    cute.autovec_copy(ga, fa)
    cute.autovec_copy(gb, fb)
    fc.fill(0.0)
    cute.gemm(tiled_mma, fc, fa, fb, fc)
    cute.autovec_copy(fc, gc)


@cute.jit
def warp_mma(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    operation = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    tiled_mma = cute.make_tiled_mma(operation, cute.make_layout((2, 2, 1)))
    warp_mma_kernel(a, b, c, tiled_mma).launch(grid=(1, 1, 1), block=(128, 1, 1))


@kernel("cute_warp_mma")
def _(arch):
    a, b = whole(64, 64).astype(np.float16), whole(32, 64, seed=2).astype(np.float16)
    return compiled(arch, warp_mma, (1,), (128,), a=In(a), b=In(b), c=Out(a.astype(np.float32) @ b.astype(np.float32).T))
