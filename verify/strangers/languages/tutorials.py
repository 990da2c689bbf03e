"""Triton's and Gluon's tutorials, with small problems."""
import types

from load import call, script


def without_cublas():
    """Which is to compute the same, beside a tutorial's kernels."""
    from triton._C.libtriton import nvidia

    nvidia.cublas = types.SimpleNamespace(CublasLt=lambda _: None)


TUTORIALS = {
    "01 vector add": ((90, 100), script("01-vector-add.py", {98432: 5000})),
    "02 softmax": ((90, 100), script("02-fused-softmax.py", {1823: 61})),
    "03 matmul": ((90, 100), script("03-matrix-multiplication.py", {512: 256})),
    "04 dropout": ((90, 100), script("04-low-memory-dropout.py")),
    "05 layer norm": ((90, 100), script("05-layer-norm.py", {1151: 33, 8192: 1024})),
    "06 attention": ((90, 100), call("06-fused-attention.py", ("test_op", 1, 2, 256, 64, True, False, "bwd", "triton-fp16"))),
    "06 attention, fp8": ((90, 100), call("06-fused-attention.py", ("test_op", 1, 2, 256, 64, False, False, "fwd", "triton-fp8"))),
    "06 attention, warps of several roles": (
        (100,), call("06-fused-attention.py", ("test_op", 1, 2, 256, 128, True, True, "bwd", "triton-fp16"))),
    "07 libdevice": ((90,), script("07-extern-functions.py", {98432: 5000})),
    "08 grouped GEMM": ((90, 100), script("08-grouped-gemm.py", {1024: 256, 512: 256})),
    "09 persistent matmul": ((90, 100), call("09-persistent-matmul.py", ("validate", 256, 512, 192, lambda m: m.torch.float16), before=without_cublas)),
    "09 persistent matmul, fp8": ((90, 100), call("09-persistent-matmul.py", ("validate", 256, 512, 192, lambda m: m.torch.float8_e4m3fn), before=without_cublas)),
    "10 block-scaled matmul": (
        (100,), call("10-block-scaled-matmul.py", *(("validate_block_scaled", 256, 512, 512, f) for f in ("nvfp4", "mxfp4", "mxfp8", "mixed")),
                     before=without_cublas)),
    "11 dependent launch": ((90, 100), call("11-programmatic-dependent-launch.py", ("validate", 1024))),
}
GLUON = {
    "01 copies": ((90,), call("01-intro.py", ("test_copy_scalar",), ("test_memcpy", 64, 500))),
    "02 layouts": ((90,), call("02-layouts.py", ("test_memcpy_1d", 256, 1000, 4), ("test_memcpy_2d", 128, 256, 100, 300, True, 4),
                               ("test_memcpy_2d_inout", 100, 300, True, False))),
    "03 cp.async": ((90,), call("03-async-copy.py", ("test_memcpy_1d_cpasync", 1000, 256), ("test_elementwise_add_cpasync", 100, 200, 32, 32),
                                ("test_elementwise_add_pipelined", 200, 120, 32, 64, 2))),
    "04 TMA": ((90, 100), call("04-tma.py", ("test_tma_message_passing", 16), ("test_memcpy_1d_tma", 64, 500),
                               ("test_elementwise_add_pipelined", 200, 120, 32, 64, 3))),
    "05 wgmma": ((90,), call("05-wgmma.py", ("test_small_mma", 64, 256, 128, True, 64, 4), ("test_small_mma", 64, 256, 128, False, 64, 8),
                             ("test_blocked_matmul", 208, 416, 304, 64, 64, 64, True, 4),
                             ("test_blocked_matmul_pipelined", 208, 416, 304, 128, 128, 128, 8))),
    "06 tcgen05": ((100,), call("06-tcgen05.py", ("test_tmem_example_kernel", 128, 64, 4), ("test_small_mma", 128, 128, 128, True, True, 4),
                                ("test_small_mma", 64, 256, 256, False, False, 8),
                                ("test_blocked_matmul", 208, 416, 304, 128, 128, 128, True, 4),
                                ("test_blocked_matmul_pipelined", 208, 416, 304, 128, 128, 128, 8))),
    "07 persistence": ((90, 100), call("07-persistence.py", ("test_pipelined_matmul", 256, 512, 200, 128, 256, 64, 3, 8),
                                       ("test_persistent_matmul", 256, 512, 200, 128, 256, 64, 3, 8, lambda m: m.schedulers[1]),
                                       ("test_persistent_matmul_pipelined", 208, 416, 304, 128, 256, 64, 3, 8, lambda m: m.schedulers[0]))),
    "08 warps of several roles, add": ((90, 100), call("08-warp-specialization.py", ("test_elementwise_add_warp_specialized", 200, 120, 32, 64, 2, 2, 4))),
    "08 warps of several roles": ((100,), call("08-warp-specialization.py", ("test_matmul_warp_specialized", 208, 416, 304, 128, 256, 64, 3, 4, 4,
                                                                             lambda m: m.t7.schedulers[1]))),
}
