"""An operation of a model against torch's own, forward and backward."""
import pytest
import torch
from gated import Gated

if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)


def values(*shape):
    return torch.randn(shape, device="cuda", requires_grad=True)


@pytest.mark.parametrize("rows, columns", [(1, 8), (5, 33), (16, 64)])
def test_gradients(rows, columns):
    torch.manual_seed(0)
    inputs = values(rows, columns), values(columns), values(rows, columns)
    x, bias, gate = inputs
    expected = torch.nn.functional.silu(x + bias) * gate
    towards = torch.randn_like(expected)
    want = torch.autograd.grad(expected, inputs, towards)
    y = Gated.apply(*inputs)
    have = torch.autograd.grad(y, inputs, towards)
    torch.testing.assert_close(y, expected)
    for h, w in zip(have, want):
        torch.testing.assert_close(h, w)


def test_in_a_model_that_is_captured():
    """A CUDA graph is replayed on new inputs."""
    torch.manual_seed(0)
    x, bias, gate = (torch.randn(shape, device="cuda") for shape in ((4, 32), (32,), (4, 32)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        y = Gated.apply(x, bias, gate)
    x.copy_(torch.randn_like(x))
    graph.replay()
    torch.testing.assert_close(y, torch.nn.functional.silu(x + bias) * gate)
