"""Programs that their projects build: what each is given, which of its kernels are judged, and what its own check prints.

programs.py looks for them as DIR/bin/PROJECT/NAME, built with `-cudart shared` and PTX for the target.
"""
from programs_list import EXIT_0, Program


def sample(name, arguments=(), passed="Test passed", failed="", kernel=""):
    """Of NVIDIA's cuda-samples."""
    return Program(f"cuda-samples {name}", "", "90a", arguments, kernel, (), passed, "cuda-samples", failed)


def llmc(name, *numbers):
    """Of llm.c's dev/cuda: the kernels with these numbers."""
    return [Program(f"llm.c {name} {n}", "", "90a", (str(n),), "", (), "All results match", "llm.c", "Mismatch") for n in numbers]


SQUARE = ("-wA=64", "-hA=64", "-wB=64", "-hB=64")

PROGRAMS_BUILT = [
    sample("vectorAdd", passed="Test PASSED"),
    sample("matrixMul", SQUARE, "Result = PASS"),
    sample("reduction", ("--n=4096", "--kernel=7")),
    sample("threadFenceReduction", ("--n=4096",), EXIT_0),
    sample("threadFenceReduction multipass", ("--n=4096", "--multipass"), EXIT_0),
    sample("reductionMultiBlockCG", ("--n=65536",), "GPU result", "Test failed"),
    sample("scan", passed="Results Match", failed="DON'T"),
    sample("shfl_scan", passed="CheckSum: 2073600, (expect 1920x1080=2073600)"),
    sample("histogram"),
    sample("sortingNetworks"),
    sample("mergeSort", passed="stability property: stable!"),
    sample("scalarProd"),
    sample("convolutionSeparable"),
    sample("simpleCooperativeGroups", passed="Sum of all ranks 0..63 in threadBlockGroup is 2016"),
    sample("binaryPartitionCG", passed=""),
    sample("warpAggregatedAtomicsCG", passed="Warp Aggregated Atomics PASSED"),
    sample("simpleAWBarrier", passed="Result = PASSED"),
    sample("systemWideAtomics", passed="returned OK"),
    sample("simpleAtomicIntrinsics", passed="returned OK"),
    sample("simpleVoteIntrinsics", passed="OK"),
    sample("simpleTemplates", passed="Compare OK", failed="MISMATCH"),
    sample("streamOrderedAllocation", passed="streamOrderedAllocationPostSync PASSED"),
    sample("conjugateGradientMultiBlockCG", passed="PASSED"),
    sample("globalToShmemAsyncCopy", (*SQUARE, "-kernel=0"), "Result = PASS"),
    sample("simpleAssert", passed="returned OK"),
    sample("simpleZeroCopy", passed=""),
    sample("simpleMultiCopy", passed=""),
    sample("simpleOccupancy", passed="Test PASSED"),
    sample("simpleCallback", passed="Success"),
    sample("fp16ScalarProduct", passed="PASSED"),
    sample("inlinePTX", passed="Test Successful"),
    sample("template", passed="", failed="failed"),
    sample("clock", passed=""),
    sample("cudaTensorCoreGemm", passed="Verifying", failed="mismatch"),
    sample("bf16TensorCoreGemm", passed="Verifying", failed="mismatch"),
    sample("tf32TensorCoreGemm", passed="Verifying", failed="mismatch"),
    sample("dmmaTensorCoreGemm", passed="Verifying", failed="mismatch"),
    sample("immaTensorCoreGemm", passed="Verifying", failed="mismatch"),
]
PROGRAMS_BUILT += [
    *llmc("softmax_forward", *range(1, 9)),
    *llmc("layernorm_forward", *range(1, 7)),
    *llmc("layernorm_backward", *range(2, 11)),
    *llmc("classifier_fused", *range(1, 6)),
    *llmc("matmul_backward_bias", *range(1, 5)),
    *llmc("encoder_forward", *range(1, 4)),
    *llmc("encoder_backward", *range(1, 3)),
    *llmc("global_norm", *range(1, 4)),
    *llmc("attention_forward", *range(1, 5)),
]
PROGRAMS_BUILT += [Program(f"FlashInfer {name}", "", "90a", (), kernel, (), "PASSED", "FlashInfer", "FAILED")
                   for name, kernel in (("topk", "TopK"), ("norm", "Norm"), ("decode", ""), ("prefill", "Prefill"))]
PROGRAMS_BUILT += [Program(f"ThunderKittens {name}", "", arch, (), kernel, (), "", "ThunderKittens")
                   for name, arch, kernel in (("nvfp4_b200_gemm", "100a", "entrypoint"), ("bf16_h100_gemm", "90a", "lcf"))]
PROGRAMS_BUILT += [Program(f"FlashAttention-3 {name}", "", "90a", (), "Flash", (), "PASSED", "FlashAttention-3", "FAILED")
                   for name in ("causal", "clusters")]
PROGRAMS_BUILT += [Program(f"FlashMLA {name}", "", arch, (), kernel, (), "PASSED", "FlashMLA", "FAILED")
                   for name, arch, kernel in (("dense", "90a", "mla"), ("sparse", "100a", "sparse_attn"))]
PROGRAMS_BUILT += [Program(f"QuTLASS backward {name}", "", "120a", (name,), "", (), "PASSED", "QuTLASS", "FAILED")
                   for name in ("t", "qt", "square", "transpose")]
