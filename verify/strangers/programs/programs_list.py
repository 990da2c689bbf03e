"""The programs of programs.py: which source, for which target, and the small problem that they are given."""
from typing import NamedTuple

EXIT_0 = "exit status 0"  # in place of what a check prints


class Program(NamedTuple):
    name: str
    source: str  # below CUTLASS's examples, or here; none: the project builds it
    arch: str
    arguments: tuple
    kernel: str = "GemmUniversal"  # what of the kernels' names is judged
    flags: tuple = ()
    passed: str = "Disposition: Passed"  # what the program's own check prints; none: it has no check
    project: str = "cutlass"  # or deepgemm, or cute or tilelang: a name of PROJECT_programs.py, with the user's Python
    failed: str = ""  # what that check prints only where it has failed


def gemm(m, n, k, *more):
    return (f"--m={m}", f"--n={n}", f"--k={k}", "--iterations=0", *more)


SMALL = gemm(256, 256, 256)
FMHA = "77_blackwell_fmha"
LIBCUDA = ("-L/usr/local/cuda/lib64/stubs", "-lcuda")

PROGRAMS = [
    Program("48_gemm", "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu", "90a", SMALL),
    Program("54_fp8", "54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm.cu", "90a", SMALL),
    Program("57_grouped", "57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu", "90a", gemm(256, 256, 128, "--groups=3")),
    Program("62_sparse", "62_hopper_sparse_gemm/62_hopper_sparse_gemm.cu", "90a", SMALL),
    Program("67_blockwise", "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling/"
            "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling.cu", "90a", SMALL),
    Program("88_fmha", "88_hopper_fmha/88_hopper_fmha.cu", "90a",
            ("--b=1", "--h=1", "--q=128", "--k=256", "--d=128", "--verify", "--iterations=1"), "FmhaKernel", passed="[OK]"),
    Program("70_fp16", "70_blackwell_gemm/70_blackwell_fp16_gemm.cu", "100a", SMALL),
    Program("70_fp8", "70_blackwell_gemm/70_blackwell_fp8_gemm.cu", "100a", SMALL),
    Program("71_builder", "71_blackwell_gemm_with_collective_builder/71_blackwell_gemm_with_collective_builder.cu", "100a",
            ("--m=256", "--n=256", "--k=128"), passed=": Passed"),
    Program("72a_nvfp4_bf16", "72_blackwell_narrow_precision_gemm/72a_blackwell_nvfp4_bf16_gemm.cu", "100a", SMALL),
    Program("72b_nvfp4_nvfp4", "72_blackwell_narrow_precision_gemm/72b_blackwell_nvfp4_nvfp4_gemm.cu", "100a", SMALL),
    Program("72c_mxfp8_bf16", "72_blackwell_narrow_precision_gemm/72c_blackwell_mixed_mxfp8_bf16_gemm.cu", "100a", SMALL),
    Program("73_preferred_cluster", "73_blackwell_gemm_preferred_cluster/blackwell_gemm_preferred_cluster.cu", "100a",
            gemm(512, 512, 256)),
    Program("74_stream_k", "74_blackwell_gemm_streamk/blackwell_gemm_streamk.cu", "100a", gemm(512, 512, 2048)),
    Program("75_grouped", "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm.cu", "100a", gemm(256, 256, 128, "--groups=3")),
    Program("75_grouped_scaled", "75_blackwell_grouped_gemm/75_blackwell_grouped_gemm_block_scaled.cu", "100a",
            gemm(256, 256, 256, "--groups=2")),
    Program("76_fprop", "76_blackwell_conv/76_blackwell_conv_fprop.cu", "100a",
            ("--n=1", "--h=8", "--w=8", "--c=64", "--k=64", "--iterations=0"), "ConvUniversal"),
    Program("77_fmha", f"{FMHA}/77_blackwell_fmha.cu", "100a",
            ("--b=1", "--h=1", "--q=256", "--k=256", "--d=128", "--verify", "--iterations=1", "--warmup_iterations=0"), "Sm100Fmha",
            passed="[OK]"),
    Program("77_gen", f"{FMHA}/77_blackwell_fmha_gen.cu", "100a",
            ("--b=1", "--h=4", "--k=256", "--d=128", "--verify", "--iterations=1", "--warmup_iterations=0"), "Sm100Fmha",
            passed="[OK]"),
    Program("79a_nvfp4_bf16", "79_blackwell_geforce_gemm/79a_blackwell_geforce_nvfp4_bf16_gemm.cu", "120a", SMALL),
    Program("79b_nvfp4_nvfp4", "79_blackwell_geforce_gemm/79b_blackwell_geforce_nvfp4_nvfp4_gemm.cu", "120a", SMALL),
    Program("79c_mxfp8_mxfp6", "79_blackwell_geforce_gemm/79c_blackwell_geforce_mixed_mxfp8_mxfp6_bf16_gemm.cu", "120a", SMALL),
    Program("81_blockwise", "81_blackwell_gemm_blockwise/81_blackwell_gemm_blockwise.cu", "100a", SMALL),
    Program("81_groupwise", "81_blackwell_gemm_blockwise/81_blackwell_gemm_groupwise.cu", "100a", SMALL),
    Program("83_sparse", "83_blackwell_sparse_gemm/83_blackwell_sparse_gemm.cu", "100a", SMALL),
    Program("86_mixed", "86_blackwell_mixed_dtype_gemm/86_blackwell_mixed_dtype.cu", "100a", SMALL),
    Program("91_fp4_gemv", "91_fp4_gemv/91_fp4_gemv.cu", "100a", ("--m=128", "--k=512", "--iterations=0"), "Gemv"),
    Program("92_moe", "92_blackwell_moe_gemm/92_blackwell_moe_gemm_regular.cu", "100a", SMALL),
    Program("93_gqa", "93_blackwell_low_latency_gqa/tgv_gqa.cu", "100a", (), "gqa"),
    Program("deepgemm_fp8", "deepgemm.cu", "100f", ("fp8",), "sm100_fp8", LIBCUDA, "PASSED", "deepgemm"),
    Program("deepgemm_bf16", "deepgemm.cu", "100f", ("bf16",), "sm100_bf16", LIBCUDA, "PASSED", "deepgemm"),
    Program("deepgemm_bf16_pairs", "deepgemm.cu", "100f", ("bf16-pairs",), "sm100_bf16", LIBCUDA, "PASSED", "deepgemm"),
    Program("deepgemm_logits", "deepgemm.cu", "100f", ("logits",), "sm100_mqa", LIBCUDA, "PASSED", "deepgemm"),
]
PROGRAMS += [Program(f"cute {name}", name, "100a", (), "kernel_cutlass", (), "PASSED", "cute")
             for name in ("dense", "software_pipeline", "persistent", "persistent_alone", "dynamic", "dynamic_alone", "nvfp4",
                          "nvfp4_pair", "grouped_shared", "grouped_global")]
PROGRAMS += [Program(f"tilelang {name}, sm_{arch}", name, arch, (), "", (), "PASSED", "tilelang", "FAILED")
             for name in ("matmul", "rms_norm") for arch in ("90a", "100a")]
