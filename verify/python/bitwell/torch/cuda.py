"""What torch.cuda answers, and torch.accelerator: one device, on which everything that was asked for has been done."""
import collections
import contextlib
import itertools
import time
import types

import torch

from .. import gpu
from . import capture, memory, random
from .mode import CUDA, checked, start


def properties_of(device):
    major, minor = device.capability
    return types.SimpleNamespace(
        name=device.name, major=major, minor=minor, multi_processor_count=device.processors, total_memory=device.memory, warp_size=32,
        max_threads_per_multi_processor=device.threads, max_threads_per_block=1024, regs_per_multiprocessor=65536, L2_cache_size=device.l2,
        shared_memory_per_block=48 << 10, shared_memory_per_block_optin=device.shared, shared_memory_per_multiprocessor=device.shared_of_processor,
        is_integrated=0, is_multi_gpu_board=0, clock_rate=1000 * device.clock, memory_clock_rate=1000 * device.memory_clock,
        memory_bus_width=device.bus, gcnArchName="", uuid="00000000-0000-0000-0000-000000000000", pci_bus_id=1, pci_device_id=0, pci_domain_id=0)


class Stream:
    """In order: what is asked of one has been done when it was asked for."""

    handles = itertools.count(1)

    def __init__(self, device=None, priority=0, stream_ptr=None, **_):
        self.cuda_stream = next(Stream.handles) << 8 if stream_ptr is None else stream_ptr
        self.device, self.device_index, self.device_type, self.priority = CUDA, 0, 1, priority

    stream_id = property(lambda self: self.cuda_stream)
    native_handle = stream_id

    @staticmethod
    def priority_range():
        return 0, -5

    def synchronize(self):
        synchronize()

    def query(self):
        return True

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self):
        self.before = _now
        set_stream(self)
        return self

    def __exit__(self, *_):
        set_stream(self.before)

    def __eq__(self, other):
        return isinstance(other, Stream) and self.cuda_stream == other.cuda_stream

    def __hash__(self):
        return self.cuda_stream

    def __repr__(self):
        return f"<torch.cuda.Stream device=cuda:0 cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    def __init__(self, stream_ptr, device=None, **_):
        super().__init__(stream_ptr=stream_ptr)


class Event:
    """Its time is the host's: how long the simulator took, which says nothing of a GPU."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self.timed, self.at = enable_timing, None
        self.device = CUDA
        self.cuda_event = id(self)

    def record(self, stream=None):
        self.at = time.perf_counter()

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        if not (self.timed and end.timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.at is None or end.at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return max(1e-3, 1e3 * (end.at - self.at))

    @classmethod
    def from_ipc_handle(cls, device, handle):
        raise NotImplementedError("bitwell: events of another process are not modelled")


DEFAULT = Stream(stream_ptr=0)
_now = DEFAULT


def set_stream(stream):
    global _now
    _now = stream or DEFAULT


@contextlib.contextmanager
def stream(of):
    before = _now
    set_stream(of)
    try:
        yield of
    finally:
        set_stream(before)


class on_device(contextlib.ContextDecorator):
    def __init__(self, device=None):
        self.idx = set_device(device)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def set_device(device=None):
    if isinstance(device, torch.Tensor):
        device = device.device
    if isinstance(device, int):
        device = torch.device("cuda", max(device, 0))
    if device is not None and torch.device(device).type == "cuda":
        checked(torch.device(device))
    return 0


def synchronize(device=None):
    set_device(device)
    if capture.Log.open is not None:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")


def memory_stats(device=None):
    """Of torch's allocator: it takes from the GPU what it gives, and keeps nothing."""
    start()
    of = memory.usage
    out = {"num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0, "num_device_alloc": of.allocated[1],
           "num_device_free": of.freed[1], "max_split_size": -1}
    for name, i in (("allocated_bytes", 0), ("active_bytes", 0), ("requested_bytes", 0), ("reserved_bytes", 0), ("inactive_split_bytes", None),
                    ("allocation", 1), ("active", 1), ("segment", 1), ("inactive_split", None)):
        for what in ("current", "peak", "allocated", "freed"):
            values = {"current": of.now, "peak": of.peak, "allocated": of.allocated, "freed": of.freed}[what]
            for pool in ("all", "large_pool", "small_pool"):
                out[f"{name}.{pool}.{what}"] = 0 if i is None or pool == "small_pool" else values[i]
    return collections.OrderedDict(sorted(out.items()))


def memory_summary(device=None, abbreviated=False):
    of = memory.usage
    return f"bitwell: {of.now[0]} bytes allocated in {of.now[1]} pieces, {of.peak[0]} at most\n"


def refuse(what, why):
    def refused(*_, **__):
        raise gpu.Unsupported(f"{what}: {why}")

    return refused


