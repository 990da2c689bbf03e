"""Every operation of torch passes here: what is made of the GPU's tensors is the GPU's, and so is what is asked for "cuda".

The CPU computes it. The mode is entered when the process first asks for CUDA, so that what never does is not slowed.
"""
import contextlib
import sys
import threading

import torch
from torch.utils import _python_dispatch as dispatch

from .. import late
from . import memory, operators, random, writes
from .capture import Log

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
EMPTY = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted"}
READS = {"_local_scalar_dense", "nonzero", "item", "equal"}  # the host waits for them
# Whose sums the CPU makes, or keeps, in 16 bits where numbers have them, and CUDA in 32: how many of its results are the numbers'.
WIDE = {"native_layer_norm": 1, "native_group_norm": 1, "native_layer_norm_backward": 3, "native_group_norm_backward": 3}
# They write what their schemas do not say.
UNSAID = {"native_batch_norm": ("running_mean", "running_var")}
NARROW = {torch.float16, torch.bfloat16}
_asked = threading.local()


def fake_mode():
    """The mode in which tensors are fake ones, if one is open."""
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)


def asked():
    """Where what is made now goes, if a caller said so. torch calls methods by their names again where functions have modes."""
    return getattr(_asked, "device", None)


@contextlib.contextmanager
def towards(device):
    """What is made by one call goes there, though the GPU's tensors look like the CPU's to what torch has compiled."""
    before = asked()
    _asked.device = device
    try:
        yield
    finally:
        _asked.device = before


class Operation:
    """What its schema says, and what its name does."""

    known = {}

    def __init__(self, op):
        schema = op._schema
        self.op = op
        self.name = name = schema.name.split("::")[1].split(".")[0]
        self.empty = name in EMPTY
        self.reads = name in READS
        self.function = operators.function_of(op)
        self.random = torch.Tag.nondeterministic_seeded in op.tags
        self.writes = [(i, a.name) for i, a in enumerate(schema.arguments)
                       if a.alias_info is not None and a.alias_info.is_write or a.name in UNSAID.get(name, ())]
        self.moves, self.updates, self.part = name in writes.MOVES, writes.updates(op, name), writes.PARTS.get(name)
        of = {frozenset(a.alias_info.before_set): i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write}
        gives = [None if r.alias_info is None else of.get(frozenset(r.alias_info.before_set)) for r in schema.returns]
        # Its results where they are all arguments that it writes: their numbers.
        self.gives = gives if self.writes and None not in gives else None

    @classmethod
    def of(cls, op):
        known = cls.known.get(op)
        if known is None:
            known = cls.known[op] = cls(op)
        return known

    def argument(self, i, name, args, kwargs):
        return args[i] if i < len(args) else kwargs.get(name)

    def written(self, args, kwargs):
        for i, name in self.writes:
            yield from tensors((self.argument(i, name, args, kwargs),))

    def given(self, args, kwargs):
        """Its results, which are arguments: one, several or none."""
        names = [a.name for a in self.op._schema.arguments]
        out = tuple(self.argument(i, names[i], args, kwargs) for i in self.gives)
        return out if len(out) > 1 else out[0] if out else None

    def computed(self, args, kwargs, on_gpu):
        """By the CPU, as CUDA would."""
        if on_gpu and self.random and not isinstance(kwargs.get("generator"), torch.Generator):
            with random.gpus():
                return self.op(*args, **kwargs)
        if self.name in WIDE and any(t.dtype in NARROW for t in tensors(args) if memory.on_gpu(t)):
            return widened(self.op, args, kwargs, WIDE[self.name])
        return self.op(*args, **kwargs)


def tensors(values):
    for v in values:
        if isinstance(v, torch.Tensor):
            yield v
        elif isinstance(v, (list, tuple)):
            yield from tensors(v)


