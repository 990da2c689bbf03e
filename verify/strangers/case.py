"""One launch of a stranger's kernel: PTX, arguments, and what NumPy says must come of it, as a folder for `bitwell run`."""
import json
import math
import re
from dataclasses import dataclass, field

import numpy as np

ARCHITECTURES = ("sm_90a", "sm_100a")


class In:
    """A buffer that the kernel reads. `format` (bf16, e4m3, ...): what the array's numbers become, exactly."""

    def __init__(self, array, format=None):
        self.array, self.format = np.ascontiguousarray(array), format

    def described(self, name, folder):
        np.save(folder / f"{name}.npy", self.array)
        return {"buffer": name, "npy": f"{name}.npy", "read_only": True} | ({"format": self.format} if self.format else {})


class Out:
    """A buffer that the kernel leaves. `expected` is NumPy's; the output has its type, or `dtype`, or `format`.

    `before`: what stands in it at first, of the output's type; without it nothing does. The tolerance is bitwell's:
    nothing (the same number), ulp=N, or rtol=X, atol=Y.
    """

    def __init__(self, expected, dtype=None, format=None, before=None, **tolerance):
        self.expected, self.format, self.before, self.tolerance = np.ascontiguousarray(expected), format, before, tolerance
        self.dtype = np.dtype(dtype or self.expected.dtype)

    def described(self, name, folder):
        np.save(folder / f"{name}.expected.npy", self.expected)
        j = {"buffer": name, "expected": f"{name}.expected.npy", "output": f"{name}.out.npy", "shape": list(self.expected.shape)}
        if self.tolerance:
            j["tolerance"] = self.tolerance
        if self.format:
            j["format"] = self.format
        else:
            j["dtype"] = self.dtype.str[1:]
        if self.before is not None:
            np.save(folder / f"{name}.before.npy", np.ascontiguousarray(self.before))
            return j | {"npy": f"{name}.before.npy"}
        bits = {"bf16": 16, "e4m3": 8, "e5m2": 8}[self.format] if self.format else 8 * self.dtype.itemsize
        return j | {"unwritten": self.expected.size * bits // 8}


class Scratch:
    """Memory that the kernel may use as it likes: `bytes` zeros."""

    def __init__(self, bytes):
        self.bytes = bytes

    def described(self, name, folder):
        return {"buffer": name, "zeros": self.bytes}


@dataclass
class Case:
    generator: str  # and version
    ptx: str
    entry: str
    grid: tuple
    block: tuple
    buffers: dict  # name to In, Out or Scratch
    arguments: list  # as LAUNCH.json has them; a string stands for the address of that buffer
    shared: int = 0  # dynamic bytes
    cluster: tuple = ()
    options: list = field(default_factory=list)  # more members of LAUNCH.json, as pairs

    def write(self, folder, name, arch):
        """The folder: kernel.ptx, launch.json, the arrays, and case.json for the table."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernel.ptx").write_text(self.ptx.rstrip("\0"))
        launch = {"ptx": "kernel.ptx", "entry": self.entry, "grid": list(self.grid), "block": list(self.block),
                  "buffers": [b.described(n, folder) for n, b in self.buffers.items()],
                  "arguments": [{"pointer": a} if isinstance(a, str) else a for a in self.arguments]} | dict(self.options)
        if self.shared:
            launch["dynamic_shared_bytes"] = self.shared
        if self.cluster and math.prod(self.cluster) > 1:
            launch["cluster"] = list(self.cluster)
        (folder / "launch.json").write_text(json.dumps(launch, indent=1))
        words = [", ".join(f"{k} {v:g}" for k, v in b.tolerance.items()) for b in self.buffers.values() if isinstance(b, Out)]
        (folder / "case.json").write_text(json.dumps(
            {"kernel": name, "generator": self.generator, "arch": arch, "target": re.search(r"^\.target (\w+)", self.ptx, re.M).group(1),
             "lines": self.ptx.count("\n"), "tolerance": "; ".join(sorted(set(filter(None, words)))) or "none"}))


KERNELS = {}  # name: (function of the architecture that gives a Case, architectures)


def kernel(name, only=ARCHITECTURES):
    """Registers a function of the architecture that gives a Case. The table has a row for each of `only`."""

    def register(make):
        if name in KERNELS:
            raise ValueError(f"two kernels are called {name}")
        KERNELS[name] = (make, only)
        return make

    return register


def scalar(type, value):
    return {"type": type, "value": value}


def random(*shape, seed=1):
    """Numbers of a normal distribution, fp32."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def whole(*shape, below=4, seed=1):
    """Small whole numbers of both signs: exact in every format, and so are their sums."""
    return np.random.default_rng(seed).integers(-below + 1, below, shape).astype(np.float32)


def rounded(x, fraction, lowest, largest):
    """x in a format of so many fraction bits, smallest normal 2^lowest, to nearest, ties to even, ends at `largest`."""
    x = np.asarray(x, np.float64)
    exponent = np.maximum(np.frexp(x)[1] - 1, lowest)
    step = np.ldexp(1.0, exponent - fraction)
    return np.clip(np.rint(x / step) * step, -largest, largest)


def bf16(x):
    return rounded(x, 7, -126, 3.3895313892515355e38).astype(np.float32)


def e4m3(x):
    return rounded(x, 3, -6, 448).astype(np.float32)


def e5m2(x):
    return rounded(x, 2, -14, 57344).astype(np.float32)
