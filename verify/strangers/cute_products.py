"""Kernels in the CuTe DSL with the asynchronous tensor cores: wgmma, tcgen05, and a copy by TMA."""
import cutlass
import cutlass.cute as cute
import cutlass.utils.blackwell_helpers as blackwell
import cutlass.utils.hopper_helpers as hopper
import numpy as np
from cutlass.cute.nvgpu import cpasync, tcgen05, warpgroup
from cutlass.utils import LayoutEnum, SmemAllocator

from case import In, Out, kernel, whole
from cute_compile import compiled

M, N, K = 64, 64, 128  # of wgmma's; tcgen05's has 128 rows


@cute.jit
def into_shared(source: cute.Tensor, target: cute.Tensor, thread: cutlass.Int32):
    """All elements of a matrix, by 128 threads."""
    rows, columns = source.shape
    for i in cutlass.range(thread, rows * columns, 128):
        target[i // columns, i % columns] = source[i // columns, i % columns]


@cute.kernel
def wgmma_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma, a_layout: cute.ComposedLayout,
                 b_layout: cute.ComposedLayout):
    t, _, _ = cute.arch.thread_idx()
    storage = SmemAllocator()
    sa = storage.allocate_tensor(cutlass.Float16, a_layout.outer, 1024, a_layout.inner)
    sb = storage.allocate_tensor(cutlass.Float16, b_layout.outer, 1024, b_layout.inner)
    into_shared(a, sa[None, None, 0], t)
    into_shared(b, sb[None, None, 0], t)
    cute.arch.fence_view_async_shared()
    cute.arch.sync_threads()
    mine = mma.get_slice(t)
    fa, fb = mma.make_fragment_A(mine.partition_A(sa)), mma.make_fragment_B(mine.partition_B(sb))
    gc = mine.partition_C(c)
    fc = cute.make_rmem_tensor(gc.shape, cutlass.Float32)
    warpgroup.fence()
    mma.set(warpgroup.Field.ACCUMULATE, False)
    for k in cutlass.range_constexpr(cute.size(fa, mode=[2])):
        cute.gemm(mma, fc, fa[None, None, k, 0], fb[None, None, k, 0], fc)
        mma.set(warpgroup.Field.ACCUMULATE, True)
    warpgroup.commit_group()
    warpgroup.wait_group(0)
    cute.autovec_copy(fc, gc)


@cute.jit
def wgmma(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    major = warpgroup.OperandMajorMode.K
    mma = hopper.make_trivial_tiled_mma(cutlass.Float16, cutlass.Float16, major, major, cutlass.Float32, (1, 1, 1), (M, N))
    a_layout = hopper.make_smem_layout_a(LayoutEnum.ROW_MAJOR, (M, N, K), cutlass.Float16, 1)
    b_layout = hopper.make_smem_layout_b(LayoutEnum.ROW_MAJOR, (M, N, K), cutlass.Float16, 1)
    wgmma_kernel(a, b, c, mma, a_layout, b_layout).launch(grid=(1, 1, 1), block=(128, 1, 1))


def halves(rows):
    a, b = whole(rows, K).astype(np.float16), whole(N, K, seed=2).astype(np.float16)
    return a, b, a.astype(np.float32) @ b.astype(np.float32).T


@kernel("cute_wgmma", only=("sm_90a",))
def _(arch):
    a, b, c = halves(M)
    return compiled(arch, wgmma, (1,), (128,), a=In(a), b=In(b), c=Out(c), shared=2 * K * (M + N) + 1024)


@cute.struct
class Barrier:
    done: cute.struct.MemRange[cutlass.Int64, 1]
    columns: cutlass.Int32


@cute.kernel
def tcgen05_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma, a_layout: cute.ComposedLayout,
                   b_layout: cute.ComposedLayout):
    t, _, _ = cute.arch.thread_idx()
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    storage = SmemAllocator()
    barrier = storage.allocate(Barrier)
    sa = storage.allocate_tensor(cutlass.Float16, a_layout.outer, 1024, a_layout.inner)
    sb = storage.allocate_tensor(cutlass.Float16, b_layout.outer, 1024, b_layout.inner)
    done = barrier.done.data_ptr()
    if warp == 0:
        cute.arch.alloc_tmem(64, barrier.columns.ptr)
        with cute.arch.elect_one():
            cute.arch.mbarrier_init(done, 1)
            cute.arch.mbarrier_init_fence()
    mine = mma.get_slice(0)
    pa, pb = mine.partition_A(a), mine.partition_B(b)
    for i in cutlass.range(t, cute.size(pa), 128):
        sa[None, None, None, 0][i] = pa[i]
    for i in cutlass.range(t, cute.size(pb), 128):
        sb[None, None, None, 0][i] = pb[i]
    cute.arch.fence_view_async_shared()
    cute.arch.sync_threads()
    fa, fb = mma.make_fragment_A(sa), mma.make_fragment_B(sb)
    shape = mma.partition_shape_C((128, N))
    tmem = cute.arch.retrieve_tmem_ptr(cutlass.Float32, alignment=16, ptr_to_buffer_holding_addr=barrier.columns.ptr)
    fc = cute.make_tensor(tmem, mma.make_fragment_C(shape).layout)
    if warp == 0:
        mma.set(tcgen05.Field.ACCUMULATE, False)
        for k in cutlass.range_constexpr(cute.size(fa, mode=[2])):
            cute.gemm(mma, fc, fa[None, None, k, 0], fb[None, None, k, 0], fc)
            mma.set(tcgen05.Field.ACCUMULATE, True)
        with cute.arch.elect_one():
            tcgen05.commit(done)
    cute.arch.mbarrier_wait(done, 0)
    load = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x64), cutlass.Float32)
    copy = tcgen05.make_tmem_copy(load, fc)
    part = copy.get_slice(t)
    from_tmem = part.partition_S(fc)
    to_global = part.partition_D(mine.partition_C(c))
    sums = cute.make_rmem_tensor(to_global.shape, cutlass.Float32)
    cute.copy(copy, from_tmem, sums)
    cute.arch.fence_view_async_tmem_load()
    cute.autovec_copy(sums, to_global)
    cute.arch.sync_threads()
    if warp == 0:
        cute.arch.relinquish_tmem_alloc_permit()
        cute.arch.dealloc_tmem(tmem, 64)


