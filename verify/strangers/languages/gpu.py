"""torch without a GPU, for programs that ask for one: "cuda" is the CPU, and tensors say that they are on it.

`pretend(sm)` changes this process: what torch computes, the CPU computes; a tensor's address is the host's. What `torch.empty`
gives is full of ones, in most types a NaN, so that a kernel which reads it is seen by what it makes of it.
"""
import ctypes
import contextlib
import types
import weakref

import torch
from torch.overrides import TorchFunctionMode

GPU, HOST = torch.device("cuda", 0), torch.device("cpu")
PROPERTIES = {90: ("NVIDIA H200", 132), 100: ("NVIDIA B200", 148)}
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
_addressed = {}  # by id, a reference: tensors compare their elements


def storage(tensor):
    """Where a tensor's storage stands, and its bytes."""
    whole = torch._C.TensorBase.untyped_storage(tensor)
    return whole.data_ptr(), whole.nbytes()


def poison(tensor):
    address, bytes = storage(tensor)
    return address, 0xFF, bytes


def addressed():
    """Tensors that are alive and were asked for their address."""
    for key, reference in list(_addressed.items()):
        if reference() is None:
            del _addressed[key]
        else:
            yield reference()


def on_gpu(place):
    return isinstance(place, torch.device) and place.type == "cuda" or isinstance(place, str) and place.startswith("cuda")


class Pretend(TorchFunctionMode):
    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "")
        if name == "cuda":
            return args[0]
        if name == "cpu":
            return args[0].clone()
        if name == "pin_memory":
            return args[0]
        if name == "record_stream":
            return None
        if name == "to" and not on_gpu(kwargs.get("device")) and any(isinstance(a, (str, torch.device)) and not on_gpu(a) for a in args[1:]):
            kwargs["copy"] = True
        args = tuple(HOST if on_gpu(a) and (name == "to" or isinstance(a, torch.device)) else a for a in args)
        if on_gpu(kwargs.get("device")) or kwargs.get("device").__class__ is int:
            kwargs["device"] = HOST
        kwargs.pop("pin_memory", None)
        if name == "data_ptr":
            _addressed[id(args[0])] = weakref.ref(args[0])
        out = function(*args, **kwargs)
        if name in EMPTY:
            ctypes.memset(*poison(out))
        return out


class Stream:
    """All streams are one, and what is started has ended."""

    cuda_stream = 0
    stream_id = 0
    device = GPU
    device_index = 0

    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __getattr__(self, name):
        if name in ("synchronize", "wait_stream", "wait_event", "record_event", "record", "wait"):
            return lambda *_, **__: None
        if name == "query":
            return lambda: True
        raise AttributeError(name)

    def elapsed_time(self, _):
        return 1.0


class Generator(torch.Generator):
    def __new__(cls, device=None):
        return super().__new__(cls)


def pretend(sm):
    name, processors = PROPERTIES[sm]
    properties = types.SimpleNamespace(
        name=name, major=sm // 10, minor=sm % 10, multi_processor_count=processors, total_memory=140 << 30, warp_size=32,
        max_threads_per_multi_processor=2048, max_threads_per_block=1024, regs_per_multiprocessor=65536, L2_cache_size=50 << 20,
        shared_memory_per_block=49152, shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472, is_integrated=False,
        clock_rate=1980000, memory_clock_rate=2619000, memory_bus_width=6144)
    torch.Tensor.device = property(lambda self: GPU)
    torch.Tensor.is_cuda = property(lambda self: True)
    torch.Tensor.is_cpu = property(lambda self: False)
    torch.Tensor.get_device = lambda self: 0
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_capability": (sm // 10, sm % 10), "get_device_name": name,
        "get_device_properties": properties, "synchronize": None, "current_stream": Stream(), "default_stream": Stream(), "set_stream": None,
        "set_device": None, "empty_cache": None, "mem_get_info": (100 << 30, 140 << 30), "is_bf16_supported": True, "memory_allocated": 0,
        "max_memory_allocated": 0, "reset_peak_memory_stats": None, "is_initialized": True, "manual_seed": None, "manual_seed_all": None,
        "is_current_stream_capturing": False, "init": None, "_lazy_init": None, "memory_reserved": 0, "ipc_collect": None}
    for key, value in answers.items():
        setattr(torch.cuda, key, lambda *_, value=value, **__: value)
    torch.cuda.Stream = torch.cuda.Event = torch.cuda.ExternalStream = Stream
    torch.cuda.stream = lambda *_: contextlib.nullcontext()
    torch.cuda.device = torch.cuda.device_of = lambda *_: contextlib.nullcontext()
    torch._C._cuda_getCurrentRawStream = lambda *_: 0
    torch.set_default_device = lambda *_: None
    torch.Generator = Generator
    mode = Pretend()
    mode.__enter__()
    apply = torch.autograd.function.BackwardCFunction.apply

    def applied(self, *gradients):
        with mode:  # torch leaves it while it makes gradients, in which a program's own functions take part
            return apply(self, *gradients)

    torch.autograd.function.BackwardCFunction.apply = applied
