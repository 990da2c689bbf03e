"""Liger-Kernel's tests, with small problems."""
import sys

from load import call

FP32 = 1e-5, 1e-5


def tested(name, *calls):
    return (90,), call(f"test/transformers/test_{name}.py", *calls)


def without_the_dsl():
    """Where the CuTe DSL is installed, Liger takes kernels of its own in it for some."""
    sys.modules["liger_kernel.ops.backends._cutedsl.layer_norm"] = None


def fp32(m):
    return m.torch.float32


LIGER = {
    "RMS norm": tested("rms_norm", ("test_correctness", 2, 8, 123, fp32, 1e-4, 1e-6, lambda m: m.LlamaRMSNorm, 0.0, "llama", True, True),
                       ("test_correctness", 2, 8, 512, fp32, 1e-4, 1e-6, lambda m: m.GemmaRMSNorm, 1.0, "gemma", False, True)),
    "layer norm": tested("layer_norm", ("test_liger_layer_norm", 2, 8, 64, fp32, *FP32)),
    "layer norm, Triton": ((90,), call("test/transformers/test_layer_norm.py", ("test_liger_layer_norm", 2, 8, 64, fp32, *FP32), before=without_the_dsl)),
    "fused add RMS norm": tested("fused_add_rms_norm", ("test_correctness_functional", 2, 8, 123, fp32, 1e-4, 1e-6, lambda m: m.LlamaAddRMSNorm, 0.0, "llama", True)),
    "group norm": tested("group_norm", ("test_liger_group_norm", 2, 8, 4, 128, fp32, 1e-4, 1e-4)),
    "DyT": tested("dyt", ("test_liger_dyt_functional", 2, 8, 123, True, fp32, 1e-5, 1e-5)),
    "poly norm": tested("poly_norm", ("test_correctness", 2, 8, 123, fp32, 1e-4, 1e-5)),
    "SwiGLU": tested("swiglu", ("test_correctness_functional", 2, 8, 123, fp32, *FP32)),
    "GEGLU": tested("geglu", ("test_correctness_functional", 2, 8, 123, fp32, 1e-4, 1e-5)),
    "RoPE": tested("rope", ("test_functional_correctness", 1, 16, 4, 2, 64, False, fp32, *FP32)),
    "cross entropy": tested("cross_entropy", ("test_correctness_functional", 2, 16, 1000, 1.0, fp32, 1e-6, 1e-4)),
    "fused linear cross entropy": tested("fused_linear_cross_entropy", ("test_correctness_functional", 4, 7, 31, 123, 1.0, fp32, True, True, 1e-4, 1e-4)),
    "softmax": tested("softmax", ("test_liger_softmax", (4, 16), fp32, *FP32), ("test_liger_softmax", (1, 1023), fp32, *FP32)),
    "sparsemax": tested("sparsemax", ("test_liger_sparsemax_functional_correctness", 2, 8, 123, -1, fp32, *FP32)),
    "KL divergence": tested("kl_div", ("test_correctness", 1, 16, 123, False, "batchmean", fp32, 1e-6, 1e-4)),
    "JSD": tested("jsd", ("test_correctness_with_beta", 1, 16, 123, 0.1, fp32, 1e-6, 1e-4)),
    "TVD": tested("tvd", ("test_correctness", 1, 16, 123, "mean", fp32, 1e-6, 1e-4)),
    "embedding": tested("embedding", ("test_embedding_correctness", 100, 64, None, fp32, 1e-6, 1e-5, "cuda")),
    "ReLU squared": tested("relu_squared", ("test_liger_relu_squared_functional", (2, 8, 123), fp32, *FP32)),
    "fused MoE": tested("fused_moe", ("test_routing_metadata_invariants", 64, 8, 2), ("test_correctness", 32, 4, 64, 32, 2, fp32, 1e-2, 1e-2)),
    "mHC": tested("mhc", ("test_mhc_coeffs_backward_allows_unused_outputs", 1, 8, 2, 16, True, True, True)),
    "attention residuals": tested("attn_res", ("test_correctness_backward", 4, 2, 8, 256, fp32, 1e-4, 1e-4)),
    "GRPO loss": tested("grpo_loss", ("test_selective_log_softmax", 2, 8, 1000, 0.9, fp32, 1e-4, 1e-4)),
    "multi-token attention": tested("multi_token_attention", ("test_multi_token_attention_correctness", 2, 4, 4, 8, 3, 1, True, fp32, 1e-3, 1e-3)),
    "int8 by int2": tested("mm_int8int2", ("test_kernel_correctness", 1, 16, 64, 64, 1e-3, 1e-3, "cuda")),
    "neighborhood attention": tested("fused_neighborhood_attention", ("test_liger_fused_neighborhood_attention_functional_deterministic",)),
}
