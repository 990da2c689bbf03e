"""FlashInfer's kernels for FP4 on Blackwell that are written in the CuTe DSL, against sums in fp64."""
from packages import BF16, attention, near

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


def quantised(torch, name, given, scales, wanted, bound=0.2):
    """Whether each block is as near to what is wanted as its elements and its scale can be: E2M1 half a step between 4 and 6,
    and half one of an E4M3 scale."""
    block = wanted.shape[-1] // scales.shape[-1]
    largest = wanted.unflatten(-1, (-1, block)).abs().amax(-1).repeat_interleave(block, -1)
    worst = ((given * scales.repeat_interleave(block, -1) - wanted).abs() / largest).max().item()
    print(f"{name}: {worst:.3f} of a block's largest")
    if not worst <= bound:
        raise AssertionError(f"{name}: {worst:.3f} of a block's largest")


def e4m3(torch, scales):
    return scales.cpu().view(torch.float8_e4m3fn).double()


def ue8m0(torch, scales):
    return torch.exp2(scales.cpu().view(torch.uint8).double() - 127)


def rows_of_tiles(scales, rows):
    """From tiles of 128 rows by 4 scales, as tensor memory takes them: 32 rows of 4 times 4."""
    tiles = scales.reshape(rows // 128, -1, 32, 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(rows, -1)


def rms_norm(torch):
    from flashinfer.cute_dsl.rmsnorm_fp4quant import rmsnorm_fp4quant

    x = torch.randn(16, 1024, dtype=torch.bfloat16, device="cuda")
    w = torch.rand(1024, dtype=torch.bfloat16, device="cuda") + 0.5
    packed, scales = rmsnorm_fp4quant(x, w, eps=1e-6, block_size=16)
    exact, weight = x.double().cpu(), w.double().cpu()
    wanted = exact * (exact.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * weight
    quantised(torch, "elements", elements(torch, packed), e4m3(torch, scales), wanted)


def add_rms_norm(torch):
    from flashinfer.cute_dsl.add_rmsnorm_fp4quant import add_rmsnorm_fp4quant

    x, residual = (torch.randn(16, 1024, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    w = torch.rand(1024, dtype=torch.bfloat16, device="cuda") + 0.5
    sum_of_both = x.double().cpu() + residual.double().cpu()
    packed, scales = add_rmsnorm_fp4quant(x, residual, w, eps=1e-6, block_size=16)[:2]
    near("residual", residual, sum_of_both, BF16)
    wanted = sum_of_both * (sum_of_both.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w.double().cpu()
    quantised(torch, "elements", elements(torch, packed), e4m3(torch, scales), wanted)


def to_nvfp4(torch):
    from flashinfer.quantization.kernels.nvfp4_quantize import nvfp4_quantize_cute_dsl

    x = torch.randn(128, 256, dtype=torch.bfloat16, device="cuda")
    packed, scales = nvfp4_quantize_cute_dsl(x, torch.ones(1, device="cuda"))
    scales = rows_of_tiles(e4m3(torch, scales), 128)
    quantised(torch, "elements", elements(torch, packed), scales, x.double().cpu())


def silu_to_nvfp4(torch):
    from flashinfer.quantization.kernels.nvfp4_quantize import silu_and_mul_nvfp4_quantize_cute_dsl

    x = torch.randn(16, 512, dtype=torch.bfloat16, device="cuda")
    packed, scales = silu_and_mul_nvfp4_quantize_cute_dsl(x, torch.ones(1, device="cuda"), sf_layout=2)
    gate, up = x.double().cpu().chunk(2, -1)
    wanted = torch.nn.functional.silu(gate) * up
    quantised(torch, "elements", elements(torch, packed), e4m3(torch, scales).reshape(16, -1), wanted)


def to_mxfp4(torch):
    from flashinfer.quantization.kernels.mxfp4_quantize import mxfp4_quantize_cute_dsl

    x = torch.randn(16, 256, dtype=torch.bfloat16, device="cuda")
    packed, scales = mxfp4_quantize_cute_dsl(x, sf_layout=2)
    quantised(torch, "elements", elements(torch, packed), ue8m0(torch, scales).reshape(16, -1), x.double().cpu(), 0.26)


def to_mxfp8(torch):
    from flashinfer.quantization.kernels.mxfp8_quantize import mxfp8_quantize_cute_dsl

    x = torch.randn(128, 256, dtype=torch.bfloat16, device="cuda")
    given, scales = mxfp8_quantize_cute_dsl(x)
    quantised(torch, "elements", given.double().cpu(), rows_of_tiles(ue8m0(torch, scales), 128), x.double().cpu(), 0.07)


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


def contiguous_gemm(torch):
    from flashinfer.gemm.kernels.grouped_gemm_contiguous_blackwell import grouped_gemm_fp8_nt_groupwise_contiguous_sm100

    groups, m, n, k = 2, 256, 128, 256
    of = torch.arange(groups, dtype=torch.int32, device="cuda").repeat_interleave(m // groups)
    a, b = ((torch.randn(*shape) / 4).to(torch.float8_e4m3fn) for shape in ((m, k), (groups, n, k)))
    a_scale, b_scale = torch.rand(m, k // 128) + 0.5, torch.rand(groups, n // 128, k // 128) + 0.5
    out = torch.zeros(m, n, dtype=torch.bfloat16, device="cuda")
    grouped_gemm_fp8_nt_groupwise_contiguous_sm100(a.cuda(), b.cuda(), a_scale.cuda(), b_scale.cuda(), of, out)
    wide_a = a.double() * a_scale.double().repeat_interleave(128, -1)
    wide_b = b.double() * b_scale.double().repeat_interleave(128, -1).repeat_interleave(128, -2)
    near("products", out, torch.cat([rows @ w.T for rows, w in zip(wide_a.chunk(groups), wide_b)]), BF16)


def gemm(torch):
    from flashinfer.gemm import mm_fp4

    m, n, k = 128, 256, 256
    operands, exact = [], []
    for rows in (m, n):
        packed = torch.randint(0, 256, (rows, k // 2), dtype=torch.uint8)
        scales = (torch.rand(rows // 128, k // 64, 32, 4, 4) + 0.5).to(torch.float8_e4m3fn)
        exact.append(elements(torch, packed) * rows_of_tiles(scales.double(), rows).repeat_interleave(16, -1))
        operands += [packed.cuda(), scales.view(torch.uint8).reshape(rows, k // 16).cuda()]
    a, a_scales, b, b_scales = operands
    out = mm_fp4(a, b.T, a_scales, b_scales.T, torch.full((1,), 0.5, device="cuda"), torch.bfloat16, backend="cute-dsl")
    near("products", out, 0.5 * exact[0] @ exact[1].T, BF16)


def prefill(torch):
    from flashinfer.cute_dsl.attention.wrappers.batch_prefill import BatchPrefillCuteDSLWrapper

    queries, keys, heads, dim = (100, 28), (150, 106), 2, 128
    starts = [torch.tensor((0, *t), dtype=torch.int32, device="cuda").cumsum(0, dtype=torch.int32) for t in (queries, keys)]
    q, k, v = (torch.randn(sum(rows), h, dim, dtype=torch.bfloat16, device="cuda")
               for rows, h in ((queries, heads), (keys, 1), (keys, 1)))
    batch = BatchPrefillCuteDSLWrapper(torch.zeros(1024, dtype=torch.uint8, device="cuda"))
    batch.plan(*starts, heads, 1, dim, causal=True, q_data_type=torch.bfloat16, kv_data_type=torch.bfloat16)
    out = batch.run(q, k, v)
    split = [t.double().cpu().split(rows) for t, rows in ((q, queries), (k, keys), (v, keys))]
    wanted = torch.cat([attention(*(t[None] for t in one), causal=True)[0] for one in zip(*split)])
    near("output", out, wanted, BF16)


FLASHINFER = {
    "RMS norm to NVFP4": ((100,), flashinfer(rms_norm)),
    "sum and RMS norm to NVFP4": ((100,), flashinfer(add_rms_norm)),
    "quantisation to NVFP4": ((100,), flashinfer(to_nvfp4)),
    "SiLU to NVFP4": ((100,), flashinfer(silu_to_nvfp4)),
    "quantisation to MXFP4": ((100,), flashinfer(to_mxfp4)),
    "quantisation to MXFP8": ((100,), flashinfer(to_mxfp8)),
    "grouped FP8 GEMM, scales of 128": ((100,), flashinfer(contiguous_gemm)),
    "NVFP4 GEMM": ((100,), flashinfer(gemm)),
    "prefill, causal": ((100,), flashinfer(prefill)),
    "masked grouped NVFP4 GEMM": ((100,), flashinfer(grouped_gemm)),
}
