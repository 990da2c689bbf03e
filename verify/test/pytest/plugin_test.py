"""pytest --bitwell, asked as its users ask it: a suite in a folder, a command, what it prints. Kernels are PTX, memory is NumPy's."""
import json
import pathlib
import re
import subprocess
import sys

import bitwell.gpu
import numpy
import pytest

pytest_plugins = "pytester"

# y[i] = 2 x[i]; of a block of 32 threads.
SUITE = r'''
import bitwell as package
import numpy
import pytest

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry double(.param .u64 x, .param .u64 y)
{
.reg .b32 %r<4>;
.reg .b64 %a<4>;
ld.param.u64 %a0, [x];
ld.param.u64 %a1, [y];
mov.u32 %r0, %tid.x;
mul.wide.u32 %a2, %r0, 4;
add.u64 %a0, %a0, %a2;
add.u64 %a1, %a1, %a2;
ld.global.u32 %r1, [%a0];
add.u32 %r1, %r1, %r1;
st.global.u32 [%a1], %r1;
ret;
}
.visible .entry last(.param .u64 x)
{
.reg .b32 %r<2>;
.reg .b64 %a<2>;
ld.param.u64 %a0, [x];
mov.u32 %r0, %tid.x;
st.global.u32 [%a0], %r0;
ret;
}
.visible .entry unknown(.param .u64 x)
{
.reg .b32 %r<2>;
nanosleepy.u32 %r0;
ret;
}
"""

def launch(gpu, entry, *arrays, threads=32):
    assert package.process() is gpu
    package.Module(PTX)[entry].launch(1, threads, *arrays)

def arrays(n=32):
    return numpy.arange(n, dtype="u4"), numpy.zeros(n, "u4")

def test_double(bitwell):
    x, y = arrays()
    launch(bitwell, "double", x, y)
    assert (y == 2 * x).all()
'''
BEYOND = '''
def test_beyond(bitwell):
    launch(bitwell, "double", *arrays(), threads=64)
'''
CAUGHT = '''
def test_caught(bitwell):
    with pytest.raises(package.Fault):
        launch(bitwell, "double", *arrays(), threads=64)
    bitwell.launched[-1].must_hold = MUST
'''


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs a suite of the text and gives what it printed."""

    def run(text, *options, alone=False, files={}):
        monkeypatch.setattr(bitwell.gpu, "_current", None)
        pytester.makepyfile(test_it=text, **files)
        pytester.syspathinsert()
        runs = pytester.runpytest_subprocess if alone else pytester.runpytest_inprocess
        return runs("-p", "bitwell.pytest", "-p", "no:cacheprovider", *options)

    return run


def test_a_kernel_that_is_right_passes(run):
    result = run(SUITE, "--bitwell")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["bitwell: NVIDIA H200, compute capability 9.0, simulated", "1 test launched 1 kernel, 1 launch, * s in the simulator"])


def test_a_fault_is_the_tests_message_and_can_be_replayed(run, pytester):
    result = run(SUITE + BEYOND, "--bitwell")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *Fault: PTX line *out-of-bounds read of 4 bytes*'x' of 128 bytes*", "E *replay: bitwell run *launch.json",
                                 "fault: test_it.py::test_beyond: double, replay: bitwell run *"])
    assert "report.py" not in result.stdout.str()  # the test's own lines alone
    file = re.search(r"E *replay: bitwell run (\S*)", result.stdout.str()).group(1)
    assert pathlib.Path(file).is_relative_to(pytester.path / ".bitwell")
    again = subprocess.run(["bitwell", "run", file], capture_output=True, text=True)
    assert again.returncode == 1 and "out-of-bounds read of 4 bytes" in again.stderr


def test_a_fault_of_who_knows_nothing_of_bitwell_is_told_though_the_test_caught_it(run):
    run(SUITE + CAUGHT.replace("MUST", "False"), "--bitwell").assert_outcomes(passed=2)  # who calls bitwell may want it
    result = run(SUITE + CAUGHT.replace("MUST", "True"), "--bitwell")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["bitwell: the test went on after this:", "double: *out-of-bounds read*"])


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("caught", [False, True])
def test_what_a_fixture_launches_is_judged_and_told(run, where, caught):
    """In the phase in which it was: what is wrong there is an error of the test."""
    launching = "launch(bitwell, 'double', *arrays(), threads=64)"
    if caught:
        launching = f"with pytest.raises(package.Fault): {launching}\n    bitwell.launched[-1].must_hold = True"
    result = run(SUITE + f'''
@pytest.fixture
def fixture(bitwell):
    {"yield" if where == "after" else ""}
    {launching}
    {"yield" if where == "before" else ""}
def test_with_it(fixture, bitwell):
    launch(bitwell, "double", *arrays())
''', "--bitwell", "-v")
    result.assert_outcomes(passed=2 if where == "after" else 1, errors=1)
    result.stdout.fnmatch_lines(["*replay: bitwell run *launch.json*", f"2 tests launched 1 kernel, {2 if where == 'before' else 3} launches, *",
                                 "fault: test_it.py::test_with_it: double, replay: bitwell run *"])
    assert ("the test went on after this" in result.stdout.str()) == caught


def test_what_is_launched_before_the_tests_is_told(run):
    result = run(SUITE + "\nlaunch(bitwell_gpu.current(), 'double', *arrays())\n".replace("bitwell_gpu", "__import__('bitwell.gpu').gpu"), "--bitwell", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 test launched 1 kernel, 2 launches, *", "while tests were collected: double: 1 launch, held*"])


def test_what_a_test_allocates_and_keeps_is_a_leak(run):
    text = SUITE + '''
def test_leaks(bitwell):
    bitwell.allocate(100, "scratch")
    bitwell.release(bitwell.allocate(200, "buffer"))
@pytest.fixture(scope="module")
def kept(bitwell_of_all):
    address = bitwell_of_all.allocate(300, "weights")
    yield address
    bitwell_of_all.release(address)
@pytest.fixture(scope="module")
def bitwell_of_all():
    return package.process()
def test_uses(kept): pass
def test_once_more(kept): pass
'''
    result = run(text, "--bitwell")
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["*leak: 100 bytes of 'scratch', which the test allocated, are still there*", "leak: test_it.py::test_leaks: *"])
    assert "buffer" not in result.stdout.str() and "weights" not in result.stdout.str()


@pytest.mark.parametrize("options, says", [
    (("--bitwell-races",), "--bitwell-races does nothing without --bitwell"), (("--bitwell-device", "b200"), "--bitwell-device does nothing without --bitwell"),
    (("--bitwell-fmad",), "--bitwell-fmad does nothing without --bitwell"),
    (("--bitwell", "--bitwell-schedules", "-3"), "argument --bitwell-schedules: a number of orders is 1 or more, not '-3'"),
    (("--bitwell", "--bitwell-schedules", "0"), "1 or more, not '0'"), (("--bitwell", "--bitwell-schedules", "many"), "1 or more, not 'many'"),
    (("--bitwell", "--bitwell-device", "b300"), "invalid choice: 'b300'*h200*b200*rtx*")])
def test_options_that_would_do_nothing_are_refused(run, options, says):
    result = run(SUITE, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{says}"])


@pytest.mark.parametrize("mark, says", [
    ("bitwell(\"b200\")", "takes device=, races=, schedules=, and no argument without a name: 'b200'"), ("bitwell(device=\"b300\")", "device='b300'; there are h200, b200, rtx"),
    ("bitwell(devices=\"b200\")", "takes device=, races=, schedules=, not devices="), ("bitwell(schedules=0)", "schedules=0; it is a number, 1 or more"),
    ("bitwell(schedules=True)", "schedules=True; it is a number, 1 or more"), ("bitwell(races=1)", "races=1; it is True or False"), ("bitwell()", "takes device=, races=, schedules="),
    ("bitwell_skip(why=\"so\")", "bitwell_skip takes the reason, not why=")])
def test_markers_that_would_do_nothing_are_refused(run, mark, says):
    result = run(SUITE + f"""
