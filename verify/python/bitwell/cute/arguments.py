"""Arrays as the DSL's host code takes tensors and pointers, and as memory that a launch reaches."""
from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Iterator, Sequence

from .. import _native, gpu
from ..arrays import Array, array_of, merged
from ..process import Process


class Descriptor:
    """A tensor in host code: its address, then those of its extents and strides that were not known to the compiler."""

    def __init__(self, address: int, extents: list[tuple[int, int]], strides: list[tuple[int, int]]):
        """Of an extent or stride the value and the bits it has."""

        def part(values):
            kind = type("Part", (ctypes.Structure,), {"_fields_": [(f"v{i}", ctypes.c_int64 if bits == 64 else ctypes.c_int32) for i, (_, bits) in enumerate(values)]})
            return kind(*(v for v, _ in values))

        parts = [part(values) for values in (extents, strides) if values]
        layout = type("Layout", (ctypes.Structure,), {"_fields_": [(f"p{i}", type(p)) for i, p in enumerate(parts)]})
        whole = type("Whole", (ctypes.Structure,), {"_fields_": [("address", ctypes.c_void_p)] + ([("layout", layout)] if parts else [])})
        self.kept = whole(address, *([layout(*parts)] if parts else []))

    def __c_pointers__(self) -> list[int]:
        return [ctypes.addressof(self.kept)]


def shape_of(array: Any, width: int) -> tuple[list[int], list[int]]:
    """Extents and strides in elements of so many bits; bytes hold several of narrower ones, along the innermost dimension."""
    shape = [int(n) for n in array.shape]
    if hasattr(array, "element_size"):
        item, strides = array.element_size(), [int(s) for s in array.stride()]
    else:
        item = array.itemsize
        strides = [s // item for s in array.strides]
    if width >= 8:
        if 8 * item != width:
            raise _native.InputError(f"elements of {8 * item} bits for a tensor of {width} bits an element")
        return shape, strides
    if item != 1:
        raise _native.InputError(f"elements of {8 * item} bits for a tensor of {width} bits an element: pack them into bytes")
    packed = 8 // width
    inner = next((i for i, s in enumerate(strides) if s == 1 and shape[i] > 1), None)
    if inner is None:
        inner = next((i for i, s in enumerate(strides) if s == 1), len(shape) - 1)
    return [n * packed if i == inner else n for i, n in enumerate(shape)], [s if i == inner else s * packed for i, s in enumerate(strides)]


def bits_of(extent: Any, like: Any, stride: bool) -> int:
    if hasattr(extent, "width"):
        return extent.width
    return 64 if stride and not getattr(like, "_use_32bit_stride", False) else 32


def descriptor(name: str, array: Any, like: Any) -> Descriptor:
    """The array in the place of the tensor that the function was compiled for."""
    try:
        shape, strides = shape_of(array, like.element_type.width)
    except _native.InputError as error:
        raise _native.InputError(f"'{name}': {error}") from None
    known_shape, known_strides = list(like.shape), list(like.stride)
    if len(shape) != len(known_shape):
        raise _native.InputError(f"'{name}' has {len(shape)} dimensions, the tensor that it was compiled for {len(known_shape)}")
    dynamic = []
    for values, known, mask, what in ((shape, known_shape, like.dynamic_shapes_mask, "extent"), (strides, known_strides, like.dynamic_strides_mask, "stride")):
        dynamic.append([])
        for i, (value, expected, free) in enumerate(zip(values, known, mask)):
            if free:
                divisor = getattr(expected, "divisibility", 1) or 1
                if value % divisor:
                    raise _native.InputError(f"'{name}': {what} {value} of dimension {i} is no multiple of {divisor}, as it was compiled for")
                dynamic[-1].append((value, bits_of(expected, like, what == "stride")))
            elif value != expected and shape[i] != 1:
                raise _native.InputError(f"'{name}': {what} {value} of dimension {i}, where it was compiled for {expected}")
    address = address_of(array)
    align = getattr(like, "_assumed_align", None) or 1
    if address % align:
        raise _native.InputError(f"'{name}' stands at {address:#x}, no multiple of the {align} bytes that were assumed: bitwell.cute.aligned gives a copy that does")
    return Descriptor(address, *dynamic)


def address_of(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") and callable(array.data_ptr) else array.ctypes.data


def is_array(value: Any) -> bool:
    return not hasattr(value, "__c_pointers__") and (hasattr(value, "ctypes") and hasattr(value, "strides") or hasattr(value, "element_size"))


def span_of(value: Any) -> list[Array]:
    """What a tensor of the DSL's own, made of an array, reaches."""
    if not hasattr(value, "element_type") or not isinstance(getattr(value, "data_ptr", None), int):
        return []
    width = value.element_type.width
    last = sum((n - 1) * s for n, s in zip(value.shape, value.stride))
    return [Array(value.data_ptr, ((last + 1) * width + 7) // 8, False, value)] if last >= 0 else []


def pointer(address: int, like: Any) -> Any:
    from cutlass.cute.runtime import make_ptr

    return make_ptr(like.dtype, address, like.memspace, assumed_align=like._assumed_align)


def converted(name: str, value: Any, like: Any, reached: list[tuple[str, Array]]) -> Any:
    """The value as host code takes it; what it reaches is added."""
    if isinstance(value, (tuple, list)):
        likes = like if isinstance(like, (tuple, list)) and len(like) == len(value) else [None] * len(value)
        made = [converted(f"{name}[{i}]", v, k, reached) for i, (v, k) in enumerate(zip(value, likes))]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, (bool, int, float)) and hasattr(like, "__c_pointers__") and hasattr(type(like), "width"):
        return type(like)(value)  # within a tuple the DSL takes its own numbers alone
    of_pointer = hasattr(like, "memspace") and hasattr(like, "dtype") and not hasattr(like, "shape")
    if of_pointer and type(value) is int:  # an address, as TVM's calls have it
        return pointer(value, like)
    if not is_array(value):
        reached.extend((name, a) for a in span_of(value))
        return value
    if getattr(getattr(value, "device", None), "type", "cpu") != "cuda" or not gpu.running():  # torch's tensors there are the process's
        reached.append((name, array_of(value)))
    if of_pointer:
        return pointer(address_of(value), like)
    if hasattr(like, "dynamic_shapes_mask"):
        return descriptor(name, value, like)
    return value  # compiled for an array: the DSL converts it


@contextlib.contextmanager
def held(process: Process, reached: Sequence[tuple[str, Array]], undefined: Sequence[Array]) -> Iterator[None]:
    """These bytes are the process's global memory within the block."""
    adopted: list[int] = []
    try:
        for name, a in merged(list(reached)):
            if not process.holds(a.address, a.bytes):
                process.adopt(a.address, a.bytes, name, True, a.read_only)
                adopted.append(a.address)
        for a in undefined:
            process.mark(a.address, a.bytes, False)
        yield
    finally:
        for address in adopted:
            process.release(address)


def aligned(array: Any, bytes: int = 128) -> Any:
    """A copy of a NumPy array at a multiple of so many bytes, which NumPy's own need not be."""
    import numpy

    whole = numpy.empty(array.nbytes + bytes, numpy.uint8)
    begin = -whole.ctypes.data % bytes
    out = whole[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out
