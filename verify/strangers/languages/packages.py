"""Kernels that come with packages of PyPI, called as their users call them, against sums in fp64."""
import math


def near(name, given, wanted, tolerance):
    """Whether it is, as a part of the largest number wanted."""
    given, wanted = given.detach().double().cpu(), wanted.detach().double().cpu()
    worst = ((given - wanted).abs().max() / wanted.abs().max()).item()
    print(f"{name}: {worst:.1e} of the largest")
    if not worst <= tolerance:
        raise AssertionError(f"{name}: {worst:.3e} of the largest, more than {tolerance:.0e}")


def wide(*tensors):
    return [t.detach().double().cpu().requires_grad_() for t in tensors]


BF16 = 2.0**-7


def attention(q, k, v, causal):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(s.new_ones(s.shape).triu(1 + s.shape[-1] - s.shape[-2]).bool(), float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2)


def flash_attention(queries, keys, heads, head_dim, causal=False, backward=False, **more):
    def run(_):
        import torch
        from flash_attn.cute import flash_attn_func

        torch.manual_seed(1)
        of, kv = heads
        q, k, v = (torch.randn(1, n, h, head_dim, dtype=torch.bfloat16, device="cuda").requires_grad_(backward)
                   for n, h in ((queries, of), (keys, kv), (keys, kv)))
        out = flash_attn_func(q, k, v, causal=causal, **more)
        out = out[0] if isinstance(out, tuple) else out
        exact = wide(q, k, v)
        wanted = attention(*exact, causal)
        near("output", out, wanted, BF16)
        if backward:
            gradient = torch.randn_like(out)
            out.backward(gradient)
            wanted.backward(gradient.double().cpu())
            for name, t, e in zip("qkv", (q, k, v), exact):
                near(f"gradient of {name}", t.grad, e.grad, BF16)

    return run


FLASH_ATTENTION = {
    "forward": ((90, 100), flash_attention(256, 256, (2, 1), 128)),
    "causal, with gradients": ((90, 100), flash_attention(256, 256, (2, 2), 128, causal=True, backward=True)),
    "head of 64, with gradients": ((90, 100), flash_attention(128, 256, (2, 1), 64, backward=True)),
    "head of 256": ((100,), flash_attention(256, 256, (1, 1), 256)),
    "splits of the keys": ((100,), flash_attention(64, 1024, (1, 1), 128, num_splits=4)),
}


def quack(call):
    """Of quack: a function of torch and a generator's seed."""

    def run(_):
        import torch

        torch.manual_seed(1)
        call(torch)

    return run


def softmax(torch):
    from quack.softmax import softmax as ours

    for columns in (192, 2048):
        x = torch.randn(8, columns, dtype=torch.bfloat16, device="cuda").requires_grad_()
        y = ours(x)
        gradient = torch.randn_like(y)
        y.backward(gradient)
        (e,) = wide(x)
        e.softmax(-1).backward(gradient.double().cpu())
        near(f"softmax of {columns}", y, e.softmax(-1), BF16)
        near(f"gradient of {columns}", x.grad, e.grad, 2 * BF16)


def rms_norm(torch):
    from quack.rmsnorm import rmsnorm_bwd, rmsnorm_fwd

    x = torch.randn(16, 1024, dtype=torch.bfloat16, device="cuda")
    w, b = torch.randn(1024, device="cuda"), torch.randn(1024, device="cuda")
    y, _, rstd = rmsnorm_fwd(x, w, b, store_rstd=True)
    gradient = torch.randn_like(y)
    dx, dw, db, _ = rmsnorm_bwd(x, w, gradient, rstd, has_bias=True)  # without one it is an operator that torch has for CUDA alone
    ex, ew, eb = wide(x, w, b)
    wanted = ex * (ex.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * ew + eb
    wanted.backward(gradient.double().cpu())
    for name, given, exact in (("output", y, wanted), ("gradient", dx, ex.grad), ("of the weight", dw, ew.grad), ("of the bias", db, eb.grad)):
        near(name, given, exact, BF16)


def cross_entropy(torch):
    from quack.cross_entropy import cross_entropy as ours

    x = torch.randn(16, 1000, dtype=torch.bfloat16, device="cuda").requires_grad_()
    target = torch.randint(0, 1000, (16,), device="cuda")
    loss = ours(x, target)
    loss.backward()
    (e,) = wide(x)
    wanted = torch.nn.functional.cross_entropy(e, target.cpu())
    wanted.backward()
    near("loss", loss, wanted, 1e-3)
    near("gradient", x.grad, e.grad, BF16)


def topk(torch):
    from quack.topk import topk as ours

    x = torch.randn(8, 1024, dtype=torch.bfloat16, device="cuda")
    values, _ = ours(x, 16)
    near("values", values, x.double().cpu().topk(16).values, 0)


def gemm(torch):
    from quack.gemm_interface import gemm as ours

    a = torch.randn(256, 192, dtype=torch.bfloat16, device="cuda")
    b = torch.randn(192, 256, dtype=torch.bfloat16, device="cuda")
    near("product", ours(a, b, tuned=False), a.double().cpu() @ b.double().cpu(), BF16)


def gemm_act(torch):
    from quack.gemm_interface import gemm_act as ours

    a = torch.randn(256, 128, dtype=torch.bfloat16, device="cuda")
    b = torch.randn(128, 256, dtype=torch.bfloat16, device="cuda")
    before, after = ours(a, b, activation="gelu_tanh_approx", tuned=False)
    wanted = a.double().cpu() @ b.double().cpu()
    near("product", before, wanted, BF16)
    near("GELU", after, torch.nn.functional.gelu(wanted, approximate="tanh"), BF16)


QUACK = {
    "softmax": ((90, 100), quack(softmax)),
    "RMS norm": ((90, 100), quack(rms_norm)),
    "cross entropy": ((90, 100), quack(cross_entropy)),
    "top k": ((90, 100), quack(topk)),
    "GEMM": ((90, 100), quack(gemm)),
    "GEMM with GELU": ((90, 100), quack(gemm_act)),
}


def helion(name, *shapes, wanted):
    def run(_):
        import torch
        import helion_kernels

        torch.manual_seed(1)
        given = [torch.randn(*shape, device="cuda") for shape in shapes]
        near(name, getattr(helion_kernels, name)(*given), wanted(torch, *wide(*given)), 2.0**-9)  # TF32

    return run


HELION = {
    "matmul": ((90, 100), helion("matmul", (128, 96), (96, 160), wanted=lambda torch, a, b: a @ b)),
    "softmax": ((90, 100), helion("softmax", (40, 300), wanted=lambda torch, x: x.softmax(-1))),
    "layer norm": ((90, 100), helion("layer_norm", (40, 300), (300,), (300,),
                                     wanted=lambda torch, x, w, b: torch.nn.functional.layer_norm(x, (300,), w, b))),
}
