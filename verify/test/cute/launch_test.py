"""Functions of the CuTe DSL on arrays; what they give is NumPy's. Run by cute.sh."""
import os
import pathlib
import subprocess
import sys

import cutlass
import cutlass.cute as cute
import ml_dtypes
import numpy as np
import pytest
from cutlass.cute.runtime import from_dlpack, make_fake_compact_tensor, make_fake_stream, make_fake_tensor, make_ptr

import bitwell
import functions

LINES = pathlib.Path(functions.__file__).read_text().splitlines()
TARGETS = ("sm_90a", "sm_100a")


def line_of(text):
    (found,) = [i for i, line in enumerate(LINES, 1) if text in line]
    return found


def rows(dtype, m, n, align=None):
    return make_fake_compact_tensor(dtype, (m, n), stride_order=(1, 0), assumed_align=align)


def numbers(m, n):
    return np.arange(m * n, dtype=np.float32).reshape(m, n)


# Extents and strides that are known to the compiler, or passed: each has its place and width in what host code is given.
SYMBOLS = {
    "known": lambda: ((3, 40), (40, 1)),
    "rows": lambda: ((cute.sym_int32(), 40), (40, 1)),
    "wide rows": lambda: ((cute.sym_int64(), 40), (40, 1)),
    "wide columns": lambda: ((cute.sym_int32(), cute.sym_int64()), (cute.sym_int64(), 1)),
    "step": lambda: ((3, 40), (cute.sym_int64(), 1)),
    "narrow step": lambda: ((3, 40), (cute.sym_int32(), 1)),
    "wide row, narrow step": lambda: ((cute.sym_int64(), cute.sym_int32()), (cute.sym_int32(), 1)),
    "all narrow": lambda: ((cute.sym_int32(), cute.sym_int32()), (cute.sym_int32(), cute.sym_int32())),
    "all": lambda: ((cute.sym_int32(), cute.sym_int32()), (cute.sym_int64(), cute.sym_int64())),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("symbols", SYMBOLS)
def test_extents_and_strides_reach_the_kernel(symbols, target):
    fakes = [make_fake_tensor(cutlass.Float32, *SYMBOLS[symbols]()) for _ in range(2)]
    compiled = bitwell.cute.compile(functions.copy, *fakes, arch=target)
    assert f".target {target}" in compiled.ptx and compiled.arch == target
    x, y = numbers(3, 40), np.zeros((3, 40), np.float32)
    (report,) = compiled(x, y)
    assert report.holds and (y == x).all()


def test_a_view_has_its_own_strides():
    fakes = [make_fake_tensor(cutlass.Float32, *SYMBOLS["all"]()) for _ in range(2)]
    compiled = bitwell.cute.compile(functions.copy, *fakes)
    x, y = numbers(40, 6), np.zeros((3, 80), np.float32)
    compiled(x[:, ::2].T, y[:, 40:])
    assert (y[:, 40:] == x[:, ::2].T).all() and not y[:, :40].any()


FORMATS = {
    "fp16": (cutlass.Float16, np.float16), "bf16": (cutlass.BFloat16, ml_dtypes.bfloat16), "fp32": (cutlass.Float32, np.float32),
    "e4m3": (cutlass.Float8E4M3FN, ml_dtypes.float8_e4m3fn), "e5m2": (cutlass.Float8E5M2, ml_dtypes.float8_e5m2),
}


@pytest.mark.parametrize("format", FORMATS)
def test_formats_are_numpys_and_those_of_ml_dtypes(format):
    element, dtype = FORMATS[format]
    compiled = bitwell.cute.compile(functions.halves, rows(element, 2, 16, 16), rows(cutlass.Float16, 2, 16))
    x, y = np.linspace(-4, 4, 32).reshape(2, 16).astype(dtype), np.zeros((2, 16), np.float16)
    compiled(bitwell.cute.aligned(x.view(np.uint8)).view(dtype), y)
    assert (y == x.astype(np.float16)).all()


def test_bytes_hold_two_numbers_of_fp4():
    compiled = bitwell.cute.compile(functions.halves, rows(cutlass.Float4E2M1FN, cute.sym_int32(), 32, 16), rows(cutlass.Float16, 2, 32), arch="sm_100a")
    codes, y = bitwell.cute.aligned(np.random.default_rng(0).integers(0, 256, (2, 16), dtype=np.uint8)), np.zeros((2, 32), np.float16)
    compiled(codes, y)
    values = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float16)
    assert (y.view(np.uint16) == np.stack((values[codes & 15], values[codes >> 4]), -1).reshape(2, 32).view(np.uint16)).all()


def test_addresses_stand_for_pointers():
    pointers = [make_ptr(cutlass.Float32, 0, cute.AddressSpace.gmem, assumed_align=4) for _ in range(2)]
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    bitwell.cute.compile(functions.scale, *pointers, 100, 3.0).launch(x.ctypes.data, y.ctypes.data, 99, reaches=[x, y])
    assert (y == 3 * x).all()


