"""A kernel in Triton, tested as on a GPU: nothing here knows of bitwell."""
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, columns, step, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * step + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * step + at, powers / tl.sum(powers, 0), mask=inside)


def softmax(x):
    y = torch.empty_like(x)
    rows, columns = x.shape
    softmax_kernel[(rows,)](x, y, columns, x.stride(0), BLOCK=triton.next_power_of_2(columns))
    return y


@pytest.mark.parametrize("shape", [(1, 1), (3, 33), (4, 64), (2, 1000)])
@pytest.mark.parametrize("type", [torch.float32, torch.bfloat16])
def test_softmax(shape, type):
    torch.manual_seed(0)
    x = torch.randn(shape, device="cuda", dtype=type)
    torch.testing.assert_close(softmax(x), torch.softmax(x, 1))
