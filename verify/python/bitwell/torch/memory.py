"""Which tensors are the GPU's: a mark on their storage, which lives as long as the storage does.

A tensor of the GPU is one of the CPU whose storage is marked: views share the mark, and the address is the host's.
"""
import ctypes

import torch

from .. import gpu

POISON = 0xFF  # of what nobody has written: in most types a NaN
_storage = torch._C.TensorBase.untyped_storage
PLAIN = torch.Tensor.__torch_dispatch__
_device = torch._C.TensorBase.device.__get__


class Mark:
    """On a storage of the GPU, or of pinned memory, which kernels reach too. Its end is the storage's."""

    __slots__ = ("address", "bytes", "pinned")

    def __init__(self, pinned):
        self.address, self.bytes, self.pinned = 0, 0, pinned

    def stands(self, address, bytes, defined, name):
        """Where the storage is now, which `resize_` moves."""
        if (address, bytes) != (self.address, self.bytes):
            self.ends()
            if bytes:
                gpu.current().adopt(address, bytes, name, defined)
            self.address, self.bytes = address, bytes

    def ends(self):
        if self.bytes:
            gpu.current().release(self.address)
            self.bytes = 0

    __del__ = ends


def storage_of(tensor):
    """Its storage if it is plain memory of the CPU, else None."""
    if type(tensor).__torch_dispatch__ is not PLAIN:  # a fake one, or a wrapper, which says itself where it is
        return None
    try:
        if _device(tensor).type == "cpu":
            return _storage(tensor)
    except (NotImplementedError, RuntimeError):  # sparse tensors and those of transforms have none
        pass
    return None


def mark_of(tensor):
    storage = storage_of(tensor)
    return None if storage is None else storage.__dict__.get("_bitwell")


def name_of(tensor):
    """In messages."""
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def on_gpu(tensor):
    mark = mark_of(tensor)
    return mark is not None and not mark.pinned


def place(tensor, defined=True, pinned=False):
    """The tensor's storage is the GPU's from now on. What is not defined is poisoned, so that torch sees it too."""
    storage = storage_of(tensor)
    if storage is None:
        return tensor
    mark = storage.__dict__.get("_bitwell")
    if mark is None:
        mark = storage._bitwell = Mark(pinned)
    address, bytes = storage.data_ptr(), storage.nbytes()
    if not defined and bytes:
        ctypes.memset(address, POISON, bytes)
    mark.stands(address, bytes, defined, name_of(tensor))
    return tensor


def runs(tensor):
    """Addresses and lengths of what the tensor's elements take, those side by side as one."""
    dims = [(n, step) for n, step in zip(tensor.shape, tensor.stride()) if n != 1]
    if any(n == 0 for n, _ in dims):
        return []
    size = tensor.element_size()
    length = size
    outer = []
    for n, step in sorted(dims, key=lambda d: d[1]):
        if step * size == length and not outer:
            length *= n
        elif step:
            outer.append((n, step * size))
    starts = [torch._C.TensorBase.data_ptr(tensor)]
    for n, step in outer:
        starts = [s + i * step for s in starts for i in range(n)]
    return [(s, length) for s in starts]


def written(tensor):
    """By torch: a kernel that reads it finds it defined."""
    mark = mark_of(tensor)
    if mark is None:
        return
    storage = _storage(tensor)
    mark.stands(storage.data_ptr(), storage.nbytes(), True, name_of(tensor))
    for address, bytes in runs(tensor):
        gpu.current().mark(address, bytes, True)
