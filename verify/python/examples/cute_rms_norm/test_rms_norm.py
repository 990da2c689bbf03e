"""A kernel in the CuTe DSL, tested as on a GPU: nothing here knows of bitwell."""
import functools

import cutlass
import cutlass.cute as cute
import cutlass.memory
import pytest
import torch
from cutlass.cute.runtime import from_dlpack

THREADS, WARPS = 128, 4


@cute.kernel
def rms_norm_kernel(x: cute.Tensor, weight: cute.Tensor, y: cute.Tensor, epsilon: cutlass.Float32):
    """A CTA normalises a row."""
    thread, _, _ = cute.arch.thread_idx()
    row, _, _ = cute.arch.block_idx()
    columns = x.shape[1]
    sums = cutlass.memory.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(WARPS))
    squares = cutlass.Float32(0)
    for i in range(thread, columns, THREADS):
        value = x[row, i].to(cutlass.Float32)
        squares += value * value
    for distance in (16, 8, 4, 2, 1):
        squares += cute.arch.shuffle_sync_bfly(squares, distance)
    if thread % 32 == 0:
        sums[thread // 32] = squares
    cute.arch.sync_threads()
    total = cutlass.Float32(0)
    for i in cutlass.range_constexpr(WARPS):
        total += sums[i]
    scale = cute.math.rsqrt(total / columns + epsilon)
    for i in range(thread, columns, THREADS):
        y[row, i] = (x[row, i].to(cutlass.Float32) * scale * weight[i].to(cutlass.Float32)).to(y.element_type)


@cute.jit
def rms_norm(x: cute.Tensor, weight: cute.Tensor, y: cute.Tensor, epsilon: cutlass.Float32):
    rms_norm_kernel(x, weight, y, epsilon).launch(grid=(x.shape[0], 1, 1), block=(THREADS, 1, 1))


@functools.cache
def compiled(type):
    """For rows of any length."""
    x, y = (from_dlpack(torch.zeros((2, 2), device="cuda", dtype=type)).mark_layout_dynamic(leading_dim=1) for _ in range(2))
    return cute.compile(rms_norm, x, from_dlpack(torch.zeros(2, device="cuda", dtype=type)).mark_layout_dynamic(), y, 1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (2, 1000)])
@pytest.mark.parametrize("type", [torch.float32, torch.bfloat16])
def test_rms_norm(shape, type):
    torch.manual_seed(0)
    x = torch.randn(shape, device="cuda", dtype=type)
    weight = torch.randn(shape[1], device="cuda", dtype=type)
    y = torch.empty_like(x)
    compiled(type)(*(from_dlpack(t).mark_layout_dynamic(leading_dim=t.dim() - 1) for t in (x, weight, y)), 1e-5)
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, shape[1:], weight, 1e-5))
