"""An operation of a model with its gradient, each a kernel in Triton: silu(x) * gate, and the sum of each column of its gradient."""
import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x, gate, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside)
    tl.store(y + at, a * tl.sigmoid(a) * tl.load(gate + at, mask=inside), mask=inside)


@triton.jit
def backward_kernel(x, gate, gradient, dx, dgate, sums, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    where = row * columns + at
    a = tl.load(x + where, mask=inside)
    g = tl.load(gradient + where, mask=inside)
    s = tl.sigmoid(a)
    d = g * tl.load(gate + where, mask=inside) * s * (1 + a * (1 - s))
    tl.store(dx + where, d, mask=inside)
    tl.store(dgate + where, g * a * s, mask=inside)
    tl.atomic_add(sums + at, d, mask=inside)


class Gated(torch.autograd.Function):
    """Of (x + bias, gate); the gradient of the bias is the sum over the rows."""

    @staticmethod
    def forward(context, x, bias, gate):
        biased = x + bias
        context.save_for_backward(biased, gate)
        y = torch.empty_like(biased)
        n = y.numel()
        forward_kernel[(triton.cdiv(n, 256),)](biased, gate, y, n, BLOCK=256)
        return y

    @staticmethod
    def backward(context, gradient):
        biased, gate = context.saved_tensors
        rows, columns = biased.shape
        dx, dgate = torch.empty_like(biased), torch.empty_like(gate)
        sums = torch.zeros(columns, device=biased.device)
        backward_kernel[(rows,)](biased, gate, gradient.contiguous(), dx, dgate, sums, columns, BLOCK=triton.next_power_of_2(columns))
        return dx, sums, dgate
