"""A driver for `triton.runtime.driver.set_active`: Triton compiles for a GPU that is not there, and bitwell runs its launches.

Triton's own launcher class does its work: arguments, scratch, tensor maps. What it calls of a driver library is here.
"""
import ctypes
import pathlib
import re
import struct
import sys

import torch
import triton
import triton.backends.nvidia.driver as nvidia
from triton.backends.compiler import GPUTarget

import gpu
from launches import Span

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACK = {"i1": "<b", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q", "u1": "<B", "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q",
        "fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


class TensorMaps:
    """bitwell's encoder, which has the arguments of the driver's."""

    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        self.library.bitwell_tensor_map_message.restype = ctypes.c_char_p

    def made(self, function, *arguments):
        out = ctypes.create_string_buffer(128 + 64)
        at = ctypes.addressof(out) + -ctypes.addressof(out) % 64
        if getattr(self.library, function)(ctypes.c_void_p(at), *arguments) != 0:
            raise RuntimeError(self.library.bitwell_tensor_map_message().decode())
        return ctypes.string_at(at, 128)

    @staticmethod
    def tensor(type, address, size, shape, strides):
        """What both kinds of maps begin with, the innermost dimension first."""
        dims, steps = list(shape)[::-1], [s * size for s in list(strides)[-2::-1]]
        return (ctypes.c_int(type), ctypes.c_uint32(len(dims)), ctypes.c_void_p(address), (ctypes.c_uint64 * len(dims))(*dims),
                (ctypes.c_uint64 * len(dims))(*steps))

    # interleave none, the swizzle, L2 promotion 128 bytes, the fill
    @staticmethod
    def rest(swizzle, padding):
        return ctypes.c_int(0), ctypes.c_int(swizzle), ctypes.c_int(2), ctypes.c_int(1 if padding == 1 else 0)

    def tiled(self, address, swizzle, size, type, box, shape, strides, padding):
        rank = len(shape)
        return self.made("bitwell_tensor_map_encode_tiled", *self.tensor(type, address, size, shape, strides),
                         (ctypes.c_uint32 * rank)(*list(box)[::-1]), (ctypes.c_uint32 * rank)(*[1] * rank), *self.rest(swizzle, padding))

    def im2col(self, address, swizzle, size, type, box, shape, strides, padding, lower, upper, element_strides):
        rank = len(shape)
        corners = [(ctypes.c_int * len(c))(*list(c)[::-1]) for c in (lower, upper)]
        return self.made("bitwell_tensor_map_encode_im2col", *self.tensor(type, address, size, shape, strides), *corners,
                         ctypes.c_uint32(box[1]), ctypes.c_uint32(box[0]), (ctypes.c_uint32 * rank)(*list(element_strides)[::-1]),
                         *self.rest(swizzle, padding))


class Utils:
    """What Triton has compiled from C, for a driver library."""

    def __init__(self, simulator, sm, library):
        self.simulator, self.sm = simulator, sm
        self.maps = TensorMaps(library)
        self.fill_tma_descriptor_tiled, self.fill_tma_descriptor_im2col = self.maps.tiled, self.maps.im2col
        self.loaded = [None]  # by handle: PTX and the entry's name
        self.files = None
        self.dry = False  # while the autotuner asks whether a configuration compiles
        triton.knobs.runtime.kernel_load_start_hook.add(self.loading)

    def loading(self, module, function, name, files, hash):
        self.files = files

    def load_binary(self, name, binary, shared, device):
        ptx = next(p for key, p in self.files.items() if key.endswith(".ptx"))
        self.loaded.append((pathlib.Path(ptx).read_text(), name))
        handle = len(self.loaded) - 1
        return handle, handle, 64, 0, 1024  # registers are not known: what tutorials make of them is how many CTAs to start

    def unload_module(self, module):
        pass

    def get_device_properties(self, device):
        p = torch.cuda.get_device_properties(0)
        return {"max_shared_mem": p.shared_memory_per_block_optin, "max_num_regs": p.regs_per_multiprocessor, "warpSize": 32,
                "multiprocessor_count": p.multi_processor_count, "sm_clock_rate": p.clock_rate, "mem_clock_rate": p.memory_clock_rate,
                "mem_bus_width": p.memory_bus_width}

    def get_device_capability(self, device=0):
        return self.sm // 10, self.sm % 10

    def is_stream_capturing(self, stream):
        return False

    def set_printf_fifo_size(self, size):
        pass

    def build_signature_metadata(self, signature):
        return list(signature)

    def launch(self, x, y, z, stream, function, cooperative, dependent, metadata, launch_metadata, entered, left, global_scratch,
               profile_scratch, annotations, signature, arguments):
        if self.dry or x * y * z == 0:
            return
        ptx, entry = self.loaded[function]
        warps, ctas, shared = metadata
        threads = re.search(r"^\.reqntid (\d+)", ptx, re.M)  # warps of several roles are more than num_warps
        flat = list(self.flat(arguments, annotations))
        spans, packed = set(), []
        with torch._C.DisableTorchFunction():
            for type, value in [*zip(signature, flat, strict=True), ("*i8", global_scratch), ("*i8", profile_scratch)]:
                packed.append(self.packed(type, value, spans))
            reached = self.reached(spans)
        grid = (x * ctas, y, z)
        block = (int(threads.group(1)) if threads else 32 * warps,)
        self.simulator.launch(ptx, entry, grid, block, packed, reached, shared, ctas, cooperative=bool(cooperative),
                              non_portable_cluster=ctas > 8)

    def flat(self, arguments, annotations):
        for value, annotation in zip(arguments, annotations, strict=True):
            if annotation == nvidia.ARG_KERNEL:
                yield value
            elif annotation != nvidia.ARG_CONSTEXPR:
                yield from self.flat(value, annotation)

    def packed(self, type, value, spans):
        if type == "nvTmaDesc":
            address = int.from_bytes(value[:8], "little")
            for t in self.bases.pop(address, ()):
                self.add(t, spans)
            return value
        if type[0] != "*":
            if type == "bf16":
                return torch.tensor(value, dtype=torch.bfloat16).view(torch.int16).numpy().tobytes()
            return struct.pack(PACK[type], value)
        if value is None or isinstance(value, int):
            return struct.pack("<Q", value or 0)
        tensor = getattr(value, "base", None) if not isinstance(value, torch.Tensor) else value
        self.add(tensor, spans)
        return struct.pack("<Q", value.data_ptr())

    def add(self, tensor, spans):
        address, bytes = gpu.storage(tensor)
        if bytes:
            spans.add(Span(address, bytes))

    def reached(self, spans):
        """With those whose addresses stand inside of these."""
        known = {t.data_ptr(): t for t in gpu.addressed()}
        spans, looked = set(spans), set()
        while looks := [s for s in spans if s not in looked and s.bytes <= 8192 and s.bytes % 8 == 0]:
            for s in looks:
                looked.add(s)
                for address in struct.unpack(f"<{s.bytes // 8}Q", ctypes.string_at(s.address, s.bytes)):
                    if address in known:
                        self.add(known[address], spans)
        return spans

    bases = {}  # address of a tensor map's tensor: the tensors there


class Driver(nvidia.CudaDriver):
    def __init__(self, simulator, sm, library):
        self.utils, self.sm = Utils(simulator, sm, library), sm
        self.launcher_cls = nvidia.CudaLauncher
        self.get_current_stream = self.get_current_device = lambda *_: 0
        self.set_current_device = lambda *_: None
        self.get_device_capability = self.utils.get_device_capability

    def get_current_target(self):
        return GPUTarget("cuda", self.sm, 32)

    def get_active_torch_device(self):
        return gpu.GPU

    def get_benchmarker(self):
        """No times: the first configuration that compiles and fits is taken."""

        def bench(call, **_):
            at = dict(zip(call.__code__.co_freevars, (c.cell_contents for c in call.__closure__ or ())))
            tuner = at.get("self")
            if tuner is not None and getattr(tuner, "found_for", None) is tuner.nargs:
                return [float("inf")] * 3
            self.utils.dry = True
            try:
                call()
            finally:
                self.utils.dry = False
            if tuner is not None:
                tuner.found_for = tuner.nargs
            return [1.0] * 3

        return bench


def activate(simulator, sm, library=ROOT / "build/release/lib/libbitwell_tensor_map.so"):
    """Triton's own marks of what an argument is become plain ones."""
    nvidia.ARG_CONSTEXPR, nvidia.ARG_KERNEL, nvidia.ARG_TUPLE = "constexpr", "kernel", "tuple"
    nvidia.PyKernelArg = lambda nested_tuple, type: nested_tuple if type == "tuple" else type
    made = nvidia.make_tensordesc_arg

    def with_base(descriptor, metadata, last):
        if metadata is not None:
            Utils.bases.setdefault(descriptor.base.data_ptr(), []).append(descriptor.base)
        return made(descriptor, metadata, last)

    nvidia.make_tensordesc_arg = with_base
    driver = Driver(simulator, sm, library)
    triton.runtime.driver.set_active(driver)
    triton.testing.do_bench = driver.get_benchmarker()
    sys.modules["triton.testing"].do_bench = triton.testing.do_bench
    return driver
