"""Tensors that pass through DLPack: a capsule of one of the GPU's says so, and what comes back of one is the GPU's."""
import ctypes
import functools
import os
import sys

import torch

from .. import gpu, late
from . import memory

CPU, CUDA = 1, 2  # DLDeviceType
_name_of, _pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Capsule:
    """The two fields of a tensor's capsule that are asked for here: its address and the kind of its device."""

    def __init__(self, capsule):
        name = _name_of(capsule)
        # A DLTensor is what a DLManagedTensor begins with; in a DLManagedTensorVersioned four words stand before it.
        tensor = _pointer_of(capsule, name) + (32 if name == b"dltensor_versioned" else 0)
        self.address = ctypes.c_uint64.from_address(tensor).value or 0
        self._device = ctypes.c_int32.from_address(tensor + 8)

    @property
    def device(self):
        return self._device.value

    @device.setter
    def device(self, kind):
        self._device.value = kind


class Lent(memory.Mark):
    """On a storage over memory of the GPU's that another one keeps."""

    __slots__ = ()

    def stands(self, address, bytes, defined, name):
        self.address, self.bytes = address, bytes

    def grown(self, address, bytes, name):
        raise RuntimeError("a tensor that came by DLPack has another's memory: it cannot be resized")

    def ends(self):
        pass

    __del__ = ends


def exported(raw):
    """Of a method or function that makes a capsule of a tensor."""

    @functools.wraps(raw)
    def export(tensor, *args, **kwargs):
        capsule = raw(tensor, *args, **kwargs)
        if memory.on_gpu(tensor):
            Capsule(capsule).device = CUDA
        return capsule

    return export


def imported(raw):
    """Of a function that makes a tensor of a capsule, or of what gives one."""

    @functools.wraps(raw)
    def of(value, *args, **kwargs):
        if isinstance(value, torch.Tensor) and memory.on_gpu(value):
            return value.detach()
        if not hasattr(value, "__dlpack_device__"):
            capsule = value
        elif int(value.__dlpack_device__()[0]) == CUDA:
            capsule = value.__dlpack__()
        else:
            return raw(value, *args, **kwargs)
        if Capsule(capsule).device != CUDA:
            return raw(value, *args, **kwargs)
        tensor = Capsule(capsule)
        if not gpu.current().held_at(tensor.address):
            raise RuntimeError(f"the address {tensor.address:#x} that came by DLPack is none of the GPU's memory")
        tensor.device = CPU
        out = raw(capsule)
        storage = memory.storage_of(out)
        storage._bitwell = Lent(False)
        storage._bitwell.stands(storage.data_ptr(), storage.nbytes(), False, "")
        return out

    return of


TVM_FFI = "tvm_ffi._optional_torch_c_dlpack"


def without_table():
    """TVM makes such a table itself where torch has none, by a C++ compiler and in minutes; some of its callers ask nobody whether to."""
    sys.modules[TVM_FFI].load_torch_c_dlpack_extension = lambda: None


def patch():
    # By this table libraries in C ask torch itself, which says that the tensor is the CPU's; without it they ask for a capsule.
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        del torch.Tensor.__dlpack_c_exchange_api__
    os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")
    late.after(TVM_FFI, without_table)
    torch.Tensor.__dlpack__ = exported(torch.Tensor.__dlpack__)
    torch.to_dlpack = torch.utils.dlpack.to_dlpack = exported(torch.utils.dlpack.to_dlpack)
    torch.from_dlpack = torch.utils.dlpack.from_dlpack = imported(torch.utils.dlpack.from_dlpack)