def test_a_fault_has_the_functions_line_and_the_arrays_name():
    gmem = cute.AddressSpace.gmem
    pointers = [make_ptr(cutlass.Float32, 0, gmem, assumed_align=4) for _ in range(2)]
    compiled = bitwell.cute.compile(functions.scale, *pointers, 100, 3.0)
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    compiled(x, y, 99)
    assert (y == 3 * x).all()
    with pytest.raises(bitwell.Fault) as caught:
        compiled(x, y, 100)
    fault = caught.value
    assert (pathlib.Path(fault.source.file).name, fault.source.line) == ("functions.py", line_of("b[i] = a[i] * factor"))
    assert fault.thread == (4, 0, 0) and fault.cta == (3, 0, 0) and fault.access.object == "x" and "400 bytes into 'x'" in str(fault)
    assert fault.__suppress_context__  # not the DSL's, which knows nothing of it
    (report,) = compiled.launch(x, y, 100, check=False)
    assert report.fault is not None and not report.holds


def test_several_kernels_have_a_report_each_and_a_stream_may_be_left_out():
    fake = make_fake_compact_tensor(cutlass.Float32, (32,))
    compiled = bitwell.cute.compile(functions.Steps(2), fake, 0.0, make_fake_stream())
    x = np.zeros(32, np.float32)
    assert [("add" in r.entry, r.holds) for r in compiled(x, 1)] == [(True, True), (False, True)] * 2
    assert (x == 6).all()
    compiled(x=x, addend=-3.0)
    assert (x == 6).all()


def test_tensors_of_the_dsl_and_tuples_are_taken():
    x, y = numbers(2, 32), np.zeros((2, 32), np.float32)
    tensors = [from_dlpack(a).mark_layout_dynamic() for a in (x, y)]
    bitwell.cute.compile(functions.copy, *tensors)(*tensors)
    assert (y == x).all()
    y[...] = 0
    bitwell.cute.compile(functions.copy, *tensors)(x, y)
    assert (y == x).all()
    y[...] = 0
    bitwell.cute.compile(functions.pair, (rows(cutlass.Float32, 2, 32), rows(cutlass.Float32, 2, cute.sym_int32())))((x, y))
    assert (y == x).all()


def test_calls_for_tvm_leave_out_the_stream_wherever_it_stands_and_give_pythons_numbers_in_tuples():
    fakes = [make_fake_compact_tensor(cutlass.Int32, (32,)) for _ in range(2)]
    stream = make_fake_stream(use_tvm_ffi_env_stream=True)
    scaling = functions.Scaling(cutlass.Int32(1), None, cutlass.Int32(1))
    compiled = bitwell.cute.compile(functions.scaled, fakes[0], scaling, stream, fakes[1], options="--enable-tvm-ffi")
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    compiled(x, functions.Scaling(3, None, 7), y)
    assert (y == 3 * x + 7).all()


def test_clusters_and_what_kernels_print(capfd):
    x = np.full(4, -1, np.int32)
    bitwell.cute.compile(functions.ranks, make_fake_compact_tensor(cutlass.Int32, (4,)))(x)
    assert x.tolist() == [0, 0, 0, 0] or x.tolist() == [0, 1, 0, 1]
    assert x.tolist() == [0, 1, 0, 1]
    assert "CTA 2 of rank 0" in capfd.readouterr().out


@pytest.mark.parametrize("target", TARGETS)
def test_host_code_makes_tensor_maps(target):
    compiled = bitwell.cute.compile(functions.tiles, rows(cutlass.Float32, cute.sym_int32(), 32, 16), rows(cutlass.Float32, cute.sym_int32(), 32, 16), arch=target)
    x, y = (bitwell.cute.aligned(a) for a in (numbers(32, 32), np.zeros((32, 32), np.float32)))
    (report,) = compiled.launch(x, y, races=True, schedules=4)
    assert report.holds and (y == x).all()


def test_races_orders_and_bytes_that_nobody_wrote():
    fake = make_fake_compact_tensor(cutlass.Float32, (64,))
    x = np.arange(64, dtype=np.float32)
    (report,) = bitwell.cute.compile(functions.turn, fake, True).launch(x, races=True, schedules=4)
    assert report.holds and (x == 64 - np.arange(64)).all()
    bad = bitwell.cute.compile(functions.turn, fake, False)
    with pytest.raises(bitwell.RaceError) as caught:
        bad.launch(x, races=True)
    finding = caught.value.findings[0]
    assert {finding.earlier.source.line, finding.later.source.line} == {line_of("value = tile[63 - i]"), line_of("tile[i] = value + 1")}
    compiled = bitwell.cute.compile(functions.copy, rows(cutlass.Float32, 2, 32), rows(cutlass.Float32, 3, 32))
    source, to = numbers(2, 32), np.zeros((3, 32), np.float32)
    compiled.launch(source, to, undefined=[to])
    with pytest.raises(bitwell.Fault, match="was never written"):
        compiled.launch(source, to, undefined=[source])
    with pytest.raises(bitwell.Fault, match="nobody wrote|never written|not written"):
        compiled.launch(source, to, undefined=[to], outputs=[to], all_written=True)