def patch():
    device = gpu.current().device
    properties = properties_of(device)

    def constant(value):
        def answer(*_, **__):
            start()
            return value

        return answer

    def of_device(value):
        def answer(which=None):
            start()
            set_device(which)
            return value

        return answer

    cuda = torch.cuda
    taken = lambda: sum(a.bytes for a in gpu.current().held.values())
    numbers = random.default

    def seeded(seed):
        numbers.manual_seed(int(seed))

    def reset_peak(device=None):
        memory.usage.reset_peak()

    answers = {
        "is_available": constant(True), "device_count": constant(1), "current_device": constant(0), "is_initialized": constant(True),
        "get_device_capability": of_device(device.capability), "get_device_name": of_device(device.name),
        "get_device_properties": of_device(properties), "synchronize": synchronize, "set_device": set_device,
        "current_stream": lambda device=None: _now, "default_stream": lambda device=None: DEFAULT, "set_stream": set_stream, "stream": stream,
        "StreamContext": stream, "device": on_device, "device_of": on_device, "_DeviceGuard": on_device, "Stream": Stream,
        "ExternalStream": ExternalStream, "Event": Event, "init": constant(None), "_lazy_init": start, "_lazy_call": lambda f, **_: f(),
        "empty_cache": constant(None), "ipc_collect": constant(None), "is_bf16_supported": constant(True), "is_tf32_supported": constant(True),
        "mem_get_info": lambda device=None: (device_memory - taken(), device_memory), "memory_allocated": lambda device=None: memory.usage.now[0],
        "max_memory_allocated": lambda device=None: memory.usage.peak[0], "memory_reserved": lambda device=None: memory.usage.now[0],
        "max_memory_reserved": lambda device=None: memory.usage.peak[0], "reset_peak_memory_stats": reset_peak,
        "reset_max_memory_allocated": reset_peak, "reset_max_memory_cached": reset_peak, "memory_stats": memory_stats,
        "memory_stats_as_nested_dict": refuse("torch.cuda.memory_stats_as_nested_dict", "torch.cuda.memory_stats() has the same"),
        "reset_accumulated_memory_stats": memory.usage.forget, "memory_summary": memory_summary,
        "manual_seed": seeded, "manual_seed_all": seeded, "seed": numbers.seed, "seed_all": numbers.seed,
        "initial_seed": numbers.initial_seed, "get_rng_state": lambda device=None: numbers.get_state(),
        "set_rng_state": lambda state, device=None: numbers.set_state(state) and None, "get_rng_state_all": lambda: [numbers.get_state()],
        "set_rng_state_all": lambda states: numbers.set_state(states[0]) and None, "default_generators": (numbers,),
        "is_current_stream_capturing": lambda: capture.Log.open is not None, "CUDAGraph": capture.CUDAGraph, "graph": capture.graph,
        "make_graphed_callables": capture.make_graphed_callables, "graph_pool_handle": constant((0, 0)), "_sleep": constant(None),
        "can_device_access_peer": constant(False), "get_arch_list": constant([f"sm_{device.sm}"]), "clock_rate": constant(device.clock),
        "current_blas_handle": refuse("torch.cuda.current_blas_handle", "cuBLAS is not modelled"),
        "cudart": refuse("torch.cuda.cudart", "CUDA's runtime library is not modelled in torch"),
        "_exchange_device": constant(0), "_maybe_exchange_device": constant(0)}
    device_memory = device.memory
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    cuda.streams.Stream, cuda.streams.Event, cuda.streams.ExternalStream = Stream, Event, ExternalStream
    cuda.graphs.CUDAGraph, cuda.graphs.graph = capture.CUDAGraph, capture.graph
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(cuda.nvtx, name, constant(0))
    accelerator = {"is_available": constant(True), "device_count": constant(1), "current_accelerator": lambda check_available=False: torch.device("cuda"),
                   "current_device_index": constant(0), "current_device_idx": constant(0), "set_device_index": set_device,
                   "set_device_idx": set_device, "current_stream": answers["current_stream"], "set_stream": set_stream,
                   "synchronize": synchronize, "empty_cache": constant(None)}
    for name, answer in accelerator.items():
        if hasattr(torch, "accelerator"):
            setattr(torch.accelerator, name, answer)
    torch._C._cuda_getCurrentRawStream = lambda device=0: _now.cuda_stream
    torch._C._cuda_getDeviceCount = constant(1)
    torch._C._cuda_getDevice = constant(0)
    torch._C._cuda_isCurrentStreamCapturing = answers["is_current_stream_capturing"]
    torch.backends.cuda.is_built = lambda: True
    torch.version.cuda = torch.version.cuda or "13.0"
    torch.Generator = random.Generator
