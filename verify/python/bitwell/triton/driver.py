"""A driver for `triton.runtime.driver.set_active`.

Triton's own launcher class does its work: arguments, scratch, tensor maps. What it calls of a driver library is here.
"""
import functools
import pathlib
import re
import struct
import sys

import triton
import triton.backends.nvidia.driver as nvidia
from triton.backends.compiler import GPUTarget

from .. import gpu
from . import tensor_map
from .autotune import Benchmarker

PACK = {"i1": "<b", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q", "u1": "<B", "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q",
        "fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


class Utils:
    """What Triton has compiled from C, for a driver library."""

    def __init__(self):
        self.fill_tma_descriptor = self.fill_tma_descriptor_tiled = tensor_map.tiled
        self.fill_tma_descriptor_im2col = tensor_map.im2col
        self.loaded = [None]  # by handle: PTX and the entry's name
        self.files = None
        self.dry = False  # while the autotuner asks whether a configuration compiles
        triton.knobs.runtime.kernel_load_start_hook.add(self.loading)

    def loading(self, module, function, name, files, hash):
        self.files = files

    def load_binary(self, name, binary, shared, device):
        ptx = next(p for key, p in self.files.items() if key.endswith(".ptx"))
        text = pathlib.Path(ptx).read_text()
        threads = re.search(r"^\.reqntid (\d+)", text, re.M)  # warps of several roles are more than num_warps
        self.loaded.append((text, name, int(threads.group(1)) if threads else None))
        handle = len(self.loaded) - 1
        return handle, handle, 64, 0, 1024  # registers are not known: programs ask them how many CTAs to start

    def unload_module(self, module):
        pass

    def get_device_properties(self, device):
        d = gpu.current().device
        return {"max_shared_mem": d.shared, "max_num_regs": 65536, "warpSize": 32, "multiprocessor_count": d.processors,
                "sm_clock_rate": 1000 * d.clock, "mem_clock_rate": 1000 * d.memory_clock, "mem_bus_width": d.bus}

    def get_device_capability(self, device=0):
        return gpu.current().device.capability

    def is_stream_capturing(self, stream):
        return False

    def set_printf_fifo_size(self, size):
        pass

    def build_signature_metadata(self, signature):
        return list(signature)

    def launch(self, x, y, z, stream, function, cooperative, dependent, metadata, launch_metadata, entered, left, global_scratch,
               profile_scratch, annotations, signature, arguments):
        __tracebackhide__ = True
        self.launch_flat(x, y, z, function, cooperative, dependent, metadata, launch_metadata, entered, left,
                         [*zip(signature, flattened(arguments, annotations), strict=True), ("*i8", global_scratch), ("*i8", profile_scratch)])

    def launch_3_6(self, signature, x, y, z, stream, function, cooperative, dependent, global_scratch, profile_scratch, metadata,
                   launch_metadata, entered, left, *arguments):
        """As the launchers are called that Triton 3.6 makes in C for each signature."""
        __tracebackhide__ = True
        self.launch_flat(x, y, z, function, cooperative, dependent, metadata, launch_metadata, entered, left,
                         [*typed(signature, arguments), ("*i8", global_scratch), ("*i8", profile_scratch)])

    def launch_flat(self, x, y, z, function, cooperative, dependent, metadata, launch_metadata, entered, left, arguments):
        __tracebackhide__ = True
        ptx, entry, threads = self.loaded[function]
        warps, ctas, shared = metadata
        packed = [self.packed(i, type, value) for i, (type, value) in enumerate(arguments)]
        if self.dry or x * y * z == 0:
            return
        cluster = (ctas, 1, 1) if ctas > 1 else None

        def run():
            __tracebackhide__ = True
            now = gpu.current()
            report = now.launch(now.module_of(ptx), entry, (x * ctas, y, z), threads or 32 * warps, packed, cluster=cluster,
                                shared=shared, cooperative=bool(cooperative), programmatic=bool(dependent), must_hold=True)
            print(report.printed, end="")
            report.check()

        hooked(entered, launch_metadata)
        log = log_of_capture()
        if log is None:
            run()
        else:
            log.call(lambda kept=(run, arguments): kept[0]())
        hooked(left, launch_metadata)

    def packed(self, number, type, value):
        if type == "nvTmaDesc":
            return value
        if type[0] != "*":
            return bf16(value) if type == "bf16" else struct.pack(PACK[type], value)
        if value is None or isinstance(value, int):
            return struct.pack("<Q", value or 0)
        address = value.data_ptr()
        if address and gpu.current().held_at(address) is None and not empty(value):
            raise ValueError(f"Pointer argument (at {number}) cannot be accessed from Triton (cpu tensor?)")
        return struct.pack("<Q", address)


def bf16(value):
    """The nearest, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value == value:
        bits += 0x7FFF + (bits >> 16 & 1)
    return struct.pack("<H", bits >> 16)


def empty(value):
    base = getattr(value, "base", value)
    return hasattr(base, "numel") and base.numel() == 0


def hooked(hook, metadata):
    if hook is not None:
        hook(metadata)


def log_of_capture():
    """Of the CUDA graph that is captured now."""
    capture = sys.modules.get("bitwell.torch.capture")
    return None if capture is None else capture.Log.open


def flattened(arguments, annotations):
    for value, annotation in zip(arguments, annotations, strict=True):
        if annotation == nvidia.ARG_KERNEL:
            yield value
        elif annotation != nvidia.ARG_CONSTEXPR:
            yield from flattened(value, annotation)


def typed(signature, values):
    """Of arguments as Triton 3.6 passes them: those of the kernel, with their types."""
    for type, value in zip(signature, values, strict=True):
        if isinstance(type, tuple):
            yield from typed(type, value)
        elif type != "constexpr":
            yield type, value


def expanded(signature, maps):
    """What Triton 3.6 passes for each type of a signature: a tensor descriptor is a map, or what one is made of, and its extents."""
    maps = iter(maps or ())
    for type in signature:
        if not (isinstance(type, str) and type.startswith("tensordesc")):
            yield type
            continue
        element, shape = re.match(r"tensordesc<([^\[>]*)\[([^\]]*)\]", type).groups()
        rank = shape.count(",") + 1
        if next(maps, None) is None:
            yield from ["*" + element, *2 * rank * ["i64"], "i1"]
        else:
            yield "nvTmaDesc"
        yield from [*rank * ["i32"], *rank * ["i64"]]


class Compiled:
    """In the place of what Triton 3.6 compiles from C: a launcher, in a module."""

    def __init__(self, launch):
        self.launch = launch


class Driver(nvidia.CudaDriver):
    def __init__(self):
        # Triton's own marks of what an argument is become plain ones.
        nvidia.ARG_CONSTEXPR, nvidia.ARG_KERNEL, nvidia.ARG_TUPLE = "constexpr", "kernel", "tuple"
        nvidia.PyKernelArg = lambda nested_tuple, type: nested_tuple if type == "tuple" else type
        self.utils = Utils()
        self.launcher_cls = nvidia.CudaLauncher
        if hasattr(nvidia, "make_launcher"):  # up to 3.6
            if getattr(nvidia, "_BASE_ARGS_FORMAT", "") != "iiiKKppOOOOOO":
                raise RuntimeError(f"bitwell: this is Triton {triton.__version__}, whose launches are made in another way than those of 3.6 and newer")
            nvidia.library_dirs = lambda: []  # where there is no driver
            nvidia.make_launcher = lambda constants, signature, maps: tuple(expanded(signature.values(), maps))
            nvidia.compile_module_from_src = lambda src, **_: Compiled(functools.partial(self.utils.launch_3_6, src))
        self.get_current_stream = lambda device=0: 0
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None
        self.get_device_capability = self.utils.get_device_capability
        self.benchmarker = Benchmarker(self.utils)
        triton.testing.do_bench = triton.testing.do_bench_cudagraph = self.benchmarker

    def get_current_target(self):
        return GPUTarget("cuda", gpu.current().device.sm, 32)

    def get_benchmarker(self):
        return self.benchmarker
