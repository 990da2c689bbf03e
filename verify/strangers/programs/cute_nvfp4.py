#!/usr/bin/env python3
"""The CuTe DSL's NVFP4 GEMMs for Blackwell, dense and grouped, by one CTA and by a pair, launched by bitwell.cute.

    python cute_nvfp4.py EXAMPLES [COMMIT]        # in a Python with bitwell, nvidia-cutlass-dsl and NumPy

EXAMPLES is examples/python/CuTeDSL of a CUTLASS checkout; with its COMMIT rows of programs.csv are written. The numbers are such
that fp32 holds every sum, so that each byte of the result is known: it is compared with sums in fp64 of numbers decoded here.
"""
import importlib
import pathlib
import sys
import time
import unittest.mock

import numpy as np

import bitwell
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor, make_fake_stream, make_fake_tensor, make_ptr
from programs import FIELDS, found, write

KERNELS = pathlib.Path(sys.argv[1]) / "cute/blackwell/kernel"
VECTOR = 16  # elements of a scale
ARCH = "sm_100a"
random = np.random.default_rng(1)


def example(folder, module):
    sys.path[:0] = [str(KERNELS / folder), sys.argv[1]]
    for name in ("torch", "cutlass.torch"):  # of what makes their tensors, which is not called
        sys.modules.setdefault(name, unittest.mock.MagicMock())
    return importlib.import_module(module)


# Numbers, from their definitions: sign, exponent, mantissa.
E2M1 = np.array([s * v for s in (1, -1) for v in (0, 0.5, 1, 1.5, 2, 3, 4, 6)])
E4M3 = np.array([(c & 7) * 2.0 ** -9 if c < 8 else (1 + (c & 7) / 8) * 2.0 ** ((c >> 3) - 7) for c in range(127)])
SCALES = np.flatnonzero((E4M3 >= 0.5) & (E4M3 < 2)).astype(np.uint8)  # with all their mantissas


