"""CUDA graphs: while one is captured, what is asked for is written down and not done; a replay does it, in place."""
import contextlib

import torch

from . import memory


class Log:
    open = None  # the one that is captured now

    def __init__(self):
        self.entries = []

    def take(self, op, operation, args, kwargs):
        """Notes it. What makes new tensors is run for their memory; what they hold is the replay's to say."""
        if operation.reads:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing\n"
                               f"aten::{operation.name} waits for the GPU inside of a graph.")
        if operation.writes:
            self.entries.append(lambda: self.again(op, args, kwargs, operation))
            return next(operation.written(args, kwargs)) if op._schema.returns else None
        out = op(*args, **kwargs)
        if not views(out, args):
            self.entries.append(lambda: refill(out, op(*args, **kwargs)))
        return out

    @staticmethod
    def again(op, args, kwargs, operation):
        op(*args, **kwargs)
        for t in operation.written(args, kwargs):
            memory.written(t)

    def call(self, function):
        """A launch, by whoever makes them."""
        self.entries.append(function)


def views(out, args):
    from .mode import tensors

    given = {id(memory.storage_of(t)) for t in tensors(args)}
    return all(id(memory.storage_of(t)) in given for t in tensors((out,)))


def refill(out, again):
    from .mode import tensors

    for to, what in zip(tensors((out,)), tensors((again,))):
        to.copy_(what)
        memory.written(to)


class CUDAGraph:
    def __init__(self, keep_graph=False):
        self.log = Log()

    def capture_begin(self, pool=None, capture_error_mode="global"):
        if Log.open is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        Log.open = self.log = Log()

    def capture_end(self):
        Log.open = None

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