def test_arrays_behind_addresses_are_named():
    there = np.zeros(32, np.float32)
    table = np.array([there.ctypes.data])
    compiled = bitwell.cute.compile(functions.follow, make_fake_compact_tensor(cutlass.Int64, (1,)))
    with pytest.raises(bitwell.Fault):
        compiled(table)
    compiled.launch(table, reaches=[there])
    assert (there == np.arange(32)).all()


WRONG = {
    "'x': extent 4 of dimension 0, where it was compiled for 2": (lambda: rows(cutlass.Float32, 2, 32), lambda: numbers(4, 32)),
    "'x': stride 64 of dimension 0, where it was compiled for 32": (lambda: rows(cutlass.Float32, 2, 32), lambda: numbers(2, 64)[:, :32]),
    "'x' has 1 dimensions": (lambda: rows(cutlass.Float32, 2, 32), lambda: numbers(1, 64)[0]),
    "'x': elements of 16 bits for a tensor of 32 bits": (lambda: rows(cutlass.Float32, 2, 32), lambda: numbers(2, 32).astype(np.float16)),
    "'x': elements of 16 bits for a tensor of 4 bits": (lambda: rows(cutlass.Float4E2M1FN, 2, 32, 16), lambda: numbers(2, 32).astype(np.float16)),
    "'x': extent 30 of dimension 1 is no multiple of 4": (lambda: rows(cutlass.Float32, 2, cute.sym_int32(divisibility=4)), lambda: numbers(2, 30)),
    "no multiple of the 64 bytes": (lambda: rows(cutlass.Float32, 2, 32, 64), lambda: bitwell.cute.aligned(numbers(3, 32)).reshape(-1)[4:68].reshape(2, 32)),
    "3 arguments for a function of 2: x, y": (lambda: rows(cutlass.Float32, 2, 32), lambda: (numbers(2, 32), numbers(2, 32))),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_an_array_is_not(message):
    fake, array = WRONG[message]
    function = functions.halves if fake().element_type.width < 8 else functions.copy  # elements of four bits are not loaded alone
    element = cutlass.Float16 if function is functions.halves else fake().element_type
    compiled = bitwell.cute.compile(function, fake(), rows(element, 2, 32), arch="sm_100a")
    given = array()
    with pytest.raises(bitwell.InputError, match=message):
        compiled(*(given if isinstance(given, tuple) else (given,)), np.zeros((2, 32), np.float32))


def test_an_array_that_is_read_only_stays_so():
    x, y = numbers(2, 32), np.zeros((2, 32), np.float32)
    y.flags.writeable = False
    with pytest.raises(bitwell.Fault, match="'y'"):
        bitwell.cute.compile(functions.copy, *(rows(cutlass.Float32, 2, 32) for _ in range(2)))(x, y)


def test_targets_and_options():
    fakes = [rows(cutlass.Float32, 2, 32) for _ in range(2)]
    assert ".target sm_90a" in bitwell.cute.compile(functions.copy, *fakes).ptx
    assert ".target sm_100a" in bitwell.cute.compile(functions.copy, *fakes, options="--gpu-arch sm_100a --opt-level 2").ptx
    for message, named in (("one architecture", dict(options="--gpu-arch sm_90a", arch="sm_100a")), ("there is no device for 'sm_80'", dict(arch="sm_80")),
                           ("as text", dict(options=cute.KeepPTX if hasattr(cute, "KeepPTX") else 1))):
        with pytest.raises(bitwell.InputError, match=message):
            bitwell.cute.compile(functions.copy, *fakes, **named)


def test_the_dsls_own_calls_go_where_they_went():
    fakes = [rows(cutlass.Float32, 2, 32) for _ in range(2)]
    bitwell.cute.compile(functions.copy, *fakes)
    own = cute.compile(functions.copy, *fakes, options="--gpu-arch sm_90a")
    assert type(own).__module__.startswith("cutlass.") and not own.__ptx__
    with pytest.raises(Exception) as caught:  # there is no GPU, or arrays of the CPU are none of its own
        own(*[from_dlpack(a) for a in (numbers(2, 32), numbers(2, 32))])
    assert not isinstance(caught.value, bitwell.Verdict)


def test_a_program_ends_quietly_and_nothing_is_imported_before():
    code = ("import sys, bitwell; assert 'cutlass' not in sys.modules; import numpy as np, functions; from launch_test import rows, cutlass\n"
            "f = bitwell.cute.compile(functions.copy, rows(cutlass.Float32, 2, 32), rows(cutlass.Float32, 2, 32))\n"
            "x = np.ones((2, 32), np.float32); f(x, x); print('done')")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=pathlib.Path(__file__).parent,
                         env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
    assert (ran.stdout, ran.stderr, ran.returncode) == ("done\n", "", 0)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
