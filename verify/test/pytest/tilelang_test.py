"""What tilelang's host code in Python calls of cuda.bindings, under pytest --bitwell. tilelang itself is in the suites of others:
here a package stands for it that calls the same functions in the same order, with the kernel as PTX."""
import pytest

pytest_plugins = "pytester"

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n)
{
.reg .b32 %r<4>;
.reg .b64 %a<4>;
.reg .pred %p;
ld.param.u64 %a0, [x];
ld.param.u32 %r2, [n];
mov.u32 %r0, %tid.x;
setp.ge.u32 %p, %r0, %r2;
@%p ret;
mul.wide.u32 %a2, %r0, 4;
add.u64 %a0, %a0, %a2;
ld.global.u32 %r1, [%a0];
add.u32 %r1, %r1, %r1;
st.global.u32 [%a0], %r1;
ret;
}
.visible .entry counted(.param .u64 x)
{
.reg .b32 %r<4>;
.reg .b64 %a<4>;
ld.param.u64 %a0, [x];
mov.u32 %r0, %nctaid.x;
st.global.u32 [%a0], %r0;
ret;
}
"""
FILES = {
    "cuda/bindings/driver.py": """
import enum
class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
def cuMemAlloc(size):
    raise RuntimeError("Failed to dlopen libcuda.so.1")
""",
    "tvm/runtime.py": """
class Device:
    def __init__(self, type, index):
        self.type, self.index = type, index
    def _GetDeviceAttr(self, device_type, device_id, attr_id):
        return 0 if attr_id == 0 else None
    def ask(self, attribute):
        return self._GetDeviceAttr(self.type, self.index, attribute)
""",
    "tilelang/jit/adapter/nvrtc/libgen.py": """
def compile_cuda(code, target_format="ptx", arch=None, options=None):
    if arch is None:
        raise ValueError("No CUDA architecture was specified or GPU detected")
    return code.encode() + b"\\0" if target_format == "ptx" else b"machine code"
""",
    "tilelang/compiled.py": """
import ctypes, os, types
import cuda.bindings.driver as driver
from tilelang.jit.adapter.nvrtc import libgen

def kernel(code, name, folder):
    assert os.environ["TILELANG_EXECUTION_BACKEND"] == "nvrtc"
    path = os.path.join(folder, "k.cubin")
    with open(path, "wb") as file:
        file.write(libgen.compile_cuda(code, target_format="cubin"))
    context = driver.cuCtxGetCurrent()[1]
    assert driver.cuCtxGetApiVersion(context)[0] == 0
    result, library = driver.cuLibraryLoadFromFile(bytes(path, "utf-8"), [], [], 0, [], [], 0)
    assert result == driver.CUresult.CUDA_SUCCESS
    result, found = driver.cuLibraryGetKernel(library, name.encode())
    assert result == driver.CUresult.CUDA_SUCCESS
    return found

def launch(kernel, values, types_, grid=1, block=32, attributes=None):
    config = types.SimpleNamespace(gridDimX=grid, gridDimY=1, gridDimZ=1, blockDimX=block, blockDimY=1, blockDimZ=1, sharedMemBytes=0,
                                   hStream=0, numAttrs=len(attributes or ()), attrs=attributes)
    assert driver.cuKernelSetAttribute(8, 0, kernel, 0)[0] == 0
    assert driver.cuLaunchKernelEx(config, kernel, (values, types_), 0)[0] == 0
""",
}


@pytest.fixture
def suite(pytester, monkeypatch):
    for name, text in FILES.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in ("cuda", "cuda/bindings", "tvm", "tilelang", "tilelang/jit", "tilelang/jit/adapter", "tilelang/jit/adapter/nvrtc"):
        (pytester.path / folder / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=":")
    monkeypatch.delenv("TILELANG_EXECUTION_BACKEND", raising=False)

    def run(body):
        pytester.makepyfile(test_it=f"import ctypes, numpy, types\nPTX = {PTX!r}\nfrom tilelang import compiled\n" + body)
        return pytester.runpytest_subprocess("--bitwell", "-p", "no:cacheprovider", "-p", "bitwell.pytest")

    return run


def test_arguments_reach_the_kernel_by_their_types(suite):
    result = suite("""
def test_it(tmp_path, bitwell):
    x = numpy.arange(32, dtype="u4")
    bitwell.adopt(x.ctypes.data, x.nbytes)
    compiled.launch(compiled.kernel(PTX, "twice", tmp_path), (x.ctypes.data, 5), (ctypes.c_void_p, ctypes.c_int32))
    assert list(x[:7]) == [0, 2, 4, 6, 8, 5, 6]
    compiled.launch(compiled.kernel(PTX, "counted", tmp_path), x.ctypes.data, ctypes.c_void_p, grid=3)  # a single argument is no tuple
    assert x[0] == 3
    bitwell.release(x.ctypes.data)
""")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 test launched 2 kernels*"])


def test_the_compilers_runtime_sees_the_gpu(suite):
    result = suite("""
def test_it():
    from tvm.runtime import Device
    cuda, other, rocm = Device(2, 0), Device(2, 1), Device(10, 0)
    assert [d.ask(0) for d in (cuda, other, rocm)] == [1, 0, 0]
    assert cuda.ask(4) == "9.0" and "H200" in cuda.ask(5) and cuda.ask(7) == 132 and other.ask(4) is None and rocm.ask(4) is None
""")
    result.assert_outcomes(passed=1)


def test_a_fault_is_the_tests_message(suite):
    result = suite("""
def test_it(tmp_path, bitwell):
    x = numpy.arange(8, dtype="u4")
    bitwell.adopt(x.ctypes.data, x.nbytes)
    compiled.launch(compiled.kernel(PTX, "twice", tmp_path), (x.ctypes.data, 9), (ctypes.c_void_p, ctypes.c_int32))
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Fault: PTX line 16*out-of-bounds read of 4 bytes*"])


def test_what_is_not_known_is_refused_by_name(suite):
    result = suite("""
def test_attribute(tmp_path, bitwell):
    compiled.launch(compiled.kernel(PTX, "counted", tmp_path), 0, ctypes.c_void_p, attributes=[types.SimpleNamespace(id=9, value=None)])
def test_by_value(tmp_path, bitwell):
    compiled.launch(compiled.kernel(PTX, "counted", tmp_path), "x", None)
""")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*Unsupported: tilelang launches with the attribute 9*", "*Unsupported: tilelang passes 'x' by value*"])
