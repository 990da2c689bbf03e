"""CUDA graphs: while one is captured, what is asked for is written down and not done; a replay does it, in place."""
import contextlib

import torch

from . import memory


class Log:
    open = None  # the one that is captured now

    def __init__(self):
        self.entries = []
        self.made = []  # tensors

    def take(self, operation, args, kwargs):
        """Notes it. What makes new tensors is run for their memory; what they hold is the replay's to say."""
        if operation.reads:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing\n"
                               f"aten::{operation.name} waits for the GPU inside of a graph.")
        if operation.gives is not None:
            self.entries.append(lambda: again(operation, args, kwargs))
            return operation.given(args, kwargs)
        before = [(t, t.clone()) for t in operation.written(args, kwargs)]
        out = operation.computed(args, kwargs, True)
        for t, was in before:
            t.copy_(was)
        if not views(out, args):
            self.made += tensors((out,))
            self.entries.append(lambda: refill(out, operation, args, kwargs))
        return out

    def call(self, function):
        """A launch, by whoever makes them."""
        self.entries.append(function)

    def ends(self):
        for t in self.made:
            memory.unwritten(t)
        self.made = []


def tensors(values):
    from . import mode

    return mode.tensors(values)


def again(operation, args, kwargs):
    from .writes import Before

    before = Before(operation, args, kwargs)
    out = operation.computed(args, kwargs, True)
    before.done()
    return out


def refill(out, operation, args, kwargs):
    if operation.empty:
        memory.unwritten(out)
        return
    for to, what in zip(tensors((out,)), tensors((again(operation, args, kwargs),))):
        to.copy_(what)
        memory.written(to)


def views(out, args):
    given = {id(memory.storage_of(t)) for t in tensors(args)}
    return all(id(memory.storage_of(t)) in given for t in tensors((out,)))


def closed():
    """Whatever is captured now is given up."""
    Log.open = None


class CUDAGraph:
    def __init__(self, keep_graph=False):
        self.log = Log()

    def capture_begin(self, pool=None, capture_error_mode="global"):
        if Log.open is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        Log.open = self.log = Log()

    def capture_end(self):
        Log.open = None
        self.log.ends()

    def replay(self):
        with torch._C._AutoDispatchBelowAutograd(), torch.utils._python_dispatch._disable_current_modes():
            for entry in self.log.entries:
                entry()

    def reset(self):
        self.log = Log()

    def instantiate(self):
        pass

    def pool(self):
        return (0, id(self))

    def enable_debug_mode(self):
        pass

    def debug_dump(self, path):
        pass


@contextlib.contextmanager
def graph(cuda_graph, pool=None, stream=None, capture_error_mode="global"):
    cuda_graph.capture_begin()
    try:
        yield
    finally:
        cuda_graph.capture_end()


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Which would be faster, and computes the same: they are called as they are."""
    return callables
