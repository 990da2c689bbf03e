"""Operators that a program registers for CUDA: their functions run with the GPU's tensors as tensors of the GPU."""
import functools

import torch

KEYS = ("CUDA", "CompositeExplicitAutograd")  # the device's own, or one for all of them
_functions = {}  # by an operator's name and overload: by key


def function_of(op):
    """What the program has registered for a tensor of the GPU, or None."""
    found = _functions.get((op._schema.name, op._schema.overload_name))
    return None if found is None else next((found[key] for key in KEYS if key in found), None)


def patch():
    raw = torch.library.Library.impl

    @functools.wraps(raw)
    def impl(self, op_name, fn, dispatch_key="", **kwargs):
        out = raw(self, op_name, fn, dispatch_key, **kwargs)
        key = dispatch_key or self.dispatch_key
        if key in KEYS and callable(fn) and not kwargs.get("with_keyset"):
            if isinstance(op_name, torch._ops.OpOverload):
                name, overload = op_name._schema.name, op_name._schema.overload_name
            else:
                name, _, overload = op_name.partition(".")
                name, overload = name if "::" in name else f"{self.ns}::{name}", "" if overload == "default" else overload
            _functions.setdefault((name, overload), {})[key] = fn
        return out

    torch.library.Library.impl = impl
