"""An operation of a model with its gradient, each a kernel in Triton: silu(x) * gate, and the sum of each column of its gradient.

Sums are made in the order of the rows, not by atomics, whose order a GPU does not promise: the same bits each time."""
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
def backward_kernel(x, gate, gradient, dx, dgate, sums, rows, columns, BLOCK: tl.constexpr):
    """Of BLOCK columns; their sums are added to `sums`."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < columns
    total = tl.load(sums + at, mask=inside)
    for row in range(rows):
        where = row * columns + at
        a = tl.load(x + where, mask=inside)
        g = tl.load(gradient + where, mask=inside)
        s = tl.sigmoid(a)
        d = g * tl.load(gate + where, mask=inside) * s * (1 + a * (1 - s))
        tl.store(dx + where, d, mask=inside)
        tl.store(dgate + where, g * a * s, mask=inside)
        total += d
    tl.store(sums + at, total, mask=inside)


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
        backward_kernel[(triton.cdiv(columns, 32),)](biased, gate, gradient.contiguous(), dx, dgate, sums, rows, columns, BLOCK=32)
        return dx, sums, dgate
