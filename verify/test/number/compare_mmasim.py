"""bitwell's tensor-core dot products against PyPI's mmasim, word by word. Version 2.1.1 and bitwell agree on all of them.

mmasim pulls PyTorch, so it lives in an environment of its own and is never part of CI:
    python3 -m venv mmasim-environment && mmasim-environment/bin/pip install mmasim numpy
    mmasim-environment/bin/python verify/test/number/compare_mmasim.py build/release/bin/bitwell [COUNT]
COUNT dot products an instruction and regime (1,000). Exit status 1: some differ, and the first of each kind are shown.
"""
import subprocess
import sys
import time

import numpy as np
import torch
from mmasim import nv_ptx

BITWELL = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
ARCHITECTURES = {"volta": "Volta", "turing": "Turing", "ampere": "Ampere", "ada": "Ada Lovelace", "hopper": "Hopper",
                 "blackwell": "Blackwell"}
BITS = {"tf32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4}
FRACTION = {"tf32": 23, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2, "e2m3": 3, "e3m2": 2, "e2m1": 1, "f32": 23}
BIAS = {"tf32": 127, "f16": 15, "bf16": 127, "e4m3": 7, "e5m2": 15, "e2m3": 1, "e3m2": 3, "e2m1": 1, "f32": 127}
WIDTH = {"tf32": 32, "f16": 16, "bf16": 16, "f32": 32, **{f: BITS[f] for f in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")}}
REGIMES = ("uniform bits", "near 1", "cancelling", "zeros and subnormals", "ties at 2^-25")
STORED = {"tf32": (np.uint32, torch.float32), "f16": (np.uint16, torch.float16), "bf16": (np.uint16, torch.bfloat16),
          "e4m3": (np.uint8, torch.float8_e4m3fn), "e5m2": (np.uint8, torch.float8_e5m2),
          "f32": (np.uint32, torch.float32)}


def codes(rng, fmt, shape, regime):
    width, fraction = WIDTH[fmt], FRACTION[fmt]
    bits = rng.integers(0, 1 << width, shape, dtype=np.uint64).astype(np.uint32)
    if regime in ("near 1", "cancelling"):
        top = (1 << (width - 1 - fraction)) - 1
        exponent = np.minimum(BIAS[fmt] + rng.integers(-2, 2, shape), top).clip(0).astype(np.uint32)
        keep = np.uint32((1 << fraction) - 1 | 1 << (width - 1))
        bits = bits & keep | exponent << np.uint32(fraction)
    if regime == "zeros and subnormals":
        bits &= np.uint32((1 << fraction) - 1 | 1 << (width - 1))
        bits[rng.random(shape) < 0.5] &= np.uint32(1 << (width - 1))
    if regime == "cancelling" and len(shape) == 2:
        bits[:, 1::2] = bits[:, 0::2]
    return bits


def ties(rng, shape):
    """fp16: 2^-12 2^-13 and one product of 2^-48 to 2^-45 beside zeros: only bits far below decide the rounding."""
    a, b = np.zeros(shape, np.uint32), np.zeros(shape, np.uint32)
    a[:, 0], b[:, 0] = 0x0C00, 0x0800
    a[:, 1], b[:, 1] = 1 << rng.integers(0, 4, shape[0]), 1
    a[:, 2:] = rng.integers(0, 2, (shape[0], shape[1] - 2))
    return a, b


def tensor(fmt, code):
    """Codes as mmasim wants them: one element a byte below 8 bits, fp4 in bits 5 to 2 of it."""
    if fmt in STORED:
        kind, dtype = STORED[fmt]
        signed = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[np.dtype(kind).itemsize]
        raw = code.astype(kind)
        return torch.from_numpy(raw.view({1: np.uint8, 2: np.int16, 4: np.int32}[raw.itemsize]).copy()).to(signed).view(dtype)
    return torch.from_numpy((code << (2 if fmt == "e2m1" else 0)).astype(np.uint8))


def words(result):
    return result.view(torch.int16 if result.dtype == torch.float16 else torch.int32).numpy().astype(np.int64) & (
        0xFFFF if result.dtype == torch.float16 else 0xFFFFFFFF)


def replay(lines):
    done = subprocess.run([BITWELL, "mma", "--batch", "-"], input="\n".join(lines), text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"bitwell mma --batch: {done.stderr}")
    return np.array([int(w, 16) for w in done.stdout.split()])


def hexadecimal(row, width):
    return " ".join(f"{int(c):0{(width + 3) // 4}x}" for c in row)


def subjects():
    """(bitwell's name, mmasim's operation, A's and B's format, result, K, scale format or None)"""
    for ours, theirs in ARCHITECTURES.items():
        k = {"volta": 4, "turing": 8}.get(ours, 16)
        for d in ("f32", "f16"):
            shape = "m8n8k4" if k == 4 else f"m16n8k{k}"
            yield f"{ours}.mma.sync.{d}.f16", nv_ptx.MMA(theirs, f"{shape}.{d}.f16.f16.{d}"), "f16", d, k, None
        if k == 16:
            yield f"{ours}.mma.sync.f32.bf16", nv_ptx.MMA(theirs, "m16n8k16.f32.bf16.bf16.f32"), "bf16", "f32", 16, None
            yield f"{ours}.mma.sync.f32.tf32", nv_ptx.MMA(theirs, "m16n8k8.f32.tf32.tf32.f32"), "tf32", "f32", 8, None
    for f in ("e4m3", "e5m2"):
        for d in ("f32", "f16"):
            yield f"ada.mma.sync.{d}.{f}", nv_ptx.MMA("Ada Lovelace", f"m16n8k32.{d}.{f}.{f}.{d}"), f, d, 32, None
    for f in ("tf32", "f16", "bf16", "e4m3", "e5m2"):
        for d in ("f32", "f16") if f not in ("tf32", "bf16") else ("f32",):
            k = 256 // BITS[f]
            yield f"hopper.wgmma.{d}.{f}", nv_ptx.WGMMA("Hopper", f"m64n8k{k}.{d}.{f}.{f}"), f, d, k, None
    for f, kind in (("tf32", "tf32"), ("f16", "f16"), ("bf16", "f16"), ("e4m3", "f8f6f4"), ("e5m2", "f8f6f4"),
                    ("e2m3", "f8f6f4"), ("e3m2", "f8f6f4"), ("e2m1", "f8f6f4")):
        for d in ("f32", "f16") if f not in ("tf32", "bf16") else ("f32",):
            k = 32 if kind == "f8f6f4" else 256 // BITS[f]
            operation = nv_ptx.TCGen05MMA("Blackwell", f"m64n8k{k}.kind::{kind}.{d}.{f}.{f}")
            yield f"blackwell.tcgen05.{d}.{f}", operation, f, d, k, None
    for f in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"):
        operation = nv_ptx.TCGen05MMABlockScale("Blackwell", f"m128n8k32.kind::mxf8f6f4.block32.f32.{f}.{f}.ue8m0")
        yield f"blackwell.mxf8f6f4.{f}", operation, f, "f32", 32, "ue8m0"
    for s in ("ue4m3", "ue8m0"):
        operation = nv_ptx.TCGen05MMABlockScale("Blackwell", f"m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.{s}")
        yield f"blackwell.mxf4nvf4.{s}", operation, "e2m1", "f32", 64, s


def main():
    rng = np.random.default_rng(1)
    different = compared = 0
    theirs_s = ours_s = products = 0.0
    for name, operation, f, d, k, scale in subjects():
        for regime in REGIMES:
            if regime.startswith("ties") and (f, d) != ("f16", "f16"):
                continue
            a, b = codes(rng, f, (COUNT, k), regime), codes(rng, f, (COUNT, k), regime)
            if regime == "cancelling":
                a[:, 1::2] ^= np.uint32(1 << (WIDTH[f] - 1))
            c = codes(rng, d, (COUNT,), regime)
            c[::4] = 0
            if regime.startswith("ties"):
                (a, b), c = ties(rng, a.shape), np.zeros(COUNT, np.uint32)
            lines = [f"{name} | {hexadecimal(x, WIDTH[f])} | {hexadecimal(y, WIDTH[f])} | {z:x}" for x, y, z in zip(a, b, c)]
            arguments = [tensor(f, a), tensor(f, b), tensor(d, c)]
            if scale:
                blocks = k // 16 if k == 64 else 1
                centre = 127 if scale == "ue8m0" else 0x38
                reach = 255 if regime == "uniform bits" else 8
                sa, sb = (np.clip(centre + rng.integers(-reach, reach + 1, (COUNT, blocks)), 0, 255).astype(np.uint8)
                          for _ in range(2))
                lines = [f"{line} | {hexadecimal(x, 8)} | {hexadecimal(y, 8)}" for line, x, y in zip(lines, sa, sb)]
                dtype = torch.float8_e8m0fnu if scale == "ue8m0" else torch.float8_e4m3fn
                arguments += [torch.from_numpy(s).view(dtype) for s in (sa, sb)]
                if k == 64:  # two a byte, the first in the high half
                    arguments[0], arguments[1] = (torch.from_numpy((x[:, 0::2] << 4 | x[:, 1::2]).astype(np.uint8)) for x in (a, b))
            start = time.perf_counter()
            theirs = words(operation.dpa(*arguments))
            theirs_s += time.perf_counter() - start
            start = time.perf_counter()
            ours = replay(lines)
            ours_s += time.perf_counter() - start
            products += COUNT * k
            compared += COUNT
            wrong = np.flatnonzero(ours != theirs)
            for i in wrong[:2]:
                print(f"{name}, {regime}: bitwell {ours[i]:x}, mmasim {theirs[i]:x}\n  {lines[i]}")
            if len(wrong):
                print(f"{name}, {regime}: {len(wrong)} of {COUNT} differ")
            different += len(wrong)
    print(f"{compared} dot products compared, {different} differ")
    print(f"mmasim {products / theirs_s / 1e6:.2f} M products/s on one core; bitwell through `mma --batch`, parsing "
          f"and printing included, {products / ours_s / 1e6:.2f} M")
    return 1 if different else 0


sys.exit(main())
