"""Methods and functions of torch that ask where a tensor is, or take it elsewhere."""
import functools

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

from . import memory
from .mode import CPU, CUDA, asked, checked, start, towards

LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like")
NEW = ("new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided")
MADE = ("tensor", "as_tensor", "asarray")


def device_of(value):
    """Of an argument that names one, or of a tensor."""
    if isinstance(value, torch.device):
        return value
    if isinstance(value, torch.Tensor):
        return value.device
    if isinstance(value, str):
        try:
            return torch.device(value)
        except RuntimeError:
            return None
    return None


def ours(tensor):
    """Or one of another kind, say a fake one."""
    return memory.storage_of(tensor) is not None


def moved(raw, self, device, args, kwargs):
    """`raw` with a device that is named in its arguments, for a tensor of plain memory."""
    start()
    if device.type == "cuda":
        checked(device)
    args = [CPU if device_of(a) is not None else a for a in args]
    if kwargs.get("device") is not None:
        kwargs = kwargs | {"device": CPU}
    if memory.on_gpu(self) == (device.type == "cuda"):  # what remains is another type, layout or a copy
        with towards(device):
            return raw(self, *args, **kwargs)
    kwargs = kwargs | {"copy": True}
    if self.requires_grad and torch.is_grad_enabled():
        return Moved.apply(self, device, raw, args, kwargs)
    with towards(device):
        return raw(self, *args, **kwargs)


class Moved(torch.autograd.Function):
    """A tensor's way between the devices, which its gradient goes back."""

    @staticmethod
    def forward(context, tensor, device, raw, args, kwargs):
        context.back, context.dtype = tensor.device, tensor.dtype
        with towards(device):
            return raw(tensor, *args, **kwargs)

    @staticmethod
    def backward(context, gradient):
        return gradient.to(context.back, context.dtype), None, None, None, None


def patched_to(raw):
    @functools.wraps(raw)
    def to(self, *args, **kwargs):
        device = kwargs.get("device", args[0] if args else kwargs.get("other"))
        if isinstance(device, int) and not isinstance(device, bool):
            device = torch.device("cuda", device)
            args = (device, *args[1:]) if args else args
        named = device_of(device)
        if named is None or named.type not in ("cpu", "cuda") or not ours(self) or asked() is not None:
            return raw(self, *args, **kwargs)
        if isinstance(device, torch.Tensor):
            return self.to(named, device.dtype, *args[1:], **{k: v for k, v in kwargs.items() if k != "other"})
        return moved(raw, self, named, args, kwargs)

    return to


class Attribute(property):
    __objclass__ = None  # torch 2.11's compiler asks each of a tensor's attributes for it


def patch_tensor():
    T, raw = torch.Tensor, {n: getattr(torch.Tensor, n) for n in ("to", "cuda", "cpu", "numpy", "grad", "get_device", "__array__", "pin_memory",
                                                                  "is_pinned", "__repr__", "__deepcopy__")}
    device = torch._C.TensorBase.device.__get__
    T.device = Attribute(lambda self: CUDA if memory.on_gpu(self) else device(self))
    T.is_cuda = Attribute(lambda self: self.device.type == "cuda")
    T.is_cpu = Attribute(lambda self: self.device.type == "cpu")
    T.get_device = lambda self: 0 if memory.on_gpu(self) else raw["get_device"](self)
    T.to = patched_to(raw["to"])

    def cuda(self, device=None, non_blocking=False, memory_format=torch.preserve_format):
        if not ours(self):
            return raw["cuda"](self, device, non_blocking, memory_format=memory_format)
        return self.to(CUDA if device is None else torch.device("cuda", device) if isinstance(device, int) else device, memory_format=memory_format)

    def cpu(self, memory_format=torch.preserve_format):
        return self.to(CPU, memory_format=memory_format) if ours(self) else raw["cpu"](self, memory_format=memory_format)

    def refuse(self):
        if memory.on_gpu(self):
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")

    def numpy(self, *, force=False):
        if not force:
            refuse(self)
        return raw["numpy"](self.cpu() if force else self, force=force)

    def array(self, *args, **kwargs):
        refuse(self)
        return raw["__array__"](self, *args, **kwargs)

    def grad(self):
        found = torch._C.TensorBase.grad.__get__(self)
        return memory.place(found) if found is not None and memory.on_gpu(self) and not memory.on_gpu(found) else found

    def pin_memory(self, device=None):
        start()
        return raw["pin_memory"](self)

    def is_pinned(self, device=None):
        mark = memory.mark_of(self)
        return mark is not None and mark.pinned

    def shown(self, *, tensor_contents=None):
        if not memory.on_gpu(self):
            return raw["__repr__"](self, tensor_contents=tensor_contents)
        text = raw["__repr__"](self.detach().cpu(), tensor_contents=tensor_contents)
        return text[:-1] + ", device='cuda:0'" + (", requires_grad=True)" if self.requires_grad else ")")

    def copied(self, memo):
        out = raw["__deepcopy__"](self, memo)
        return memory.place(out) if memory.on_gpu(self) else out

    T.__deepcopy__ = copied
    T.cuda, T.cpu, T.numpy, T.__array__ = cuda, cpu, numpy, array
    T.grad = Attribute(grad, torch._C.TensorBase.grad.__set__, torch._C.TensorBase.grad.__delete__)
    T.pin_memory, T.is_pinned, T.__repr__ = pin_memory, is_pinned, shown
    T.record_stream = lambda self, stream: None


