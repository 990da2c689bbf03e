"""What the DSL's host code calls of a CUDA runtime, answered by a process of bitwell.

The calls come from compiled code, through which no exception passes: it is kept, and `Call` raises it afterwards.
"""
from __future__ import annotations

import ctypes
import re
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from .. import _native
from ..devices import DEVICES
from ..module import Module
from ..process import Process, process
from ..report import Report

SUCCESS, UNKNOWN, NOT_SUPPORTED = 0, 999, 801
COOPERATIVE, CLUSTER, PROGRAMMATIC = 2, 4, 6  # cudaLaunchAttributeID
STATIC_SHARED = 1  # CUfunction_attribute

TARGETS = {"sm_90": "h200", "sm_100": "b200", "sm_103": "b200", "sm_120": "rtx"}


def device_for(arch: str):
    """The GPU that runs what was compiled for it."""
    number = arch.rstrip("af")
    if number not in TARGETS:
        raise _native.InputError(f"there is no device for '{arch}'; there are sm_90a, sm_100a, sm_103a and sm_120a")
    return DEVICES[TARGETS[number]]


def target_of(ptx: str) -> str:
    found = re.search(r"^\.target (\w+)", ptx, re.M)
    return found.group(1) if found else ""


def device_now():
    """That of the process, or the one for what is compiled."""
    from .dsl import arch_now

    return getattr(process(), "device", None) or device_for(target_of(call().ptx) or arch_now())


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    """cudaLaunchConfig_t."""
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared", ctypes.c_size_t),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint32)]


@dataclass(frozen=True)
class Kernel:
    process: Process
    module: int
    entry: str
    sizes: tuple[int, ...]  # of its parameters, in bytes


class Library:
    """The PTX of one compiled function, loaded; its kernels by name."""

    def __init__(self, ptx: str):
        self.module = Module(ptx)
        self.kernels = {name: Kernel(self.module.process, self.module.number, name, tuple(p.bytes for p in entry.parameters))
                        for name, entry in self.module.entries.items()}
        for entry in self.module.entries.values():  # as the DSL has it of all its kernels
            entry.allow_non_portable_clusters()


