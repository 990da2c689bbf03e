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


class Usage:
    """What torch.cuda says of its memory: bytes and allocations, now, at most, and of all time."""

    def __init__(self):
        self.now, self.peak, self.allocated, self.freed = [0, 0], [0, 0], [0, 0], [0, 0]

    def grows(self, bytes):
        for i, n in enumerate((bytes, 1)):
            self.now[i] += n
            self.allocated[i] += n
        self.reset_peak(max)

    def shrinks(self, bytes):
        for i, n in enumerate((bytes, 1)):
            self.now[i] -= n
            self.freed[i] += n

    def forget(self, device=None):
        self.allocated, self.freed = [0, 0], [0, 0]

    def reset_peak(self, of=lambda peak, now: now):
        self.peak = [of(p, n) for p, n in zip(self.peak, self.now)]


usage = Usage()


class Mark:
    """On a storage of the GPU, or of pinned memory, which kernels reach too. Its end is the storage's."""

    __slots__ = ("address", "bytes", "pinned", "whole")

    def __init__(self, pinned):
        self.address, self.bytes, self.pinned = 0, 0, pinned
        self.whole = True  # all that it had, ever since it was written as a whole

    def stands(self, address, bytes, defined, name):
        """Where the storage is now, which `resize_` moves."""
        if (address, bytes) != (self.address, self.bytes):
            self.ends()
            if bytes:
                gpu.current().adopt(address, bytes, name, defined)
                if not self.pinned:
                    usage.grows(bytes)
            self.address, self.bytes, self.whole = address, bytes, defined

    def grown(self, address, bytes, name):
        """After `resize_`: what was there before is as it was, as far as this knows, and what comes behind is unwritten."""
        kept = min(self.bytes, bytes)
        if (address, bytes) != (self.address, self.bytes):
            self.stands(address, bytes, bytes == kept, name)
            if bytes > kept:
                gpu.current().mark(address, kept, True)
                ctypes.memset(address + kept, POISON, bytes - kept)

    def ends(self):
        if self.bytes:
            gpu.current().release(self.address)
            if not self.pinned:
                usage.shrinks(self.bytes)
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
    if storage is not None:
        place_storage(storage, name_of(tensor), defined, pinned)
    return tensor


def place_storage(storage, name, defined=True, pinned=False):
    mark = storage.__dict__.get("_bitwell")
    if mark is None:
        mark = storage._bitwell = Mark(pinned)
    address, bytes = storage.data_ptr(), storage.nbytes()
    if not defined and bytes:
        ctypes.memset(address, POISON, bytes)
    mark.stands(address, bytes, defined, name)


def unwritten(tensor):
    """From now on, as at its making: of what a replayed graph allocates."""
    mark = mark_of(tensor)
    if mark is None or not mark.bytes:
        return
    for address, bytes in runs(tensor):
        ctypes.memset(address, POISON, bytes)
        gpu.current().mark(address, bytes, False)
    mark.whole = False


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


def moved(tensor):
    """torch has changed which memory it has, and written nothing."""
    mark = mark_of(tensor)
    if mark is not None:
        storage = _storage(tensor)
        mark.grown(storage.data_ptr(), storage.nbytes(), name_of(tensor))


def written(tensor):
    """By torch: a kernel that reads it finds it defined."""
    mark = mark_of(tensor)
    if mark is None:
        return
    storage = _storage(tensor)
    mark.stands(storage.data_ptr(), storage.nbytes(), True, name_of(tensor))
    if mark.whole:
        return
    found = runs(tensor)
    for address, bytes in found:
        gpu.current().mark(address, bytes, True)
    mark.whole = found == [(mark.address, mark.bytes)]


def written_at(tensor, elements):
    """By torch, those elements of it at which a tensor of bools of its shape is true."""
    mark = mark_of(tensor)
    if mark is None or mark.whole:
        return
    size, start = tensor.element_size(), torch._C.TensorBase.data_ptr(tensor)
    at = elements.nonzero() @ torch.tensor(tensor.stride(), dtype=torch.long) if tensor.dim() else elements.nonzero()[:, 0]
    at = at.unique()  # in order
    if not len(at):
        return
    ends = (at[1:] != at[:-1] + 1).nonzero()[:, 0].tolist()
    for first, last in zip([0, *(e + 1 for e in ends)], [*ends, len(at) - 1]):
        gpu.current().mark(start + int(at[first]) * size, (int(at[last]) - int(at[first]) + 1) * size, True)
