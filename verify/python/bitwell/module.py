"""PTX as a module whose entries are called with arrays."""
from __future__ import annotations

import ctypes
import json
import os
import re
import struct
import sys
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Sequence, Union

from . import _native
from .arrays import Array, array_of, merged
from .process import Extent, Process, process as the_process
from .report import Report

_INTEGER = re.compile("[usb](8|16|32|64)")  # a type of PTX that takes an integer
_FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
_MAP_BYTES = 128


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry, as PTX has it."""
    name: str
    type: str  #: "u64", "f32", "b8", ...
    bytes: int
    is_struct: bool  #: an array of bytes: a structure, a tensor map

    def __str__(self) -> str:
        return f"{self.name} (.{self.type}{f'[{self.bytes}]' if self.is_struct else ''})"


_DATA_TYPES = ("UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16",
               "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B")
_INTERLEAVES = ("NONE", "16B", "32B")
_SWIZZLES = ("NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
_PROMOTIONS = ("NONE", "L2_64B", "L2_128B", "L2_256B")
_FILLS = ("NONE", "NAN_REQUEST_ZERO_FMA")


def _choice(value: Union[str, int], names: Sequence[str], prefix: str) -> int:
    if isinstance(value, int):
        return int(value)
    name = str(value).upper()
    name = name[len(prefix):] if name.startswith(prefix) else name
    if name not in names:
        raise _native.InputError(f"{prefix}{name}: there is none; there are {', '.join(names)}")
    return names.index(name)


class TensorMap:
    """A tensor map over an array, made as cuTensorMapEncodeTiled makes it; a kernel takes it by value.

    Arguments are the driver's, by its names: sizes in elements and the innermost dimension first; `global_strides` in
    bytes, of dimension 1 and up (none: rows follow each other). Choices go by the driver's names, with or without their
    prefix ("FLOAT16", "CU_TENSOR_MAP_SWIZZLE_128B"), or by number. `bytes(map)` are the 128 that a driver writes.
    """

    def __init__(self, tensor: Any, data_type: Union[str, int], global_dim: Sequence[int], box_dim: Sequence[int], *,
                 global_strides: Optional[Sequence[int]] = None, element_strides: Optional[Sequence[int]] = None,
                 interleave: Union[str, int] = "NONE", swizzle: Union[str, int] = "NONE",
                 l2_promotion: Union[str, int] = "NONE", oob_fill: Union[str, int] = "NONE"):
        prefix = "CU_TENSOR_MAP_"
        kind = _choice(data_type, _DATA_TYPES, prefix + "DATA_TYPE_")
        dims = [int(d) for d in global_dim]
        if isinstance(tensor, int):
            self.array: Optional[Array] = None
            address = tensor
        else:
            self.array = array_of(tensor)
            if self.array is None:
                raise _native.InputError(f"a tensor map is over an array or an address, not {type(tensor).__name__}")
            address = self.array.address
        if global_strides is None:
            bits = (8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6)[kind] if 0 <= kind < 16 else 8
            global_strides, row = [], bits
            for d in dims[:-1]:
                row *= d
                global_strides.append(row // 8)
        self._bytes = _native.tensor_map(
            kind, address, dims, [int(s) for s in global_strides], [int(b) for b in box_dim],
            [1] * len(dims) if element_strides is None else [int(s) for s in element_strides],
            _choice(interleave, _INTERLEAVES, prefix + "INTERLEAVE_"), _choice(swizzle, _SWIZZLES, prefix + "SWIZZLE_"),
            _choice(l2_promotion, _PROMOTIONS, prefix + "L2_PROMOTION_"),
            _choice(oob_fill, _FILLS, prefix + "FLOAT_OOB_FILL_"))

    def __bytes__(self) -> bytes:
        return self._bytes


def _bits(value: int, size: int, p: Parameter) -> bytes:
    signed = p.type[0] == "s"
    least = -(1 << (8 * size - 1))
    most = (1 << (8 * size - 1 if signed else 8 * size)) - 1  # nvcc makes .u32 of an int too
    if not least <= value <= most:
        raise _native.InputError(f"{value} for {p}: it must be {least} to {most}")
    return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def _raw(value) -> Optional[bytes]:
    """The bytes of what is bytes already: a structure, a NumPy scalar, a tensor map."""
    if isinstance(value, (bytes, TensorMap)):
        return bytes(value)
    if isinstance(value, (bytearray, memoryview)) and getattr(value, "ndim", 1) == 1:
        return bytes(value)
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return bytes(memoryview(value).cast("B")) if ctypes.sizeof(value) else b""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.tobytes()
    return None


def argument_bytes(p: Parameter, value: Any, arrays: list[tuple[str, Array]]) -> bytes:
    """The bytes of an argument; of an array its address, and it is added to `arrays`."""
    if isinstance(value, TensorMap) and value.array is not None:
        arrays.append((p.name, value.array))
    scalar = None if p.is_struct or isinstance(value, (bool, int, float, TensorMap)) else _raw(value)
    array = None
    if scalar is None and not isinstance(value, (bool, int, float, TensorMap, bytearray, memoryview)):
        array = array_of(value)
    elif isinstance(value, (bytearray, memoryview)) and not p.is_struct and p.bytes == 8:
        array = array_of(value)  # as a buffer
    if array is not None:
        if p.bytes != 8 or p.is_struct or p.type in _FLOATS:
            raise _native.InputError(f"an array for {p}, which is no pointer")
        arrays.append((p.name, array))
        return array.address.to_bytes(8, "little")
    if value is None and p.bytes == 8 and not p.is_struct:
        return bytes(8)
    raw = _raw(value)
    numpy = sys.modules.get("numpy")
    if raw is not None and not p.is_struct and numpy is not None and isinstance(value, numpy.generic):
        # Of its own type: NumPy's float64 and int64 are what Python's arithmetic gives, and are converted.
        if value.dtype.kind in "iub":
            return _scalar(p, int(value))
        if value.dtype.kind == "f" and value.dtype.itemsize == 8:
            return _scalar(p, float(value))
    if raw is not None:
        if len(raw) != p.bytes:
            raise _native.InputError(f"{type(value).__name__} of {len(raw)} bytes for {p}, which has {p.bytes}")
        return raw
    return _scalar(p, value)


def _scalar(p: Parameter, value: Any) -> bytes:
    if not p.is_struct and _INTEGER.fullmatch(p.type):
        if isinstance(value, (bool, int)) or (hasattr(value, "__index__") and not isinstance(value, float)):
            return _bits(value.__index__(), p.bytes, p)
        if isinstance(value, float):
            raise _native.InputError(f"the float {value} for {p}, which is an integer: numpy.float32(x) gives its bits")
    if not p.is_struct and p.type in _FLOATS:
        if isinstance(value, (bool, int, float)):
            try:
                return struct.pack(_FLOATS[p.type], value)
            except OverflowError as e:
                raise _native.InputError(f"{value} for {p}: it is too large") from e
    raise _native.InputError(f"{type(value).__name__} for {p}: it takes "
                             + (f"{p.bytes} bytes: a ctypes structure, bytes, a TensorMap" if p.is_struct else
                                "an array, an address or an integer" if p.bytes == 8 and _INTEGER.fullmatch(p.type) else
                                "a number"))


class Entry:
    """An entry of a module."""

    def __init__(self, module: "Module", name: str, written: str, parameters: Sequence[Parameter]):
        self.module = module
        self.name = name  #: as PTX has it
        self.written = written  #: as C++ has it
        self.parameters = tuple(parameters)

    def __repr__(self) -> str:
        return f"<bitwell.Entry {self.written}: {', '.join(map(str, self.parameters))}>"

    def allow_non_portable_clusters(self) -> None:
        """Clusters of up to 16 CTAs from now on, where without it 8 are the most."""
        self.module.process.allow_non_portable_clusters(self.module.number, self.name)

    def launch(self, grid: Extent, block: Extent, *args: Any, cluster: Optional[Extent] = None, shared: int = 0,
               cooperative: bool = False, schedule: str = "", seed: int = 0, schedules: Optional[int] = None,
               races: Optional[bool] = None, explain: bool = False, strict: Optional[bool] = None,
               numeric: Optional[bool] = None, outputs: Sequence[Any] = (), all_written: bool = False,
               undefined: Sequence[Any] = (), check: bool = True, threads: Optional[int] = None) -> Report:
        """Runs the entry on these arguments, one for each parameter; arrays are read and written in place.

        A pointer takes an array (NumPy, ml_dtypes, DLPack; of a view the bytes from its first element to its last) or an
        address; a number is converted to the parameter's type, and refused where that does not hold it; a structure is
        a ctypes one, bytes or a NumPy scalar; a tensor map is a TensorMap. `grid`, `block`, `cluster`: a number, or
        (x, y, z); the grid counts CTAs, the block threads. `shared`: bytes of dynamic shared memory.

        `races` checks for races, `schedules=N` compares N orders of turns, `strict` takes the manual at its word,
        `numeric` counts what 16-bit arithmetic loses. `outputs` are arrays that schedules are compared by, and that are
        wholly written under `all_written`; `undefined` are arrays that count as not written yet. `threads`: host threads
        that its clusters may run on (the process's), of which nothing but time comes. What is wrong raises Fault,
        ScheduleError or RaceError, but not with check=False: the report has it."""
        if len(args) != len(self.parameters):
            raise _native.InputError(f"{len(args)} arguments for {self.written}, which has {len(self.parameters)}: "
                                     + ", ".join(map(str, self.parameters)))
        process = self.module.process
        arrays: list[tuple[str, Array]] = []
        arguments = [argument_bytes(p, a, arrays) for p, a in zip(self.parameters, args)]
        spans = [a for a in map(array_of, outputs) if a is not None and a.bytes]
        blank = [a for a in map(array_of, undefined) if a is not None and a.bytes]
        with process._one_at_a_time:
            adopted: list[int] = []
            try:
                for name, a in merged(arrays + [("output", s) for s in spans] + [("undefined", s) for s in blank]):
                    if not process.holds(a.address, a.bytes):
                        process.adopt(a.address, a.bytes, name, True, a.read_only)
                        adopted.append(a.address)
                for a in blank:
                    process.mark(a.address, a.bytes, False)
                report = process.launch(
                    self.module.number, self.name, grid, block, arguments, cluster=cluster, shared=shared,
                    cooperative=cooperative, schedule=schedule, seed=seed, schedules=schedules, races=races,
                    explain=explain, strict=strict, numeric=numeric, outputs=[(s.address, s.bytes) for s in spans],
                    all_written=all_written, threads=threads)
            finally:
                for address in adopted:
                    process.release(address)
        if report.printed:
            sys.stdout.write(report.printed)
        return report.check() if check else report


class Module:
    """PTX, loaded: `module["entry"].launch(grid, block, *args)`.

    `image` is PTX, or the bytes of a file that has PTX: a cubin made with -lineinfo, a fat binary, an object file, a
    program; `folder` is where to look for the PTX of machine code that has none. A name finds the entry that is called so, in PTX or in C++, or the only one
    whose C++ name has it as a part. `.variables` are its __device__ and __constant__ ones. `fmad`: products and sums are
    fused where ptxas fuses them, as of `bitwell run --fmad`.
    """

    def __init__(self, image: Union[str, bytes], *, path: str = "", folder: str = "",
                 process: Optional[Process] = None, fmad: bool = False):
        self.process = the_process() if process is None else process
        text = _text_of(image, path, folder)
        self.number = self.process.load(_native.fused(text, path) if fmad else text, path)
        j = json.loads(self.process._native.module(self.number))
        self.target: str = j["target"]
        self.entries: dict[str, Entry] = {}
        for e in j["entries"]:
            parameters = []
            for i, p in enumerate(e["parameters"]):
                short = f"argument {i}" if p["name"].endswith(f"_param_{i}") else p["name"]
                parameters.append(Parameter(short, p["type"], p["bytes"], p["struct"]))
            self.entries[e["name"]] = Entry(self, e["name"], e["written"], parameters)
        self.variables: dict[str, tuple[int, int]] = {v["name"]: (v["address"], v["bytes"]) for v in j["variables"]}

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike], *, folder: str = "",
                  process: Optional[Process] = None, fmad: bool = False) -> "Module":
        """The module in a file."""
        with open(path, "rb") as f:
            return cls(f.read(), path=os.fspath(path), folder=folder, process=process, fmad=fmad)

    def __getitem__(self, name: str) -> Entry:
        if name in self.entries:
            return self.entries[name]
        for match in (lambda e: e.written.split("(")[0] == name or e.written == name, lambda e: name in e.written):
            found = [e for e in self.entries.values() if match(e)]
            if len(found) == 1:
                return found[0]
            if found:
                raise KeyError(f"'{name}' is part of several entries: " + ", ".join(e.written for e in found))
        raise KeyError(f"there is no entry '{name}'; there are " + ", ".join(e.written for e in self.entries.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def unload(self) -> None:
        """Frees its variables; it launches nothing from now on."""
        self.process.unload(self.number)

    def __repr__(self) -> str:
        return f"<bitwell.Module for {self.target}: {', '.join(e.written for e in self.entries.values())}>"


def _text_of(image: Union[str, bytes], path: str, folder: str) -> str:
    if isinstance(image, str):
        if "\n" not in image and image.endswith((".ptx", ".cubin", ".fatbin", ".o", ".so")):
            raise _native.InputError(f"'{image}' is a path: bitwell.Module.from_file takes it")
        return image
    try:
        return _native.ptx_of(bytes(image), folder)
    except _native.InputError as e:
        raise _native.InputError(f"'{path}': {e}" if path else str(e)) from None