def patch_functions():
    """Those whose device torch has compiled does not see as ours."""
    for place, names in ((torch, LIKE), (torch.Tensor, NEW)):
        for name in names:
            setattr(place, name, told(getattr(place, name)))
    new_tensor = torch.Tensor.new_tensor
    torch.Tensor.new_tensor = lambda self, data, *, dtype=None, device=None, **kwargs: (
        torch.tensor(data, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device, **kwargs)
        if ours(self) else new_tensor(self, data, dtype=dtype, device=device, **kwargs))
    for name in MADE:
        setattr(torch, name, made(getattr(torch, name)))


def told(raw):
    @functools.wraps(raw)
    def function(self, *args, **kwargs):
        device = device_of(kwargs.get("device"))
        if device is None or not ours(self) or device.type not in ("cpu", "cuda") or asked() is not None:
            return raw(self, *args, **kwargs)
        start()
        with towards(device):
            return raw(self, *args, **kwargs | {"device": CPU})

    return function


def default():
    """The device on which a program has said that things are made."""
    if torch._C._len_torch_function_stack():
        for mode in reversed(_get_current_function_mode_stack()):
            if isinstance(mode, DeviceContext):
                return mode.device
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return CPU if context is None else context.device


def made(raw):
    """torch.tensor and its like: made by the CPU, then taken there."""

    @functools.wraps(raw)
    def function(data, *args, **kwargs):
        device = kwargs.get("device")
        if isinstance(device, int):
            device = torch.device("cuda", device)
        device = device_of(device)
        if device is None:
            device = default()
            if device.type != "cuda":
                if isinstance(data, torch.Tensor) and memory.on_gpu(data) and raw.__name__ != "tensor":
                    return data.to(kwargs["dtype"]) if kwargs.get("dtype") else data
                return raw(data, *args, **kwargs)
        if device.type != "cuda":
            if isinstance(data, torch.Tensor):
                data = data.to(device)
            return raw(data, *args, **kwargs)
        start()
        grad = kwargs.pop("requires_grad", False)
        if isinstance(data, torch.Tensor) and memory.on_gpu(data):
            out = data.clone() if raw.__name__ == "tensor" else data
            out = out.to(kwargs["dtype"]) if kwargs.get("dtype") else out
        else:
            out = raw(data, *args, **kwargs | {"device": CPU}).to(device)
        return out.requires_grad_() if grad else out

    return function


def patch_autograd():
    """A program's own gradients get the GPU's tensors, which torch's have made for the CPU."""
    apply = torch.autograd.function.BackwardCFunction.apply

    def applied(self, *gradients):
        if any(isinstance(g, torch.Tensor) and memory.on_gpu(g) for g in (*gradients, *saved(self))):
            gradients = [memory.place(g) if isinstance(g, torch.Tensor) and g.dim() else g for g in gradients]
        return apply(self, *gradients)

    torch.autograd.function.BackwardCFunction.apply = applied


def saved(context):
    try:
        return context.saved_tensors
    except RuntimeError:  # freed
        return ()


def patch():
    patch_tensor()
    patch_functions()
    patch_autograd()
