"""tilelang under bitwell: of its execution backends the one whose host code is Python, `nvrtc`.

tilelang compiles as ever, to PTX. What its host code calls of `cuda.bindings.driver`, nine functions, is answered here; every other
one of them finds no driver library. A backend that a test asks for by name loads a driver library by itself, and finds none either.
"""
import ctypes
import os
import pathlib
import sys

from . import _native, gpu

CLUSTER, PROGRAMMATIC, COOPERATIVE = 4, 6, 2  # CUlaunchAttributeID


class Kernel:
    def __init__(self, ptx: str, entry: str):
        self.ptx, self.entry = ptx, entry


class Map(bytes):
    """A tensor map's."""


def packed(value, type) -> bytes:
    """An argument as the launch takes it: of a tensor map the bytes, of anything else what ctypes makes of it."""
    if type is None:
        if not isinstance(value, Map):
            raise _native.Unsupported(f"tilelang passes {value!r} by value, which is no tensor map")
        return bytes(value)
    return bytes(type(value))


class Driver:
    """The functions, by their names; each answers as cuda.bindings does, with the status first."""

    def __init__(self, success):
        self.success = success

    def functions(self):
        return {name: getattr(self, name) for name in dir(self) if name.startswith("cu")}

    def cuCtxGetCurrent(self):
        return self.success, 1

    def cuCtxGetApiVersion(self, context):
        return self.success, 0

    def cuLibraryLoadFromFile(self, path, *_):
        image = pathlib.Path(os.fsdecode(path)).read_bytes()
        return self.success, image.rstrip(b"\0").decode()

    def cuLibraryUnload(self, library):
        return (self.success,)

    def cuLibraryGetKernel(self, library, name):
        return self.success, Kernel(library, name.decode())

    def cuKernelSetAttribute(self, *_):
        """The limit of shared memory, which the launch is held to anyway."""
        return (self.success,)

    def cuTensorMapEncodeTiled(self, type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion, fill):
        return self.success, Map(_native.tensor_map(int(type), int(address), *([int(n) for n in list] for list in (sizes, strides, box, steps)),
                                                    int(interleave), int(swizzle), int(promotion), int(fill)))

    def cuTensorMapEncodeIm2col(self, *_):
        raise _native.Unsupported("tilelang's tensor maps of im2col are not made without a driver")

    def cuLaunchKernelEx(self, config, kernel, arguments, extra):
        __tracebackhide__ = True
        capture = sys.modules.get("bitwell.torch.capture")
        if capture is not None and capture.Log.open is not None:
            raise _native.Unsupported("a CUDA graph that captures tilelang's launches: its tensors are known only by their addresses")
        values, types = (of if isinstance(of, (tuple, list)) else (of,) for of in arguments)  # of a kernel with one argument no tuple
        asked = {int(a.id): a.value for a in list(config.attrs or ())[:config.numAttrs]}
        for unknown in asked.keys() - {CLUSTER, PROGRAMMATIC, COOPERATIVE}:
            raise _native.Unsupported(f"tilelang launches with the attribute {unknown}, which bitwell.tilelang does not know")
        of = asked.get(CLUSTER)
        now = gpu.current()
        report = now.launch(now.module_of(kernel.ptx), kernel.entry, (config.gridDimX, config.gridDimY, config.gridDimZ),
                            (config.blockDimX, config.blockDimY, config.blockDimZ), [packed(v, t) for v, t in zip(values, types, strict=True)],
                            cluster=None if of is None else (of.clusterDim.x, of.clusterDim.y, of.clusterDim.z),
                            shared=config.sharedMemBytes, cooperative=bool(asked[COOPERATIVE].cooperative) if COOPERATIVE in asked else False,
                            programmatic=bool(PROGRAMMATIC in asked and asked[PROGRAMMATIC].programmaticStreamSerializationAllowed),
                            must_hold=True)
        print(report.printed, end="")
        report.check()
        return (self.success,)


CUDA = 2  # DLDeviceType


def device_attribute(raw):
    """What TVM asks of a device, by its own numbers (DeviceAttrKind), of the GPU; tests ask whether it is there. None: TVM does not know."""

    def of(self, device_type, device_id, attribute):
        if int(device_type) != CUDA:
            return raw(self, device_type, device_id, attribute)
        device = gpu.current().device
        if device_id != 0:
            return 0 if attribute == 0 else None
        return {0: 1, 1: 1024, 2: 32, 3: 48 << 10, 4: "%d.%d" % device.capability, 5: device.name, 6: 1000 * device.clock, 7: device.processors,
                8: "[1024, 1024, 64]", 9: 64 << 10, 13: device.l2, 14: device.memory}.get(attribute)

    return of


def activate() -> None:
    """tilelang has been imported; it asks the environment for its backend whenever it compiles."""
    os.environ.setdefault("TILELANG_EXECUTION_BACKEND", "nvrtc")
    try:
        import cuda.bindings.driver as driver
        from tilelang.jit.adapter.nvrtc import libgen
        from tvm.runtime import Device
    except ImportError as error:
        gpu.current().note(f"tilelang's kernels are not run: {error}; pip install cuda-bindings")
        return
    answers = Driver(driver.CUresult.CUDA_SUCCESS)
    for name, function in answers.functions().items():
        setattr(driver, name, function)
    Device._GetDeviceAttr = device_attribute(Device._GetDeviceAttr)
    compiled = libgen.compile_cuda

    def compile_ptx(code, target_format="ptx", arch=None, **more):
        return compiled(code, target_format="ptx", arch=gpu.current().device.sm if arch is None else arch, **more)

    libgen.compile_cuda = compile_ptx
