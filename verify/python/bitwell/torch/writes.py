"""What an operation of torch that writes into a tensor leaves written of it: all, some elements, or nothing that was not."""
import torch

from . import memory

# They change which memory a tensor has, or how it is seen.
MOVES = {"resize_", "resize_as_", "_resize_output_", "set_", "shallow_copy_data_", "as_strided_", "t_", "transpose_", "squeeze_", "unsqueeze_",
         "swapaxes_", "swapdims_", "detach_"}
# In place, of what stands there: what was unwritten is no better afterwards. Pointwise operations say so themselves.
UPDATES = {"abs_", "addbmm_", "addmm_", "addmv_", "addr_", "baddbmm_", "copysign_", "cumprod_", "cumsum_", "eq_", "floor_divide_", "gcd_", "ge_",
           "gelu_", "gt_", "hardswish_", "heaviside_", "index_add_", "index_reduce_", "lcm_", "le_", "lt_", "mish_", "ne_", "renorm_",
           "rrelu_with_noise_", "scatter_add_", "scatter_reduce_", "threshold_"}
WHOLE = {"_foreach_copy_", "_foreach_zero_"}  # of those that are called so


def some(self, write):
    """The elements that `write` writes: done to a tensor of bools of the same shape."""
    shadow = torch.zeros(self.shape, dtype=torch.bool)
    write(shadow)
    return shadow


def indexed(self, indices, values, accumulate=False, unsafe=False):
    return None if accumulate else some(self, lambda s: torch.ops.aten.index_put_(s, indices, torch.ones((), dtype=torch.bool)))


# By name, from an operation's arguments: a tensor of bools, or None for nothing.
PARTS = {
    "index_put_": indexed, "_index_put_impl_": indexed,
    "masked_fill_": lambda self, mask, value: some(self, lambda s: s.masked_fill_(mask, True)),
    "masked_scatter_": lambda self, mask, source: some(self, lambda s: s.masked_fill_(mask, True)),
    "index_fill_": lambda self, dim, index, value: some(self, lambda s: s.index_fill_(dim, index, True)),
    "index_copy_": lambda self, dim, index, source: some(self, lambda s: s.index_fill_(dim, index, True)),
    "scatter_": lambda self, dim, index, src=None, value=None, reduce=None: None if reduce else some(self, lambda s: s.scatter_(dim, index, True)),
    "put_": lambda self, index, source, accumulate=False: None if accumulate else some(self, lambda s: s.put_(index, torch.ones(index.shape, dtype=torch.bool))),
    "tril_": lambda self, diagonal=0: ~torch.ones(self.shape, dtype=torch.bool).tril_(diagonal),
    "triu_": lambda self, diagonal=0: ~torch.ones(self.shape, dtype=torch.bool).triu_(diagonal),
}


def updates(op, name):
    return name in UPDATES or name.endswith("_") and (torch.Tag.pointwise in op.tags or name.startswith("_foreach_") and name not in WHOLE)


class Before:
    """Which elements are going to be written: asked before the operation, for it may change what says so."""

    def __init__(self, operation, args, kwargs):
        self.operation, self.args, self.kwargs = operation, args, kwargs
        self.elements = None
        if operation.part is not None:
            mark = memory.mark_of(args[0])
            if mark is not None and not mark.whole:
                self.elements = operation.part(*args, **kwargs)

    def done(self):
        operation = self.operation
        for t in operation.written(self.args, self.kwargs):
            if operation.moves:
                memory.moved(t)
            elif operation.part is not None:
                if self.elements is not None:
                    memory.written_at(t, self.elements)
            elif not operation.updates or self.kwargs.get("beta") == 0:  # addmm_ and its like: nothing of what stood there
                memory.written(t)
