#!/usr/bin/env python3
"""What a first Triton kernel takes under bitwell, and whose time that is: seconds of processor time, by a Python with torch, Triton, bitwell.

    TRITON_CACHE_DIR=$(mktemp -d) PYTHON first_launch.py
"""
import statistics
import time

clock = time.process_time


def spent(what, begin):
    print(f"{what:42} {clock() - begin:7.3f}", flush=True)
    return clock()


at = spent("Python", 0)
import bitwell
at = spent("import bitwell", at)
bitwell.activate()
at = spent("bitwell.activate()", at)
import torch
at = spent("import torch", at)
import triton
import triton.language as tl
at = spent("import triton", at)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


x, y = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
out = torch.empty_like(x)
at = spent("three tensors", at)
add.warmup(x, y, out, 1000, BLOCK=128, grid=(8,))
at = spent("Triton's compiler", at)
add[(8,)](x, y, out, 1000, BLOCK=128)
at = spent("the first launch", at)
add[(8,)](x, y, out, 1000, BLOCK=128)
at = spent("the next one", at)
assert (out == x + y).all()


def median(call):
    """Of 300 calls, in microseconds of processor time."""
    times = []
    for _ in range(300):
        begin = clock()
        call()
        times.append(1e6 * (clock() - begin))
    return statistics.median(times)


# A launch that does nothing, so that what is left is not the simulation's.
NOTHING = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing(.param .u64 p) { ret; }\n"


@triton.jit
def nothing(x):
    pass


raw = x.detach().cpu().numpy().copy()
entry = bitwell.Module(NOTHING, process=bitwell.Process())["nothing"]
print(f"{'bitwell.Module, a launch of nothing':42} {median(lambda: entry.launch(1, 32, raw)):5.0f} us")
entry = bitwell.Module(NOTHING)["nothing"]
print(f"{'the same in the process with torch':42} {median(lambda: entry.launch(1, 32, raw)):5.0f} us")
nothing[(1,)](x)
print(f"{'Triton, a launch of nothing':42} {median(lambda: nothing[(1,)](x)):5.0f} us")
print(f"{'Triton, 1000 elements by 8 CTAs':42} {median(lambda: add[(8,)](x, y, out, 1000, BLOCK=128)):5.0f} us")
