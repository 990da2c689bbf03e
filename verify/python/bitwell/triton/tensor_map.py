"""Tensor maps as Triton asks what it has compiled from C for them: the innermost dimension last."""
from .. import _native
from ..gpu import Unsupported

L2_128B = 2


def tiled(address, swizzle, size, type, box, shape, strides, padding):
    steps = [s * size for s in list(strides)[-2::-1]]
    return _native.tensor_map(type, address, list(shape)[::-1], steps, list(box)[::-1], [1] * len(shape), 0, swizzle, L2_128B,
                              1 if padding == 1 else 0)


def im2col(*_):
    raise Unsupported("Triton's tensor maps of im2col are not made without a driver")
