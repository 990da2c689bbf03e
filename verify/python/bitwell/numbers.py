"""Formats, tensor-core products, quantisation and layouts over NumPy arrays."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional

from . import _native

if TYPE_CHECKING:
    import numpy


def _numpy():
    import numpy
    return numpy


#: Of types of NumPy and ml_dtypes: the formats whose codes their elements are.
_TYPES = {"float16": ("f16",), "bfloat16": ("bf16",), "float32": ("f32", "tf32"), "float64": ("f64",),
          "float8_e4m3fn": ("e4m3", "ue4m3"), "float8_e5m2": ("e5m2",), "float8_e3m4": ("e3m4",), "float8_e8m0fnu": ("ue8m0",),
          "float6_e2m3fn": ("e2m3",), "float6_e3m2fn": ("e3m2",), "float4_e2m1fn": ("e2m1",)}


def _codes(values, what: str, format: Optional[str]):
    """A contiguous array of unsigned integers: codes of the format, or the bits of an array of the format's own type.
    `format`: None where nobody knows it."""
    np = _numpy()
    array = np.asarray(values, order="C")
    if format in _TYPES.get(array.dtype.name, ()):
        return array.view(f"u{array.itemsize}")
    if array.dtype.kind == "i":
        if array.size and array.min() < 0:
            raise _native.InputError(f"{what}: {array.min()} is no code")
        return array.astype(f"u{array.itemsize}")
    if array.dtype.kind != "u":
        name = format or "its format"
        raise _native.InputError(f"{what}: {array.dtype.name} is no type of codes of {name}, which are unsigned integers"
                                 + (f": encode('{format}', ...) makes them of values" if format else ""))
    return array


def formats() -> list[dict]:
    """The number formats: bits, exponent and fraction, bias, largest value, source."""
    return json.loads(_native.formats())


def decode(format: str, codes: Any) -> "numpy.ndarray":
    """The values of codes of a format, one an element, in float64, which holds them all; any shape.

    Nibbles that are packed two a byte are to be unpacked before. ml_dtypes arrays are taken by their bits."""
    np = _numpy()
    array = _codes(codes, format, format)
    out = np.empty(array.shape, np.float64)
    _native.decode(format, array.ctypes.data, array.size, array.itemsize, out.ctypes.data)
    return out


def encode(format: str, values: Any, *, rounding: str = "rn", saturate: bool = True) -> "numpy.ndarray":
    """Codes of values (taken as float64), one an element of the smallest unsigned type that holds the format.

    `rounding`: "rn" to nearest even, "rna" nearest away, "rz" toward 0, "rm" down, "rp" up, as PTX's cvt. `saturate`: what
    is too large is the largest value, as .satfinite; else infinity or NaN, as far as the format has them."""
    np = _numpy()
    row = next((f for f in formats() if f["name"] == format), None)
    bits = 8 if row is None else row["container"]
    array = np.asarray(values, np.float64, order="C")
    out = np.empty(array.shape, np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32 if bits <= 32 else np.uint64)
    _native.encode(format, array.ctypes.data, array.size, rounding, saturate, out.itemsize, out.ctypes.data)
    return out


def recipes() -> list[dict]:
    """The recipes of quantise()."""
    return json.loads(_native.recipes())


@dataclass(frozen=True)
class Quantised:
    """E2M1 codes with a scale a block: value = decode("e2m1", codes) * scales * tensor_scale."""
    codes: "numpy.ndarray"  #: uint8, one a byte, of the values' shape
    scale_codes: "numpy.ndarray"  #: uint8; none where scales are fp32
    scales: "numpy.ndarray"  #: float32, one a block of the last axis
    values: "numpy.ndarray"  #: float32: what they stand for
    tensor_scale: float
    clipped: int  #: elements that lay beyond the largest


def quantise(recipe: str, values: Any, *, seed: int = 0) -> Quantised:
    """Quantises values (taken as float32; the last axis is a multiple of the recipe's block) to E2M1."""
    np = _numpy()
    array = np.asarray(values, np.float32, order="C")
    row = next((r for r in recipes() if r["name"] == recipe), None)
    if row is not None and (array.ndim == 0 or array.shape[-1] % row["block"] != 0):
        raise _native.InputError(f"recipe '{recipe}' takes blocks of {row['block']} along the last axis, and the shape is {array.shape}")
    codes, scale_codes, scales, restored, tensor_scale, clipped = _native.quantise(
        recipe, array.ctypes.data, array.size, seed)
    head = array.shape[:-1]

    def blocks(data: bytes, dtype):
        flat = np.frombuffer(data, dtype)
        return flat.reshape(*head, -1) if flat.size else flat

    return Quantised(np.frombuffer(codes, np.uint8).reshape(array.shape), blocks(scale_codes, np.uint8),
                     blocks(scales, np.float32), np.frombuffer(restored, np.float32).reshape(array.shape), tensor_scale,
                     clipped)


def instructions() -> list[dict]:
    """The tensor-core instructions whose arithmetic is known: formats, products a sum, evidence."""
    return json.loads(_native.instructions())


def dot(instruction: str, a: Any, b: Any, c: Any = 0, *, scales_a: Optional[Any] = None,
        scales_b: Optional[Any] = None) -> "numpy.ndarray":
    """The products of an instruction, bit for bit: a . b + c over the last axis.

    `a`, `b`: codes of its formats, shape (..., k); `c`: codes of its result's format, shape (...); scales: codes, shape
    (..., k / scale_vector). Shapes are broadcast but for the last axis. Returns codes (uint32) of shape (...):
    dot("hopper.wgmma.f32.e4m3", ...).view(float32) are the values."""
    np = _numpy()
    row = next((i for i in instructions() if i["name"] == instruction), {})
    a, b, c = _codes(a, "a", row.get("a")), _codes(b, "b", row.get("b")), _codes(c, "c", row.get("result"))
    if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != b.shape[-1]:
        raise _native.InputError(f"a has the shape {a.shape} and b {b.shape}: the last axes are to be the same, k")
    k = a.shape[-1]
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1], c.shape)

    def spread(x, last, dtype, what):
        most = np.iinfo(dtype).max
        if x.size and x.max() > most:
            raise _native.InputError(f"{what}: {x.max()} is no code, which go up to {most}")
        return np.ascontiguousarray(np.broadcast_to(x, (*shape, *last)).astype(dtype))

    a, b, c = spread(a, (k,), np.uint32, "a"), spread(b, (k,), np.uint32, "b"), spread(c, (), np.uint32, "c")
    none = np.empty(0, np.uint8)

    def scales(x, what):
        if x is None:
            return none
        x = _codes(x, what, row.get("scale"))
        return spread(x, x.shape[-1:], np.uint8, what)

    sa, sb = scales(scales_a, "scales_a"), scales(scales_b, "scales_b")
    if sa.size != sb.size:
        raise _native.InputError(f"{sa.size} scales of a and {sb.size} of b")
    out = np.empty(shape, np.uint32)
    _native.dots(instruction, k, out.size, a.ctypes.data, b.ctypes.data, c.ctypes.data, sa.ctypes.data, sa.size,
                 sb.ctypes.data, out.ctypes.data)
    return out


