#!/usr/bin/env python3
"""The CuTe DSL's examples for Blackwell, with small problems, under `bitwell capture`.

    CUTE_DSL_ARCH=sm_100a bitwell capture --arch sm_100 --only kernel_cutlass python cute_programs.py EXAMPLES NAME [TIMES]

EXAMPLES is examples/python/CuTeDSL of a CUTLASS checkout, NAME one of PROGRAMS below; m, n and k are TIMES as long. Needs nvidia-cutlass-dsl and NumPy,
no torch: the tensors are managed memory, which the host and the kernels have at the same address.
"""
import ctypes
import importlib
import pathlib
import sys
import unittest.mock

import numpy as np

import cuda.bindings.driver as cuda
import cuda.bindings.runtime as linked_in

# The bindings have a CUDA runtime linked in, which asks a driver for more than CUDA documents. The DSL asks it for these.
linked_in.cudaGetDeviceCount = lambda: (linked_in.cudaError_t.cudaSuccess, 1)
linked_in.cudaLibraryUnload = lambda library: (linked_in.cudaError_t.cudaSuccess,)

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack, make_ptr

runtime = ctypes.CDLL("libcudart.so.13")
KERNELS = pathlib.Path(sys.argv[1]) / "cute/blackwell/kernel"
TIMES = int(sys.argv[3]) if len(sys.argv) > 3 else 1
OPTIONS = "--gpu-arch sm_100a --generate-line-info"  # line information keeps the PTX in the machine code
STREAM = cuda.CUstream(0)
random = np.random.default_rng(1)


def example(folder, module):
    sys.path[:0] = [str(KERNELS / folder), sys.argv[1]]
    for name in ("torch", "cutlass.torch"):  # of what makes their tensors, which is not called
        sys.modules.setdefault(name, unittest.mock.MagicMock())
    return importlib.import_module(module)


