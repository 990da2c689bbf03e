"""Kernels in the CuTe DSL that move data: cp.async, ldmatrix, votes and reductions of warps and CTAs, packed arithmetic."""
import cutlass
import cutlass.cute as cute
import numpy as np
from cutlass.cute.nvgpu import cpasync, warp
from cutlass.utils import SmemAllocator

from case import In, Out, kernel, random, whole
from cute_compile import compiled


@cute.kernel
def staged_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma, copy: cute.TiledCopy):
    t, _, _ = cute.arch.thread_idx()
    storage = SmemAllocator()
    layout = cute.make_layout((32, 64), stride=(72, 1))
    sa = storage.allocate_tensor(cutlass.Float16, layout, 16)
    sb = storage.allocate_tensor(cutlass.Float16, layout, 16)
    part = copy.get_slice(t)
    cute.copy(copy, part.partition_S(a), part.partition_D(sa))
    cute.copy(copy, part.partition_S(b), part.partition_D(sb))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    mine = mma.get_slice(t)
    gc = mine.partition_C(c)
    fa, fb, fc = mma.make_fragment_A(mine.partition_A(sa)), mma.make_fragment_B(mine.partition_B(sb)), mma.make_fragment_C(gc)
    load = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), cutlass.Float16)
    load_a, load_b = cute.make_tiled_copy_A(load, mma), cute.make_tiled_copy_B(load, mma)
    cute.copy(load_a, load_a.get_slice(t).partition_S(sa), load_a.retile(fa))
    cute.copy(load_b, load_b.get_slice(t).partition_S(sb), load_b.retile(fb))
    fc.fill(0.0)
    cute.gemm(mma, fc, fa, fb, fc)
    cute.autovec_copy(fc, gc)


@cute.jit
def staged(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    mma = cute.make_tiled_mma(warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)), cute.make_layout((2, 1, 1)),
                              permutation_mnk=(32, 16, 16))
    atom = cute.make_copy_atom(cpasync.CopyG2SOp(), cutlass.Float16, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((8, 8), stride=(8, 1)), cute.make_layout((1, 8)))
    staged_kernel(a, b, c, mma, copy).launch(grid=(1, 1, 1), block=(64, 1, 1))


@kernel("cute_ldmatrix")
def _(arch):
    a, b = whole(32, 64).astype(np.float16), whole(32, 64, seed=2).astype(np.float16)
    return compiled(arch, staged, (1,), (64,), a=In(a), b=In(b), c=Out(a.astype(np.float32) @ b.astype(np.float32).T), shared=2 * 2 * 32 * 72 + 64)


@cute.kernel
def statistics_kernel(x: cute.Tensor, total: cute.Tensor, largest: cute.Tensor, votes: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    v = x[b, t]
    up = cute.arch.shuffle_sync_up(v, 1, mask_and_clamp=0)
    if cute.arch.lane_idx() == 0:
        up = cutlass.Int32(0)
    ballot = cute.arch.vote_ballot_sync(v > up)
    sum = cute.arch.warp_redux_sync(v, "add")
    if cute.arch.lane_idx() == 0:
        cute.arch.atomic_add(total.iterator, sum, sem="relaxed", scope="gpu")
        cute.arch.atomic_max(largest.iterator, sum, sem="relaxed", scope="gpu")
        votes[b] = cute.arch.popc(ballot)


@cute.jit
def statistics(x: cute.Tensor, total: cute.Tensor, largest: cute.Tensor, votes: cute.Tensor):
    statistics_kernel(x, total, largest, votes).launch(grid=(4, 1, 1), block=(32, 1, 1))


@kernel("cute_warp_votes")
def _(arch):
    x = np.random.default_rng(1).integers(-100, 100, (4, 32)).astype(np.int32)
    before = np.concatenate([np.zeros((4, 1), np.int32), x[:, :-1]], 1)
    zero = np.full(1, -(1 << 30), np.int32)
    return compiled(arch, statistics, (4,), (32,), x=In(x), total=Out(x.sum(keepdims=True).reshape(1).astype(np.int32), before=np.zeros(1, np.int32)),
                    largest=Out(x.sum(1).max(keepdims=True).astype(np.int32), before=zero), votes=Out((x > before).sum(1).astype(np.int32)))


@cute.kernel
def packed_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    x, y = cute.arch.fma_packed_f32x2((a[t, 0], a[t, 1]), (b[t, 0], b[t, 1]), (a[t, 1], b[t, 0]))
    c[t, 0] = x
    c[t, 1] = y


@cute.jit
def packed(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    packed_kernel(a, b, c).launch(grid=(1, 1, 1), block=(64, 1, 1))


@kernel("cute_packed_fma", only=("sm_100a",))
def _(arch):
    a, b = whole(64, 2, below=99), whole(64, 2, below=99, seed=2)
    c = np.stack([a[:, 0] * b[:, 0] + a[:, 1], a[:, 1] * b[:, 1] + b[:, 0]], 1)
    return compiled(arch, packed, (1,), (64,), a=In(a), b=In(b), c=Out(c))


@cute.kernel
def norm_kernel(x: cute.Tensor, w: cute.Tensor, y: cute.Tensor):
    t, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    storage = SmemAllocator()
    sums = storage.allocate_tensor(cutlass.Float32, cute.make_layout(4), 16)
    v = x[(None, (row, t))].load().to(cutlass.Float32)
    warp = cute.arch.warp_idx()  # it shuffles: all lanes ask
    part = cute.arch.warp_reduction((v * v).reduce(cute.ReductionOp.ADD, 0.0, 0), lambda p, q: p + q)
    if cute.arch.lane_idx() == 0:
        sums[warp] = part
    cute.arch.sync_threads()
    total = sums[0] + sums[1] + sums[2] + sums[3]
    scale = cute.math.rsqrt(total / 512 + 1e-5)
    y[(None, (row, t))] = (v * scale * w[(None, (0, t))].load()).to(cutlass.Float16)


@cute.jit
def norm(x: cute.Tensor, w: cute.Tensor, y: cute.Tensor):
    x, w, y = (cute.zipped_divide(v, (1, 4)) for v in (x, w, y))
    norm_kernel(x, w, y).launch(grid=(3, 1, 1), block=(128, 1, 1))


@kernel("cute_rms_norm")
def _(arch):
    x, w = random(3, 512).astype(np.float16), random(1, 512, seed=2)
    v = x.astype(np.float64)
    y = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) * w
    return compiled(arch, norm, (3,), (128,), x=In(x), w=In(w), y=Out(y, "f2", rtol=2e-3, atol=1e-5), shared=64)
