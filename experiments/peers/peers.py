#!/usr/bin/env python3
"""How fast are other simulators of PTX on this machine, beside bitwell?

    experiments/peers/peers.py BITWELL LIBRARY... [--elements N] [--runs N]

BITWELL is the program. Each LIBRARY is a shared library that you have built: gpuocelot's, which has `ptx_run`, or one that
has CUDA's driver API, as GPGPU-Sim's and Accel-Sim's libcudart.so (start this script with the environment that their
set-up makes) and bitwell's own libcuda.so.1 do. All run saxpy_loop.ptx, a thread block of 128 threads, in a process of
its own; the best of so many runs counts, without what comes before and behind the launch. Printed are lane instructions
a second, as bitwell counts them, and how many times as fast bitwell is. A peer that leaves other numbers, or cannot run it,
says so in its line, and the exit status is 1.
"""
import argparse
import ctypes
import json
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PTX = Path(__file__).resolve().with_name("saxpy_loop.ptx")
THREADS = 128
RAN = re.compile(r": ([\d,]+) lane instructions in ([\d.]+) s")


def values(elements):
    """x, y and 1.5 x + y, of numbers that fp32 sums without rounding."""
    x = [float(i % 61) for i in range(elements)]
    y = [float(i % 53) for i in range(elements)]
    return x, y, [1.5 * a + b for a, b in zip(x, y)]


def by_ptx_run(library, text, x, y, elements):
    text = text.replace(b".target sm_75", b".target sm_35")  # the newest that gpuocelot knows, and bitwell does not
    arguments = (ctypes.c_void_p * 3)(ctypes.addressof(x), ctypes.addressof(y), elements)
    begin = time.perf_counter()
    library.ptx_run(text, 3, arguments, THREADS, 1, 1, 1, 1, 1, 0)
    return time.perf_counter() - begin


def by_driver(library, text, x, y, elements):
    def call(name, *arguments):
        second = name + "_v2"  # of these the first is for 32-bit addresses, or has gone
        has_second = name.startswith(("cuMem", "cuCtxCreate")) and hasattr(library, second)
        if status := getattr(library, second if has_second else name)(*arguments):
            sys.exit(f"{name} gives {status}")

    handle = lambda: ctypes.c_void_p(0)
    context, module, entry, places = handle(), handle(), handle(), [ctypes.c_uint64(0), ctypes.c_uint64(0)]
    device = ctypes.c_int(0)
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuCtxCreate", ctypes.byref(context), 0, device)
    call("cuModuleLoadData", ctypes.byref(module), text)
    call("cuModuleGetFunction", ctypes.byref(entry), module, b"saxpy_loop")
    size = ctypes.c_size_t(4 * elements)
    for place, host in zip(places, (x, y)):
        call("cuMemAlloc", ctypes.byref(place), size)
        call("cuMemcpyHtoD", place, host, size)
    count = ctypes.c_uint32(elements)
    arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(v) for v in (*places, count)))
    begin = time.perf_counter()
    call("cuLaunchKernel", entry, 1, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
    took = time.perf_counter() - begin
    call("cuMemcpyDtoH", y, places[1], size)
    return took


def run_peer(path, elements):
    """In a process of its own: prints the seconds, or why there are none."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        sys.exit(str(error))
    way = next((w for name, w in (("ptx_run", by_ptx_run), ("cuLaunchKernel", by_driver)) if hasattr(library, name)), None)
    if way is None:
        sys.exit("it has neither ptx_run nor cuLaunchKernel")
    x, y, expected = values(elements)
    array = ctypes.c_float * elements
    x, y = array(*x), array(*y)
    took = way(library, PTX.read_bytes() + b"\0", x, y, elements)
    if wrong := sum(a != b for a, b in zip(y, expected)):
        sys.exit(f"{wrong} of {elements} numbers are wrong")
    print(f"seconds: {took}")


def bitwell_run(program, elements, folder):
    x, y, expected = values(elements)
    out = folder / "y.bin"
    launch = {"ptx": str(PTX), "entry": "saxpy_loop", "grid": [1], "block": [THREADS], "arguments": [
        {"buffer": "x", "values": x, "format": "f32"}, {"buffer": "y", "values": y, "format": "f32", "output": str(out)},
        {"type": "u32", "value": elements}]}
    file = folder / "launch.json"
    file.write_text(json.dumps(launch))
    done = subprocess.run([program, "run", str(file), "--threads", "1"], capture_output=True, text=True)
    ran = RAN.search(done.stdout)
    if done.returncode != 0 or ran is None:
        sys.exit(f"peers: {program} ended with {done.returncode}: {done.stderr.strip()}")
    if struct.unpack(f"<{elements}f", out.read_bytes()) != tuple(expected):
        sys.exit(f"peers: {program} leaves other numbers")
    return int(ran[1].replace(",", "")), float(ran[2])


def peer_seconds(path, elements):
    """Of a run, or why there are none."""
    done = subprocess.run([sys.executable, __file__, "--as-peer", path, "--elements", str(elements)], capture_output=True, text=True)
    took = re.search(r"^seconds: ([\d.e-]+)$", done.stdout, re.MULTILINE)
    if done.returncode == 0 and took:
        return float(took[1]), ""
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return None, said[-1] if said else f"it ended with {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bitwell", nargs="?")
    parser.add_argument("library", nargs="*")
    parser.add_argument("--elements", type=int, default=1 << 20)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--as-peer", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.elements < 1 or asked.runs < 1:
        parser.error("--elements and --runs are 1 or more")
    if asked.as_peer:
        return run_peer(asked.as_peer, asked.elements)
    if not asked.library:
        parser.error("name bitwell's program and at least one library of a peer")
    with tempfile.TemporaryDirectory() as temporary:
        ran = [bitwell_run(asked.bitwell, asked.elements, Path(temporary)) for _ in range(asked.runs)]
    lanes, ours = ran[0][0], max(min(s for _, s in ran), 0.0005)  # what is printed has three places
    print(f"saxpy_loop, {lanes:,} lane instructions, on one core\n")
    print(f"{'bitwell':40}{lanes / ours / 1e9:10.4f} G/s")
    all_ran = True
    for path in asked.library:
        runs = [peer_seconds(path, asked.elements) for _ in range(asked.runs)]
        why = next((w for s, w in runs if s is None), None)
        if why is None:
            best = min(s for s, _ in runs)
            print(f"{path:40}{lanes / best / 1e9:10.4f} G/s, bitwell is {best / ours:.1f} times as fast")
        else:
            print(f"{path:40}  not run: {why}")
            all_ran = False
    return 0 if all_ran else 1


if __name__ == "__main__":
    sys.exit(main())
