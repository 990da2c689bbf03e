"""Functions of the CuTe DSL, for the tests."""
from typing import NamedTuple, Optional

import cutlass
import cutlass.cute as cute
import cutlass.memory


@cute.kernel
def copy_kernel(x: cute.Tensor, y: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    if i < x.shape[1]:
        y[row, i] = x[row, i]


@cute.jit
def copy(x: cute.Tensor, y: cute.Tensor):
    copy_kernel(x, y).launch(grid=(x.shape[0], 1, 1), block=(64, 1, 1))


@cute.jit
def copy_by_two(x: cute.Tensor, y: cute.Tensor):
    copy_kernel(x, y).launch(grid=(x.shape[0], 1, 1), block=(64, 1, 1), min_blocks_per_mp=2)


@cute.kernel
def halves_kernel(x: cute.Tensor, y: cute.Tensor):
    """Of a row of numbers, whatever their format, as fp16."""
    row, _, _ = cute.arch.block_idx()
    values = x[row, None].load().to(cutlass.Float16)
    for i in cutlass.range_constexpr(x.shape[1]):
        y[row, i] = values[i]


@cute.jit
def halves(x: cute.Tensor, y: cute.Tensor):
    halves_kernel(x, y).launch(grid=(x.shape[0], 1, 1), block=(1, 1, 1))


@cute.kernel
def scale_kernel(x: cute.Pointer, y: cute.Pointer, n: cutlass.Int32, factor: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = 32 * block + thread
    a, b = cute.make_tensor(x, cute.make_layout(n)), cute.make_tensor(y, cute.make_layout(n))
    if i <= n:  # one too far
        b[i] = a[i] * factor


@cute.jit
def scale(x: cute.Pointer, y: cute.Pointer, n: cutlass.Int32, factor: cutlass.Constexpr):
    scale_kernel(x, y, n, factor).launch(grid=(cute.ceil_div(n, 32), 1, 1), block=(32, 1, 1))


@cute.kernel
def add_kernel(x: cute.Tensor, addend: cutlass.Float32):
    i, _, _ = cute.arch.thread_idx()
    x[i] = x[i] + addend


@cute.kernel
def double_kernel(x: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    x[i] = x[i] * 2


class Steps:
    """Several kernels, launched one behind the other."""

    def __init__(self, turns):
        self.turns = turns

    @cute.jit
    def __call__(self, x: cute.Tensor, addend: cutlass.Float32, stream):
        for _ in cutlass.range_constexpr(self.turns):
            add_kernel(x, addend).launch(grid=(1, 1, 1), block=(32, 1, 1), stream=stream)
            double_kernel(x).launch(grid=(1, 1, 1), block=(32, 1, 1), stream=stream)


@cute.jit
def pair(both: tuple[cute.Tensor, cute.Tensor]):
    copy_kernel(both[0], both[1]).launch(grid=(both[0].shape[0], 1, 1), block=(64, 1, 1))


@cute.kernel
def turn_kernel(x: cute.Tensor, waits: cutlass.Constexpr):
    """The other way round; without a wait for the others nothing orders the loads and the stores."""
    i, _, _ = cute.arch.thread_idx()
    tile = cutlass.memory.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(64))
    tile[i] = x[i]
    cute.arch.sync_threads()
    value = tile[63 - i]
    if cutlass.const_expr(waits):
        cute.arch.sync_threads()
    tile[i] = value + 1
    cute.arch.sync_threads()
    x[i] = tile[i]


@cute.jit
def turn(x: cute.Tensor, waits: cutlass.Constexpr):
    turn_kernel(x, waits).launch(grid=(1, 1, 1), block=(64, 1, 1))


@cute.kernel
def ranks_kernel(x: cute.Tensor):
    block, _, _ = cute.arch.block_idx()
    thread, _, _ = cute.arch.thread_idx()
    rank = cute.arch.block_idx_in_cluster()
    if thread == 0:
        cute.printf("CTA {} of rank {}", block, rank)
        x[block] = rank


@cute.jit
def ranks(x: cute.Tensor):
    ranks_kernel(x).launch(grid=(4, 1, 1), block=(32, 1, 1), cluster=(2, 1, 1))


@cute.kernel
def follow_kernel(table: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    there = cute.make_tensor(cute.make_ptr(cutlass.Float32, table[0], cute.AddressSpace.gmem, assumed_align=4), cute.make_layout(32))
    there[i] = cutlass.Float32(i)


@cute.jit
def follow(table: cute.Tensor):
    follow_kernel(table).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def tile_kernel(copies: cute.CopyAtom, x: cute.Tensor, y: cute.Tensor, smem: cute.ComposedLayout | cute.Layout, stage: cutlass.Constexpr):
    """A tile by a tensor map that host code made, then out by threads."""
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    barrier = memory.allocate_array(cutlass.Int64, 1)
    tile = memory.allocate_tensor(cutlass.Float32, smem, byte_alignment=128)
    if thread == 0:
        cute.arch.mbarrier_init(barrier, 1)
        cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    there = cute.local_tile(x, stage, (block, 0))
    to, source = cute.nvgpu.cpasync.tma_partition(copies, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(there, 0, 2))
    if thread < 32:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(barrier, cute.size_in_bytes(cutlass.Float32, smem))
        cute.copy(copies, source, to, tma_bar_ptr=barrier)
    cute.arch.mbarrier_wait(barrier, 0)
    for i in range(thread, 16 * 32, 64):
        y[16 * block + i // 32, i % 32] = tile[i // 32, i % 32]


@cute.jit
def tiles(x: cute.Tensor, y: cute.Tensor):
    smem = cute.make_layout((16, 32), stride=(32, 1))
    copies, through = cute.nvgpu.cpasync.make_tiled_tma_atom(cute.nvgpu.cpasync.CopyBulkTensorTileG2SOp(), x, smem, (16, 32))
    tile_kernel(copies, through, y, smem, (16, 32)).launch(grid=(cute.ceil_div(x.shape[0], 16), 1, 1), block=(64, 1, 1))


class Scaling(NamedTuple):
    by: cutlass.Int32
    also: Optional[cutlass.Int32] = None
    plus: cutlass.Int32 = cutlass.Int32(1)


@cute.kernel
def scaled_kernel(x: cute.Tensor, y: cute.Tensor, by: cutlass.Int32, plus: cutlass.Int32):
    i, _, _ = cute.arch.thread_idx()
    y[i] = x[i] * by + plus


@cute.jit
def scaled(x: cute.Tensor, scaling: Scaling, stream, y: cute.Tensor):
    scaled_kernel(x, y, scaling.by, scaling.plus).launch(grid=(1, 1, 1), block=(32, 1, 1), stream=stream)