@pytest.mark.{mark}
def test_marked(): pass
""", "--bitwell")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*test_it.py::test_marked: *{says}*"])


def test_races_are_looked_for_where_a_marker_asks(run):
    racing = SUITE + '''
@pytest.mark.bitwell(races=True)
def test_last(bitwell):
    launch(bitwell, "last", arrays()[1], threads=64)
def test_last_unasked(bitwell):
    launch(bitwell, "last", arrays()[1], threads=64)
'''
    run(racing, "--bitwell").assert_outcomes(passed=2, failed=1)
    run(racing.replace("=True", "=False"), "--bitwell", "--bitwell-races").assert_outcomes(passed=2, failed=1)


def test_what_is_not_modelled_fails_and_is_listed_once(run):
    result = run(SUITE + "".join(f'''
def test_unknown_{i}(bitwell):
    launch(bitwell, "unknown", arrays()[0])
''' for i in range(2)), "--bitwell")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["refused in 2 tests: *nanosleepy*test_unknown_0*"])
    assert result.stdout.str().count("refused in") == 1


def test_races_are_looked_for_if_asked(run):
    racing = SUITE + '''
def test_last(bitwell):
    launch(bitwell, "last", arrays()[1], threads=64)
'''
    run(racing, "--bitwell").assert_outcomes(passed=2)
    result = run(racing, "--bitwell", "--bitwell-races")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *race*", "race: test_it.py::test_last: last, replay: bitwell run *"])


def test_schedules_are_tried_if_asked(run):
    order = SUITE + '''
MARK
def test_last(bitwell):
    launch(bitwell, "last", arrays()[1], threads=64)
'''
    run(order.replace("MARK", ""), "--bitwell").assert_outcomes(passed=2)
    for text, options in ((order.replace("MARK", ""), ("--bitwell-schedules", "8")), (order.replace("MARK", "@pytest.mark.bitwell(schedules=8)"), ())):
        result = run(text, "--bitwell", *options)
        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines(["E *schedule*"])


def test_the_device_is_there_before_collection(run):
    text = '''
import bitwell.gpu
CAPABILITY = bitwell.gpu.current().device.capability
def test_capability():
    assert CAPABILITY == {}
'''
    for device, capability in (("h200", (9, 0)), ("b200", (10, 0)), ("rtx", (12, 0))):
        run(text.format(capability), "--bitwell", "--bitwell-device", device).assert_outcomes(passed=1)


def test_markers(run):
    text = SUITE + '''
@pytest.mark.bitwell(device="b200")
def test_blackwell(bitwell):
    assert bitwell.device.sm == 100

@pytest.mark.bitwell_skip("needs two GPUs")
def test_skipped():
    assert False
'''
    result = run(text, "--bitwell", "-rs", "--strict-markers")
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["*for --bitwell-device b200", "*bitwell_skip: needs two GPUs"])
    run(text, "--bitwell", "--bitwell-device", "b200").assert_outcomes(passed=2, skipped=1)
    run(text, "--strict-markers").assert_outcomes(failed=1, skipped=2)  # off: what needs no GPU runs


@pytest.mark.parametrize("target, more, known", [
    ("sm_90", "", "device 1"), ("sm_100a", "", "manual 1 (*)"), ("sm_100a", "rcp.approx.f32 %f0, %f0;", "approximate 1 (rcp.approx.f32)"),
    ("sm_90", "rcp.approx.f32 %f0, %f0;", "device 1"), ("sm_100a", "// rcp.approx.f32 %f0, %f0;\n", "manual 1 (*)"),
    ("sm_90", "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;", "manual 1 (movmatrix.sync.aligned.m8n8.trans.b16)")])
def test_the_summary_says_how_the_bits_are_known(run, target, more, known):
    """By the instructions of the entry that was launched: others of its module count for nothing."""
    result = run(SUITE.replace("def test_double", "def unasked") + f'''
def test_target():
    ptx = PTX.replace("sm_90", "{target}").replace(".version 8.0", ".version 9.0")
    double, last, _ = ptx.split(".visible")[1:]
    before = ".reg .f32 %f0; mov.b32 %f0, 0f3F800000; mov.u32 %r1, 0; "
    double = double.replace("mov.u32 %r0, %tid.x;", before + {more!r} + " mov.u32 %r0, %tid.x;")
    last = last.replace("mov.u32 %r0, %tid.x;", ".reg .f32 %f0; mov.b32 %f0, 0f3F800000; " + "ex2.approx.f32 %f0, %f0; mov.u32 %r0, %tid.x;")
    package.Module(".visible".join([ptx.split(".visible")[0], double, last]))["double"].launch(1, 32, *arrays())
''', "--bitwell")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"how the bits are known, by the weakest of a test: {known}"])


@pytest.mark.parametrize("more, come", [("", 0), ("setp.gt.f32 %p1, %f0, 0f3F000000; @!%p1 ret;", 1)])
def test_the_summary_says_where_approximate_bits_go(run, more, come):
    result = run(SUITE.replace("def test_double", "def unasked") + f'''
def test_target():
    ptx = PTX.replace("sm_90", "sm_100a").replace(".version 8.0", ".version 9.0")
    more = ".reg .f32 %f0; .reg .pred %p1; mov.b32 %f0, 0f3F800000; rcp.approx.f32 %f0, %f0; {more} mov.u32 %r0, %tid.x;"
    package.Module(ptx.replace("mov.u32 %r0, %tid.x;", more, 1))["double"].launch(1, 32, *arrays())
''', "--bitwell")
    result.assert_outcomes(passed=1)
    said = [line for line in result.outlines if line.startswith("approximate bits come to")]
    assert len(said) == come and all("a branch (PTX line " in line and "from rcp.approx.f32 of line" in line for line in said), said


def test_off_it_does_nothing(run):
    result = run('''
import sys
import bitwell
def test_off():
    assert not bitwell.running() and "bitwell._plugin" not in sys.modules
''', alone=True)
    result.assert_outcomes(passed=1)
    assert "simulated" not in result.stdout.str()


def activated(*lines):
    program = "\n".join(["import bitwell", *lines])
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_a_program_has_the_gpu_when_it_asks_for_it():
    ran = activated("gpu = bitwell.activate(device='b200', races=True)", "assert bitwell.running() and gpu is bitwell.process() and gpu.races",
                    "print(gpu.device.name)", "assert bitwell.activate(device='b200') is gpu", "bitwell.activate(device='h200')")
    assert ran.stdout == "NVIDIA B200\n" and "RuntimeError: bitwell.activate: this process has an NVIDIA B200 already" in ran.stderr
    ran = activated("bitwell.activate(device='b300')")
    assert "InputError: bitwell.activate: there is no device 'b300'; there are h200, b200, rtx" in ran.stderr


def test_products_and_sums_as_ptxas_fuses_them(run):
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
    import kernels

    text = f'''
import numpy
import bitwell as b
def test_square(bitwell):
    x, y = numpy.float32([1 + 2**-23]), numpy.float32([1 + 2**-22])
    b.Module({kernels.HEAD + kernels.SQUARE!r})["square"].launch(1, 1, x, y)
    assert y[0] == LEFT
'''
    run(text.replace("LEFT", "0"), "--bitwell").assert_outcomes(passed=1)
    run(text.replace("LEFT", "2**-46"), "--bitwell", "--bitwell-fmad").assert_outcomes(passed=1)
    ran = activated("import numpy", "gpu = bitwell.activate(fmad=True)", "x, y = numpy.float32([1 + 2**-23]), numpy.float32([1 + 2**-22])",
                    f"bitwell.Module({kernels.HEAD + kernels.SQUARE!r})['square'].launch(1, 1, x, y)", "print(y[0] == 2**-46)")
    assert ran.stdout == "True\n", ran.stderr


def test_a_driver_that_is_loaded_is_not_stood_in_for(tmp_path, run):
    (tmp_path / "empty.c").write_text("")
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-o", library, tmp_path / "empty.c"], check=True)
    ran = activated(f"import ctypes; ctypes.CDLL('{library}')", "bitwell.activate()")
    assert f"RuntimeError: bitwell.activate: '{library}' is loaded" in ran.stderr and not ran.stdout
    result = run(SUITE, "--bitwell", "-p", "loads", alone=True, files={"loads": f"import ctypes; ctypes.CDLL('{library}')"})
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*'{library}' is loaded*"])


def test_nothing_heavy_is_imported(run):
    run('''
import sys
def test_light():
    assert not {"torch", "triton", "numpy"} & set(sys.modules)
''', "--bitwell", alone=True).assert_outcomes(passed=1)


def test_loaded_in_a_moment():
    loading = "import time, pytest; t = time.process_time(); import bitwell.pytest, bitwell._plugin; print(time.process_time() - t)"
    took = min(float(subprocess.run([sys.executable, "-c", loading], capture_output=True, text=True, check=True).stdout) for _ in range(3))
    print(f"{took:.3f} s")
    assert took < 0.3


def test_several_workers(run):
    pytest.importorskip("xdist")
    result = run(SUITE + BEYOND, "--bitwell", "-n", "2", alone=True)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["2 tests launched 1 kernel, 2 launches*", "fault: test_it.py::test_beyond: double, replay: bitwell run *"])


def test_junit_has_what_was_launched(run, pytester):
    run(SUITE, "--bitwell", "--junit-xml", "out.xml").assert_outcomes(passed=1)
    told = re.search(r'<property name="bitwell" value="([^"]*)"', (pytester.path / "out.xml").read_text()).group(1)
    assert json.loads(told.replace("&quot;", '"'))["kernels"]["double"]["launches"] == 1


def test_launch_files_go_where_they_were_asked_for(run, pytester):
    run(SUITE + BEYOND, "--bitwell", "--bitwell-report", "found")
    assert list((pytester.path / "found").rglob("launch.json")) and not (pytester.path / ".bitwell").exists()
