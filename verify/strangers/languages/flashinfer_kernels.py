"""FlashInfer's kernels for FP4 on Blackwell that are written in the CuTe DSL, against sums in fp64."""
from packages import BF16, near

E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)


def flashinfer(call):
    def run(_):
        import torch

        torch.manual_seed(1)
        call(torch)

    return run


def elements(torch, packed):
    """Of bytes with two each, the first in the low half."""
    table = torch.tensor(E2M1 + tuple(-e for e in E2M1), dtype=torch.float64)
    packed = packed.detach().cpu().view(torch.uint8).long()
    return torch.stack((table[packed & 15], table[packed >> 4]), -1).flatten(-2)


def quantised(torch, name, packed, scales, wanted):
    """Whether each block of 16 is as near to what is wanted as E2M1 and its scale can be."""
    given = elements(torch, packed) * scales.cpu().view(torch.float8_e4m3fn).double().repeat_interleave(16, -1)
    largest = wanted.unflatten(-1, (-1, 16)).abs().amax(-1).repeat_interleave(16, -1)
    worst = ((given - wanted).abs() / largest).max().item()
    print(f"{name}: {worst:.3f} of a block's largest")
    if not worst <= 0.2:  # half a step between 4 and 6, and half one of the scale
        raise AssertionError(f"{name}: {worst:.3f} of a block's largest")


def rms_norm(torch):
    from flashinfer.cute_dsl.rmsnorm_fp4quant import rmsnorm_fp4quant

    x = torch.randn(16, 1024, dtype=torch.bfloat16, device="cuda")
    w = torch.rand(1024, dtype=torch.bfloat16, device="cuda") + 0.5
    packed, scales = rmsnorm_fp4quant(x, w, eps=1e-6, block_size=16)
    exact, weight = x.double().cpu(), w.double().cpu()
    wanted = exact * (exact.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * weight
    quantised(torch, "elements", packed, scales, wanted)


def grouped_gemm(torch):
    from flashinfer.gemm.kernels.grouped_gemm_masked_wrapper import grouped_gemm_nt_masked

    groups, m, n, k = 2, 256, 256, 256
    of_m = torch.tensor((200, 128), dtype=torch.int32, device="cuda")
    operands, exact = [], []
    for rows in (m, n):
        packed = torch.randint(0, 256, (groups, rows, k // 2), dtype=torch.uint8)
        scales = (torch.rand(groups, rows // 128, k // 64, 32, 4, 4) + 0.5).to(torch.float8_e4m3fn)
        operands.append((packed.cuda().permute(1, 2, 0), scales.cuda().permute(3, 4, 1, 5, 2, 0)))
        flat = scales.double().permute(0, 1, 4, 3, 2, 5).reshape(groups, rows, k // 16)
        exact.append(elements(torch, packed) * flat.repeat_interleave(16, -1))
    out = torch.zeros(groups, m, n, dtype=torch.bfloat16, device="cuda")
    grouped_gemm_nt_masked(*operands, out.permute(1, 2, 0), of_m, ab_dtype="float4_e2m1fn", sf_dtype="float8_e4m3fn",
                           c_dtype="bfloat16", sf_vec_size=16)
    wanted = exact[0] @ exact[1].transpose(1, 2)
    for g, rows in enumerate(of_m.tolist()):
        near(f"product of group {g}", out[g, :rows], wanted[g, :rows], BF16)


FLASHINFER = {
    "RMS norm to NVFP4": ((100,), flashinfer(rms_norm)),
    "masked grouped NVFP4 GEMM": ((100,), flashinfer(grouped_gemm)),
}
