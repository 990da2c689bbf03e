"""Kernels in Helion, which makes Triton of them."""
import helion
import helion.language as hl
import torch


@helion.kernel(autotune_effort="none")
def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.size()
    _, n = b.size()
    out = torch.empty([m, n], dtype=torch.float32, device=a.device)
    for at_m, at_n in hl.tile([m, n]):
        sums = hl.zeros([at_m, at_n], dtype=torch.float32)
        for at_k in hl.tile(k):
            sums = torch.addmm(sums, a[at_m, at_k], b[at_k, at_n])
        out[at_m, at_n] = sums
    return out


@helion.kernel(autotune_effort="none")
def softmax(x: torch.Tensor) -> torch.Tensor:
    rows, _ = x.size()
    out = torch.empty_like(x)
    for at in hl.tile(rows):
        whole = x[at, :]
        raised = torch.exp(whole - torch.amax(whole, dim=1, keepdim=True))
        out[at, :] = raised / torch.sum(raised, dim=1, keepdim=True)
    return out


@helion.kernel(autotune_effort="none")
def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    rows, columns = x.size()
    out = torch.empty_like(x)
    for at in hl.tile(rows):
        whole = x[at, :]
        mean = torch.sum(whole, dim=1, keepdim=True) / columns
        apart = whole - mean
        variance = torch.sum(apart * apart, dim=1, keepdim=True) / columns
        out[at, :] = apart * torch.rsqrt(variance + 1e-5) * weight[:] + bias[:]
    return out