@cute.jit
def tensor_memory(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    major = tcgen05.OperandMajorMode.K
    mma = blackwell.make_trivial_tiled_mma(cutlass.Float16, cutlass.Float16, major, major, cutlass.Float32, tcgen05.CtaGroup.ONE, (128, N))
    a_layout = blackwell.make_smem_layout_a(mma, (128, N, K), cutlass.Float16, 1)
    b_layout = blackwell.make_smem_layout_b(mma, (128, N, K), cutlass.Float16, 1)
    tcgen05_kernel(a, b, c, mma, a_layout, b_layout).launch(grid=(1, 1, 1), block=(128, 1, 1))


@kernel("cute_tcgen05", only=("sm_100a",))
def _(arch):
    a, b, c = halves(128)
    return compiled(arch, tensor_memory, (1,), (128,), a=In(a), b=In(b), c=Out(c), shared=2 * K * (128 + N) + 2048)


@cute.kernel
def tma_kernel(atom: cute.CopyAtom, x: cute.Tensor, y: cute.Tensor, layout: cute.ComposedLayout):
    t, _, _ = cute.arch.thread_idx()
    bx, by, _ = cute.arch.block_idx()
    storage = SmemAllocator()
    barrier = storage.allocate_array(cutlass.Int64, 1)
    tile = storage.allocate_tensor(cutlass.Float16, layout.outer, 1024, layout.inner)
    source = cute.local_tile(x, (64, 64), (by, bx))
    target, source = cpasync.tma_partition(atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(source, 0, 2))
    if t < 32:
        with cute.arch.elect_one():
            cute.arch.mbarrier_init(barrier, 1)
            cute.arch.mbarrier_init_fence()
            cute.arch.mbarrier_arrive_and_expect_tx(barrier, 64 * 64 * 2)
        cute.copy(atom, source, target, tma_bar_ptr=barrier)
    cute.arch.sync_threads()
    cute.arch.mbarrier_wait(barrier, 0)
    result = cute.local_tile(y, (64, 64), (by, bx))
    for i in cutlass.range(t, 64 * 64, 128):
        result[i // 64, i % 64] = tile[i // 64, i % 64] * cutlass.Float16(2)


@cute.jit
def tma(x: cute.Tensor, y: cute.Tensor):
    layout = cute.make_composed_layout(cute.make_swizzle(3, 4, 3), 0, cute.make_ordered_layout((64, 64), order=(1, 0)))
    atom, coordinates = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), x, layout, (64, 64))
    tma_kernel(atom, coordinates, y, layout).launch(grid=(2, 1, 1), block=(128, 1, 1))


@kernel("cute_tma")
def _(arch):
    x = whole(64, 128, below=50).astype(np.float16)
    case = compiled(arch, tma, (2,), (128,), x=In(x), y=Out(x * 2), shared=64 * 64 * 2 + 2048)
    # The host's part makes the map and passes it in the tensor's place.
    case.arguments[0] = {"tensor_map": "x", "type": "f16", "dims": [128, 64], "strides": [256], "box": [64, 64], "swizzle": "128b"}
    return case