def widened(op, args, kwargs, rounded):
    """Computed in fp32, then rounded."""
    narrow = next(t.dtype for t in tensors(args) if t.dtype in NARROW)
    out = op(*(a.float() if isinstance(a, torch.Tensor) else a for a in args), **kwargs)
    return tuple(o.to(narrow) if o is not None and i < rounded else o for i, o in enumerate(out))


def checked(device):
    if device.index not in (None, 0):
        raise RuntimeError(f"CUDA error: invalid device ordinal\nThere is one GPU, cuda:0, and {device} was asked for.")


class Mode(dispatch.TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls):
        """torch would import its compiler at the first operation, to keep it from compiling the function below."""
        return False

    def __torch_dispatch__(self, op, kinds, args=(), kwargs=None):
        kwargs = kwargs or {}
        if fake_mode() is not None:
            return op(*args, **kwargs)
        operation = Operation.of(op)
        named, pinned = kwargs.get("device"), kwargs.get("pin_memory")
        given = [t for t in tensors(args)] + [t for t in tensors(kwargs.values())]
        if any(type(t).__torch_dispatch__ is not memory.PLAIN for t in given):
            return op(*args, **kwargs)  # it says itself where it is
        ours = [t for t in given if memory.on_gpu(t)]
        if named is not None and named.type == "cuda":
            checked(named)
            kwargs = kwargs | {"device": CPU}
            to_gpu = True
        elif asked() is not None:
            to_gpu = asked().type == "cuda"
        else:
            to_gpu = bool(ours)
        if pinned:
            kwargs = kwargs | {"pin_memory": False}
        if operation.name == "is_pinned":
            return any(m is not None and m.pinned for m in map(memory.mark_of, given))
        if operation.name == "_pin_memory":
            return memory.place(torch.clone(args[0]), pinned=True)
        if operation.function is not None and (ours or to_gpu):
            with self:
                return operation.function(*args, **kwargs)
        log = Log.open
        if log is not None and (ours or to_gpu):
            out = log.take(operation, args, kwargs)
            self.place(operation, given, out, pinned and not to_gpu)
            return out
        before = writes.Before(operation, args, kwargs) if operation.writes else None
        out = operation.computed(args, kwargs, to_gpu)
        if to_gpu or pinned:
            self.place(operation, given, out, pinned and not to_gpu)
        if before is not None:
            if to_gpu and operation.name != "copy_":
                for t in operation.written(args, kwargs):
                    if t.dim() and any(o.dim() for o in ours if o is not t):
                        memory.place(t)  # made inside of torch for the place of what stands beside it
            before.done()
        return out

    def place(self, operation, given, out, pinned):
        for t in tensors((out,)):
            if memory.mark_of(t) is None and not self.of_these(t, given):
                memory.place(t, defined=not operation.empty, pinned=pinned)

    @staticmethod
    def of_these(tensor, given):
        """Whether it is a view of the host's memory."""
        storage = memory.storage_of(tensor)
        return storage is not None and any(memory.storage_of(g) is storage for g in given)


_mode = None


def start():
    """From now on this process has a GPU. Modes that are open stay within it."""
    global _mode
    if _mode is None:
        torch._C._ensureCUDADeviceGuardSet()
        late.after("torch._dynamo", _not_compiled)
        late.after("torch._subclasses.fake_tensor", _nothing_before_fakes)
        _mode = Mode()
        _enter()
        run = threading.Thread.run

        def entered(self):
            _enter()
            run(self)

        threading.Thread.run = entered


def _not_compiled():
    """The program has imported the compiler after all."""
    Mode.__torch_dispatch__ = torch._disable_dynamo(Mode.__torch_dispatch__)


def _nothing_before_fakes():
    """torch makes a true tensor of the GPU before its first fake one, where no mode sees it: for a context that is there already."""
    sys.modules["torch._subclasses.fake_tensor"].init_gpu_context = lambda device: None


def _enter():
    above = [dispatch._pop_mode() for _ in range(dispatch._len_torch_dispatch_stack())]
    _mode.__enter__()
    for mode in reversed(above):
        dispatch._push_mode(mode)