@dataclass
class Call:
    """One call of a compiled function on this thread: what its launches are asked, what they came to, and what went
    wrong in one of them."""
    ptx: str = ""  # of the function that was loaded last
    check: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    error: Optional[BaseException] = None

    def raise_error(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error.with_traceback(None) from None


_thread = threading.local()
_handles: list[Any] = [None]  # libraries and kernels, by the number that host code has for them


def call() -> Call:
    """That of this thread."""
    found = getattr(_thread, "call", None)
    if found is None:
        found = _thread.call = Call()
    return found


class calling:
    """A call of this thread's own within the block."""

    def __init__(self, new: Call):
        self.new = new

    def __enter__(self) -> Call:
        self.before, _thread.call = call(), self.new
        return self.new

    def __exit__(self, *_) -> None:
        _thread.call = self.before


def forget() -> None:
    """Before Python ends, as what they hold must."""
    _handles.clear()
    _thread.__dict__.clear()


def handle(thing: Any) -> int:
    _handles.append(thing)
    return len(_handles) - 1


def pointer_at(address: int):
    return ctypes.c_void_p.from_address(address)


def int_at(address: int):
    return ctypes.c_int32.from_address(address)


# The functions, by the DSL's names, each with as many of its arguments as matter, as words.
def load_data(library, image):
    if not call().ptx:
        raise _native.InputError("the CuTe DSL kept no PTX of this function: compile it by bitwell.cute.compile, or after bitwell.cute.activate()")
    pointer_at(library).value = handle(Library(call().ptx))


def unload(library):
    _handles[library].module.unload()


def get_kernel(kernel, library, name):
    written = ctypes.string_at(name).decode()
    kernels = _handles[library].kernels
    if written not in kernels:
        raise _native.InputError(f"the kernel '{written}' is not in the PTX that the CuTe DSL kept, which has {', '.join(kernels)}")
    pointer_at(kernel).value = handle(kernels[written])


def kernel_attribute(value, attribute):
    if attribute != STATIC_SHARED:
        raise _native.Unsupported(f"the CuTe DSL asks for the kernel's attribute {attribute}, which is known only of machine code")
    int_at(value).value = 0  # the DSL's kernels have dynamic shared memory, whose limit is the launch's matter


def device_attribute(value, attribute):
    device = device_now()
    known = {1: 1024, 8: 48 << 10, 10: 32, 16: device.processors, 39: device.threads, 75: device.capability[0],
             76: device.capability[1], 81: device.shared + 1024, 95: 1, 97: device.shared}
    if attribute not in known:
        raise _native.Unsupported(f"the CuTe DSL asks for the device's attribute {attribute}, which bitwell.cute does not answer")
    int_at(value).value = known[attribute]


def device_properties(*_):
    raise _native.Unsupported("the CuTe DSL asks for all the device's properties, which bitwell.cute does not answer")


def zero(value):
    int_at(value).value = 0


def one(value):
    int_at(value).value = 1


def nothing():
    """Work is done when it is asked for."""


def launch_ex(config, kernel, values):
    found, config = _handles[kernel], LaunchConfig.from_address(config)
    asked = {a.id: a.value for a in config.attributes[:config.count]} if config.count else {}
    start(found, config.grid, config.block, values, config.shared, tuple(asked[CLUSTER][:3]) if CLUSTER in asked else None,
          bool(COOPERATIVE in asked and asked[COOPERATIVE][0]), bool(PROGRAMMATIC in asked and asked[PROGRAMMATIC][0]))


def start(kernel: Kernel, grid, block, values, shared, cluster, cooperative, programmatic) -> None:
    now = call()
    words = (ctypes.c_void_p * len(kernel.sizes)).from_address(values) if kernel.sizes else ()
    arguments = [ctypes.string_at(word, size) for word, size in zip(words, kernel.sizes)]
    more = dict(now.options)
    if hasattr(kernel.process, "launched"):  # of pytest: whoever called this may not know what it raises
        more["must_hold"] = True
    report = kernel.process.launch(kernel.module, kernel.entry, tuple(grid), tuple(block), arguments, cluster=cluster, shared=shared,
                                   cooperative=cooperative, programmatic=programmatic, **more)
    now.reports.append(report)
    sys.stdout.write(report.printed)
    if now.check:
        report.check()
    elif report.fault is not None:
        raise Stopped


class Stopped(Exception):
    """A launch ended in a fault that its report has: host code goes no further."""


# Of words of the arguments so many; the rest of what is passed is left where it is.
FUNCTIONS: dict[str, tuple[int, Callable[..., None]]] = {
    "_cudaLibraryLoadData": (2, load_data), "_cudaLibraryUnload": (1, unload), "_cudaLibraryGetKernel": (3, get_kernel),
    "_cuKernelGetAttribute": (2, kernel_attribute), "_cudaDeviceGetAttribute": (2, device_attribute),
    "_cudaGetDeviceProperties": (2, device_properties), "_cudaKernelSetAttributeForDevice": (0, nothing),
    "_cudaFuncSetAttribute": (0, nothing), "_cudaGetDevice": (1, zero), "_cudaSetDevice": (0, nothing), "_cudaGetDeviceCount": (1, one),
    "_cudaDeviceSynchronize": (0, nothing), "_cudaStreamSynchronize": (0, nothing), "_cudaLaunchKernelEx": (3, launch_ex),
}
REFUSED = ("_cudaLaunchKernel", "_cuTensorMapEncodeTiled", "_cudaMalloc", "_cudaMallocAsync", "_cudaMallocHost", "_cudaMallocManaged", "_cudaFree",
           "_cudaFreeAsync", "_cudaFreeHost", "_cudaMemcpy", "_cudaMemcpyAsync", "_cudaMemset", "_cudaMemsetAsync", "_cudaLibraryLoadFromFile",
           "_cudaLibraryGetGlobal", "_cudaOccupancyMaxActiveBlocksPerMultiprocessor", "_cudaStreamCreate", "_cudaStreamDestroy",
           "_cudaStreamWaitEvent", "_cudaEventCreate", "_cudaEventDestroy", "_cudaEventRecord", "_cudaEventElapsedTime")


def refusing(name: str) -> Callable[..., None]:
    def refuse():
        raise _native.Unsupported(f"the function's host code calls {name[1:]}, which bitwell.cute does not answer: bitwell exec runs whole programs")

    return refuse


def kept(function: Callable[..., None]) -> Callable[..., int]:
    """The function for compiled code: what it raises waits, the first of several, and the code sees an error."""

    def answer(*words) -> int:
        now = call()
        try:
            function(*(word or 0 for word in words))
            return SUCCESS
        except Stopped:
            return UNKNOWN
        except BaseException as error:
            now.error = now.error or error
            return NOT_SUPPORTED if isinstance(error, _native.Unsupported) else UNKNOWN

    return answer


# They live as long as the process, as compiled code that calls them may.
CALLBACKS = {name: ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * count)(kept(function))
             for name, (count, function) in [*FUNCTIONS.items(), *((n, (0, refusing(n))) for n in REFUSED)]}
