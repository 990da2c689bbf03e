"""The tests of other projects that are run here: a fixed list, chosen before it was known what they come to."""
import collections

# The package whose version the row has, the file, pytest's -k, its further options; a script is one test.
Tests = collections.namedtuple("Tests", "package file only options script", defaults=("", (), False))
# Of test_core.py all tests of at most 20 cases.
LARGE = ("test_addptr or test_dot or test_cat or test_floordiv or test_full or test_math_op or test_bin_op or test_optimize_thread_locality or "
         "test_shift_op or test_tensor_atomic_rmw or test_trans_4d or test_tensor_atomic_cas or test_cast or test_reduce or test_masked_load or "
         "test_tensor_atomic_add_access_patterns or test_atomic_rmw or test_bitwise_op or test_compare_op or test_scan2d or test_scaled_dot")
SMALL = "float32 or dtype0"
SUITES = {
    "Triton": [*(Tests("triton", f"python/tutorials/{name}.py", script=True) for name in (
                   "01-vector-add", "02-fused-softmax", "03-matrix-multiplication", "04-low-memory-dropout", "05-layer-norm")),
               Tests("triton", "python/tutorials/06-fused-attention.py", "128-2-1 and not 1024 and not 4096"),
               Tests("triton", "python/test/unit/language/test_core.py", f"not ({LARGE})"),
               Tests("triton", "python/test/unit/language/test_random.py", "test_randint or test_rand_limits"),
               Tests("triton", "python/test/unit/language/test_standard.py", "test_flip or test_ravel or test_swizzle2d"),
               Tests("triton", "python/test/unit/language/test_tuple.py"),
               Tests("triton", "python/test/unit/language/test_line_info.py")],
    "Liger": [Tests("liger_kernel", f"test/transformers/test_{name}.py", only) for name, only in (
        ("rms_norm", "dtype0 and 123"), ("layer_norm", ""), ("swiglu", "dtype0"), ("geglu", "dtype0"), ("softmax", ""), ("relu_squared", ""),
        ("dyt", "dtype0"), ("embedding", "dtype0"), ("kl_div", "dtype0 and 123"), ("poly_norm", "dtype0"), ("group_norm", "dtype0"))],
    "Helion": [Tests("helion", f"test/test_{name}.py") for name in ("masking", "loops", "reduce", "broadcasting", "views", "associative_scan")],
    "quack": [Tests("quack_kernels", "tests/test_softmax.py"), Tests("quack_kernels", "tests/test_rmsnorm.py", "test_rmsnorm_strided_tensor")],
    "tilelang": [Tests("tilelang", "testing/python/language/test_tilelang_language_copy.py")],
    "FlashInfer": [Tests("flashinfer_python", "tests/utils/test_norm.py", "test_norm and 1")],
}
