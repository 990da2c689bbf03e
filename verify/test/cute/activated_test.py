"""A program in the CuTe DSL that knows nothing of bitwell, after bitwell.cute.activate(). Run by cute.sh."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
HEAD = """
import bitwell; bitwell.cute.activate()
import numpy as np, cutlass, cutlass.cute as cute, cutlass.testing, functions
from cutlass.cute.runtime import from_dlpack, make_fake_compact_tensor
x, y = np.arange(64, dtype=np.float32).reshape(2, 32), np.zeros((2, 32), np.float32)
tensors = [from_dlpack(a) for a in (x, y)]
process = bitwell.process()
for a in (x, y): process.adopt(a.ctypes.data, a.nbytes)
"""


def said(program):
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", HEAD + program], capture_output=True, text=True, cwd=HERE, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"})
    assert ran.returncode == 0 and ran.stderr == "", ran.stderr
    return ran.stdout.splitlines()


def test_what_is_compiled_and_called_is_launched_here():
    assert said("""
functions.copy(*tensors)
print((y == x).all(), process.launches)
y[...] = 0
compiled = cute.compile(functions.copy, *tensors)
compiled(*tensors)
print((y == x).all(), type(compiled).__name__, process.launches)
y[...] = 0
compiled.to(0)(*tensors)
print((y == x).all(), process.launches)
""") == ["True 1", "True Compiled 2", "True 3"]


def test_functions_for_tvm_ffi_take_arrays():
    assert said("""
fake = make_fake_compact_tensor(cutlass.Float32, (2, cute.sym_int32()), stride_order=(1, 0))
other = make_fake_compact_tensor(cutlass.Float32, (2, cute.sym_int32()), stride_order=(1, 0))
cute.compile(functions.copy, fake, other, options="--enable-tvm-ffi")(x, y)
print((y == x).all())
""") == ["True"]


def test_what_goes_wrong_is_bitwells():
    assert said("""
process.release(y.ctypes.data)
for function in (lambda: functions.copy(*tensors), lambda: cute.compile(functions.copy, *tensors).to(0)(*tensors)):
    try:
        function()
    except bitwell.Fault as fault:
        print(fault.source.file.split("/")[-1], fault.access.kind)
""") == ["functions.py write"] * 2


def test_blocks_of_a_multiprocessor_share_its_memory():
    assert said("""
functions.copy_by_two(*tensors)
print((y == x).all())
""") == ["True"]


def test_questions_about_the_gpu_and_benchmarks_are_answered():
    assert said("""
info = cutlass.utils.HardwareInfo()
print(info.get_max_active_clusters(1), info.get_max_active_clusters(2), info.get_device_multiprocessor_count(), info.get_l2_cache_size_in_bytes())
print(cutlass.testing.benchmark(functions.copy, iterations=10, kernel_arguments=cutlass.testing.JitArguments(*tensors)), process.launches)
""") == [f"132 66 132 {60 << 20}", "1.0 1"]


@pytest.mark.parametrize("device, processors", [("h200", 132), ("b200", 148)])
def test_pytest_shows_the_gpu_that_it_is_asked_for(device, processors, tmp_path):
    (tmp_path / "gpu_test.py").write_text(f"""
import cutlass, functions
def test_gpu():
    from cutlass.cutlass_dsl import CuTeDSL
    assert cutlass.utils.HardwareInfo().get_device_multiprocessor_count() == {processors}
    assert CuTeDSL._get_dsl().envar.arch == "sm_{ {'h200': '90', 'b200': '100'}[device] }a"
""")
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    environment.pop("CUTE_DSL_ARCH", None)
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "bitwell.pytest", "-p", "no:cacheprovider", "--bitwell", "--bitwell-device", device, "gpu_test.py"],
                         cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