class Operand:
    """A random matrix as NVFP4 has it, k innermost, two elements a byte; its scales in tiles of 128 rows by 4."""

    def __init__(self, rows, k):
        self.codes = random.integers(0, 256, (rows, k // 2), dtype=np.uint8)
        plain = random.choice(SCALES, (rows, k // VECTOR))
        self.scales = np.zeros(-(-rows // 128) * 128 * (-(-k // VECTOR // 4) * 4), np.uint8)
        row, column = np.indices(plain.shape)
        tiles = -(-plain.shape[1] // 4)
        self.scales[((row // 128) * tiles + column // 4) * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4] = plain
        elements = np.stack((E2M1[self.codes & 15], E2M1[self.codes >> 4]), axis=-1).reshape(rows, k)
        self.values = elements * np.repeat(E4M3[plain], VECTOR, axis=1)
        self.codes, self.scales = bitwell.cute.aligned(self.codes), bitwell.cute.aligned(self.scales)


def product(a, b):
    """In fp16, by sums that fp64 holds."""
    return (a.values @ b.values.T).astype(np.float32).astype(np.float16)


def dense(tile, cluster, m=256, n=256, k=256):
    a, b, c = Operand(m, k), Operand(n, k), bitwell.cute.aligned(np.zeros((m, n), np.float16))
    module = example("blockscaled_gemm", "dense_blockscaled_gemm_persistent")
    gemm = module.Sm100BlockScaledPersistentDenseGemmKernel(VECTOR, tile, cluster)
    types = (cutlass.Float4E2M1FN, cutlass.Float4E2M1FN, cutlass.Float8E4M3FN, cutlass.Float8E4M3FN, cutlass.Float16)
    pointers = [make_ptr(t, 0, cute.AddressSpace.gmem, assumed_align=32) for t in types]
    layouts = (module.OperandMajorMode.K, module.OperandMajorMode.K, module.utils.LayoutEnum.ROW_MAJOR)
    compiled = bitwell.cute.compile(gemm, *pointers, layouts, (m, n, k, 1), 4, make_fake_stream(), arch=ARCH)
    return compiled, (a.codes, b.codes, a.scales, b.scales, c, (m, n, k, 1)), (), [(c, product(a, b))]


def grouped(tile, cluster, shapes=((128, 128, 128), (256, 384, 256))):
    module = example("blockscaled_grouped_gemm", "grouped_blockscaled_gemm")
    kernel = module.Sm100GroupedBlockScaledGemmKernel
    groups = [(Operand(m, k), Operand(n, k), bitwell.cute.aligned(np.zeros((m, n), np.float16))) for m, n, k in shapes]
    problem = bitwell.cute.aligned(np.array([(*s, 1) for s in shapes], np.int32))
    strides = bitwell.cute.aligned(np.array([[(k, 1), (k, 1), (n, 1)] for _, n, k in shapes], np.int32))
    matrices = bitwell.cute.aligned(np.array([[x.ctypes.data for x in (a.codes, b.codes, c)] for a, b, c in groups], np.int64))
    scales = bitwell.cute.aligned(np.array([[x.scales.ctypes.data for x in (a, b)] for a, b, _ in groups], np.int64))
    maps = bitwell.cute.aligned(np.zeros((148, kernel.num_tensormaps, kernel.bytes_per_tensormap // 8), np.int64))

    def row_major(dtype):
        return make_fake_tensor(dtype, (cute.sym_int32(), cute.sym_int32(divisibility=32), cute.sym_int32()),
                                (cute.sym_int64(divisibility=32), 1, cute.sym_int64(divisibility=32)), assumed_align=16)

    def whole(array, dtype):
        return make_fake_compact_tensor(dtype, array.shape, stride_order=tuple(range(array.ndim))[::-1], assumed_align=16)

    clusters = sum(-(-m // (128 * cluster[0])) * -(-n // (tile[1] * cluster[1])) for m, n, _ in shapes)
    types = (cutlass.Float4E2M1FN, cutlass.Float4E2M1FN, cutlass.Float16, cutlass.Float8E4M3FN, cutlass.Float8E4M3FN)
    compiled = bitwell.cute.compile(
        kernel(VECTOR, tile, cluster), *map(row_major, types), len(shapes), whole(problem, cutlass.Int32), whole(strides, cutlass.Int32),
        whole(matrices, cutlass.Int64), whole(scales, cutlass.Int64), clusters, whole(maps, cutlass.Int64), 4, make_fake_stream(),
        arch=ARCH, options="--opt-level 2")
    # Tensors that tell types and which dimension is innermost: the kernel takes no byte of them.
    first = [np.zeros((1, 16, 1), np.uint8)] * 2 + [np.zeros((1, 32, 1), np.float16)] + [np.zeros((1, 32, 1), np.uint8)] * 2
    first = [with_strides(bitwell.cute.aligned(x)) for x in first]
    reached = [x for a, b, c in groups for x in (a.codes, a.scales, b.codes, b.scales, c)]
    return compiled, (*first, problem, strides, matrices, scales, maps), reached, [(c, product(a, b)) for a, b, c in groups]


def with_strides(array):
    """(1, n, 1) whose outer strides are n, as its one row has."""
    row = array.shape[1] * array.itemsize
    return np.lib.stride_tricks.as_strided(array, strides=(row, array.itemsize, row))


PROGRAMS = {
    "nvfp4": lambda: dense((128, 128), (1, 1)), "nvfp4_pair": lambda: dense((256, 128), (2, 1)),
    "nvfp4_grouped": lambda: grouped((128, 128), (1, 1)), "nvfp4_grouped_pair": lambda: grouped((256, 128), (2, 1)),
}


def judged(compiled, arguments, reached, expected, **options):
    """What the launch came to, as a cell of the table; whether every element is right; its report."""
    for c, _ in expected:
        c[...] = 0
    (report,) = compiled.launch(*arguments, reaches=reached, check=False, **options)
    right = all((c.view(np.uint16) == e.view(np.uint16)).all() for c, e in expected)
    said = found({"races": [f.__dict__ for f in report.findings]}) if report.fault is None else str(report.fault)
    return ("same" if options.get("schedules") else "held") if report.holds else said or "outputs differ", right, report


def main():
    rows = []
    for name, program in PROGRAMS.items():
        given = program()
        began = time.perf_counter()
        default, right, report = judged(*given)
        took = time.perf_counter() - began
        races, right_too, _ = judged(*given, races=True)
        orders, right_again, _ = judged(*given, schedules=16)
        own = "passed" if right and right_too and right_again else "failed"
        rows.append(dict(zip(FIELDS, (f"bitwell.cute {name}", "".join(sys.argv[2:3]), report.entry[:57] + "...", own, default, races, orders, f"{took:.2f}",
                                      f"{report.lane_instructions / took / 1e6:.0f}"))))
        print(" | ".join(rows[-1].values()), flush=True)
    if len(sys.argv) > 2:
        write(rows)
    return 1 if any(r["own check"] == "failed" for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
