"""The tests of other projects that are run here: a fixed list, chosen before it was known what they come to."""
import collections

# The package whose version the row has, the file, pytest's -k, its further options; a script is one test.
Tests = collections.namedtuple("Tests", "package file only options script", defaults=("", (), False))
# Of test_core.py: features of the language that every device has, by the name of the test. Tests of hundreds of cases are sampled by the cases' names.
CORE = ("test_broadcast or test_slice or test_expand_dims or test_where_broadcast or test_abs or test_shapes_as_params or test_transpose or test_index1d or "
        "test_noinline or test_atomic_rmw_predicate or test_atomic_cas or test_store_constant or test_load_store_same_ptr or test_umulhi or test_join or "
        "test_interleave or test_split or test_max_returns_zero or test_histogram or test_generic_reduction or test_permute or test_arange or "
        "test_masked_load_shared_memory or test_pointer_arguments or test_constexpr_shape or test_reshape or test_inline_asm or test_map_elementwise or "
        "test_for_iv or test_if_else or test_while or test_clamp or test_static_range or test_chained_reductions or test_gather or test_strided_load or "
        "test_indirect_store or test_short_circuiting or (test_bin_op and int32-float32) or (test_math_op and float32) or "
        "(test_cast and float32-float16) or (test_reduce1d and sum and float32) or (test_scan2d and cumsum-float32) or "
        "(test_atomic_rmw and add and float32) or (test_dot and 64-64-64-4 and none-ieee)")
SUITES = {
    "Triton": [*(Tests("triton", f"python/tutorials/{name}.py", script=True) for name in (
                   "01-vector-add", "02-fused-softmax", "03-matrix-multiplication", "04-low-memory-dropout", "05-layer-norm")),
               Tests("triton", "python/tutorials/06-fused-attention.py", "128-2-1 and not 1024 and not 4096"),
               Tests("triton", "python/test/unit/language/test_core.py", CORE),
               Tests("triton", "python/test/unit/language/test_random.py", "test_randint or test_rand_limits"),
               Tests("triton", "python/test/unit/language/test_standard.py", "test_flip or test_ravel or test_swizzle2d"),
               Tests("triton", "python/test/unit/language/test_tuple.py"),
               Tests("triton", "python/test/unit/language/test_line_info.py")],
    "Liger": [Tests("liger_kernel", f"test/transformers/test_{name}.py", only) for name, only in (
        ("rms_norm", "dtype0 and 123"), ("layer_norm", ""), ("swiglu", "dtype0"), ("geglu", "dtype0"), ("softmax", ""), ("relu_squared", ""),
        ("dyt", "dtype0"), ("embedding", "dtype0"), ("kl_div", "dtype0 and 123"), ("poly_norm", "dtype0"), ("group_norm", "dtype0"))],
    "Helion": [Tests("helion", f"test/test_{name}.py") for name in ("masking", "loops", "reduce", "broadcasting", "views", "associative_scan")],
    "quack": [Tests("quack_kernels", "tests/test_softmax.py"), Tests("quack_kernels", "tests/test_rmsnorm.py", "test_rmsnorm_strided_tensor")],
    "tilelang": [Tests("tilelang", f"testing/python/language/test_tilelang_language_{name}.py") for name in (
        "alias", "augassign", "chain_equal", "if_range", "infinity", "let", "negative_index", "parallel", "ternary", "unroll", "var_init", "clear",
        "warp_reduce", "vectorized_cast", "transpose", "copy")],
    "FlashInfer": [Tests("flashinfer_python", "tests/utils/test_norm.py", "test_norm and 1")],
}