def managed(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    pointer = ctypes.c_void_p()
    if runtime.cudaMallocManaged(ctypes.byref(pointer), ctypes.c_size_t(size), 1) != 0:
        sys.exit("no managed memory")
    out = np.frombuffer((ctypes.c_byte * size).from_address(pointer.value), dtype=dtype).reshape(shape)
    out[...] = np.zeros((), dtype)
    return out


def whole_numbers(shape):
    out = managed(shape, np.float16)
    out[...] = random.integers(-3, 4, shape)
    return out


def batch_of_one(array):
    """(rows, columns, 1), the columns innermost."""
    return from_dlpack(array[:, :, None], assumed_align=16)


def verdict(have, want):
    wrong = int((have != want).sum())
    print(f"{'PASSED' if wrong == 0 else 'FAILED'}, {wrong} of {want.size} wrong")
    return 0 if wrong == 0 else 1


def dense(module, kernel, *more, clusters=()):
    m, n, k = 256 * TIMES, 256 * TIMES, 128 * TIMES
    a, b, c = whole_numbers((m, k)), whole_numbers((n, k)), managed((m, n), np.float16)
    gemm = getattr(example("dense_gemm", module), kernel)(cutlass.Float32, *more)
    tensors = [batch_of_one(x) for x in (a, b, c)]
    compiled = cute.compile(gemm, *tensors, *clusters, STREAM, options=OPTIONS)
    compiled(*tensors, STREAM)
    runtime.cudaDeviceSynchronize()
    return verdict(c, (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def nvfp4(tile, cluster):
    """Scales are 1: what is to be seen here is the pipeline."""
    m, n, k = 256 * TIMES, 256 * TIMES, 256 * TIMES
    a, b = managed((m, k // 2), np.uint8), managed((n, k // 2), np.uint8)
    a[...], b[...] = random.integers(0, 256, a.shape), random.integers(0, 256, b.shape)
    scales = [managed((rows * k // 16,), np.uint8) for rows in (m, n)]
    for s in scales:
        s[...] = 0x38
    c = managed((m, n), np.float16)
    module = example("blockscaled_gemm", "dense_blockscaled_gemm_persistent")
    gemm = module.Sm100BlockScaledPersistentDenseGemmKernel(16, tile, cluster)

    def pointer(dtype, array):
        return make_ptr(dtype, array.ctypes.data, cute.AddressSpace.gmem, assumed_align=32)

    pointers = [pointer(cutlass.Float4E2M1FN, a), pointer(cutlass.Float4E2M1FN, b),
                *(pointer(cutlass.Float8E4M3FN, s) for s in scales), pointer(cutlass.Float16, c)]
    layouts = (module.OperandMajorMode.K, module.OperandMajorMode.K, module.utils.LayoutEnum.ROW_MAJOR)
    compiled = cute.compile(gemm, *pointers, layouts, (m, n, k, 1), 4, STREAM, options=OPTIONS)
    compiled(*pointers, (m, n, k, 1), STREAM)
    runtime.cudaDeviceSynchronize()
    numbers = [np.stack((E2M1[x & 15], E2M1[x >> 4]), axis=-1).reshape(x.shape[0], k) for x in (a, b)]
    return verdict(c, (numbers[0] @ numbers[1].T).astype(np.float16))


def grouped(update):
    shapes = [(TIMES * m, TIMES * n, TIMES * k, 1) for m, n, k in ((128, 128, 64), (256, 128, 128))]
    module = example("grouped_gemm", "grouped_gemm")
    gemm = module.GroupedGemmKernel(cutlass.Float32, False, (128, 128), (1, 1), getattr(module.utils.TensorMapUpdateMode, update))
    groups = [(whole_numbers((m, k)), whole_numbers((n, k)), managed((m, n), np.float16)) for m, n, k, _ in shapes]

    def on_device(values, dtype):
        out = managed(np.shape(values), dtype)
        out[...] = values
        return from_dlpack(out, assumed_align=16)

    problem = on_device(shapes, np.int32)
    strides = on_device([[[x.shape[1], 1] for x in group] for group in groups], np.int32)
    addresses = on_device([[x.ctypes.data for x in group] for group in groups], np.int64)
    maps = on_device(np.zeros((148, module.GroupedGemmKernel.num_tensormaps, 16)), np.int64)
    # Strides that the kernel is to replace: not those of the first group, known when it is compiled.
    first = [batch_of_one(x).mark_layout_dynamic(leading_dim=1) for x in groups[0]]
    total = sum(-(-m // 128) * -(-n // 128) for m, n, _, _ in shapes)
    compiled = cute.compile(gemm, *first, len(shapes), problem, strides, addresses, total, maps, 4, STREAM, options=OPTIONS)
    compiled(*first, problem, strides, addresses, maps, STREAM)
    runtime.cudaDeviceSynchronize()
    have = np.concatenate([c.ravel() for _, _, c in groups])
    return verdict(have, np.concatenate([(a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16).ravel()
                                         for a, b, _ in groups]))


PAIR = (True, (256, 128), (2, 1), True)
ALONE = (False, (128, 128), (1, 1), True)
PROGRAMS = {
    "dense": lambda: dense("dense_gemm", "DenseGemmKernel", *PAIR),
    "software_pipeline": lambda: dense("dense_gemm_software_pipeline", "DenseGemmKernel", *ALONE),
    "persistent": lambda: dense("dense_gemm_persistent", "PersistentDenseGemmKernel", *PAIR, clusters=(2,)),
    "persistent_alone": lambda: dense("dense_gemm_persistent", "PersistentDenseGemmKernel", *ALONE, clusters=(3,)),
    "dynamic": lambda: dense("dense_gemm_persistent_dynamic", "PersistentDenseGemmKernel", *PAIR),
    "dynamic_alone": lambda: dense("dense_gemm_persistent_dynamic", "PersistentDenseGemmKernel", *ALONE),
    "nvfp4": lambda: nvfp4((128, 128), (1, 1)),
    "nvfp4_pair": lambda: nvfp4((256, 128), (2, 1)),
    "grouped_shared": lambda: grouped("SMEM"),
    "grouped_global": lambda: grouped("GMEM"),
}

if __name__ == "__main__":
    sys.exit(PROGRAMS[sys.argv[2]]())
