"""Where arrays stand in the host's memory: NumPy's, ml_dtypes', and whatever has DLPack (torch on the CPU, JAX, CuPy's
host arrays). Nothing is copied."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Optional

from . import _native, gpu


@dataclass(frozen=True)
class Array:
    """The bytes that an array's elements stand in, from the first to the last."""
    address: int
    bytes: int
    read_only: bool
    owner: Any  #: that keeps them there


def _span(address: int, shape, strides, item: int, read_only: bool, owner) -> Optional[Array]:
    low, high = address, address + item
    for extent, stride in zip(shape, strides):
        if extent == 0:
            return Array(address, 0, read_only, owner)
        reach = (extent - 1) * stride
        low += min(reach, 0)
        high += max(reach, 0)
    return Array(low, high - low, read_only, owner)


def array_of(value) -> Optional[Array]:
    """None for what is no array."""
    if isinstance(value, Array):
        return value
    numpy = sys.modules.get("numpy")  # who has no NumPy has none of its arrays
    if numpy is not None and isinstance(value, numpy.ndarray):
        if value.dtype.hasobject:
            raise _native.InputError("an array of Python objects has no bytes that a kernel could take")
        if not value.dtype.isnative:
            raise _native.InputError(f"the array has the type {value.dtype.str}, not this machine's order of bytes, which kernels "
                                     "take: x.astype(x.dtype.newbyteorder('='))")
        strides = value.strides
        return _span(value.ctypes.data, value.shape, strides, value.itemsize, not value.flags.writeable, value)
    if hasattr(value, "data_ptr") and hasattr(value, "element_size"):  # torch: also its types that DLPack has not
        device = getattr(value, "device", None)
        if getattr(device, "type", "cpu") != "cpu" and not (gpu.running() and gpu.current().held_at(value.data_ptr())):
            raise _native.InputError(f"the tensor is on {device}; kernels take tensors of the CPU: tensor.cpu()")
        item = value.element_size()
        return _span(value.data_ptr(), value.shape, [s * item for s in value.stride()], item, False, value)
    if isinstance(value, (bytes, str)):
        return None
    if hasattr(value, "__dlpack__") or isinstance(value, (bytearray, memoryview)):
        address, read_only, bits, shape, strides, owner = _native.array_at(value)
        if bits % 8 != 0:
            raise _native.InputError(f"the array's elements have {bits} bits: view them as bytes")
        return _span(address, shape, strides, bits // 8, read_only, owner)
    return None


def merged(arrays: list[tuple[str, Array]]) -> list[tuple[str, Array]]:
    """Those that share bytes become one; of none that has no bytes anything is left."""
    out: list[tuple[str, Array]] = []
    for name, a in sorted((x for x in arrays if x[1].bytes != 0), key=lambda x: x[1].address):
        if out and a.address < out[-1][1].address + out[-1][1].bytes:
            before, b = out[-1]
            end = max(b.address + b.bytes, a.address + a.bytes)
            whole = Array(b.address, end - b.address, b.read_only and a.read_only, (b.owner, a.owner))
            names = [n for n in before.split(" and ") + [name] if n not in ("output", "undefined")]
            out[-1] = (" and ".join(dict.fromkeys(names)) or before, whole)
        else:
            out.append((name, a))
    return out