class Layout:
    """A layout, with the offset of each coordinate; notebooks draw it."""

    def __init__(self, what: str, parameters: Mapping[str, str]):
        self._what, self._parameters = what, dict(parameters)
        self.text, facts, extents, offsets = _native.layout(what, json.dumps(self._parameters))
        self.facts: dict = json.loads(facts)  #: size, cosize; of a named one axes, unit, region, source, evidence
        self.extents: tuple[int, ...] = tuple(extents)
        self._offsets = offsets

    @property
    def offsets(self) -> "numpy.ndarray":
        """int64, of the shape of its modes: mode 0 the first axis."""
        return _numpy().frombuffer(self._offsets, "int64").reshape(self.extents, order="F")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<bitwell.Layout {self.text}>"

    def _repr_svg_(self) -> str:
        from .command import _Picture
        picture = _Picture()
        picture._words = ("layout", self._what, *(f"--{name}={value}" for name, value in self._parameters.items()))
        return picture._repr_svg_()


def layout(what: str, **parameters: Any) -> Layout:
    """A CuTe expression ("S<3,4,3> o 0 o (8,64):(64,1)", "logical_divide((16,32), [4:1, 8:1])"), or a layout of hardware
    by name with its parameters (layouts() lists them). InputError for what is none."""
    return Layout(what, {name.replace("_", "-"): str(value) for name, value in parameters.items()})


def layouts() -> list[dict]:
    """The layouts of hardware that go by a name."""
    return json.loads(_native.layouts())
