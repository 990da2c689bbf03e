#!/usr/bin/env python3
"""The example suites on a machine's GPU and on bitwell: does each leave the same bytes? By hand, on a machine with a GPU:

    PYTHON run.py OUT [--kept DIR]      # then once more with each launch kept as it is on the GPU, and replayed by bitwell run
    PYTHON run.py OUT --twice           # without a GPU: bitwell in its place, which tries this script
    PYTHON run.py OUT --keep            # without a GPU: the suites' launches as launch files, for --kept

PYTHON has bitwell, pytest, NumPy, and what the suites import; a suite whose packages are missing is named and left out. For such
a one --kept DIR has the launches that --keep wrote elsewhere (DIR/SUITE/...): each runs by `bitwell run` and on the GPU.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import module_on_gpu
import numpy

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "python/examples"
SUITES = {"nvcc_blur": ("numpy",), "triton_softmax": ("torch", "triton"), "torch_gated": ("torch", "triton"), "cute_rms_norm": ("torch", "cutlass")}


class Count:
    def __init__(self):
        self.tests = self.passed = self.launches = self.outputs = self.bytes = self.inputs = self.input_bytes = self.differing = 0

    def array(self, where, a, b, written):
        """Of one array what each side left."""
        differing = sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))
        if written:
            self.outputs += 1
            self.bytes += len(a)
        else:
            self.inputs += 1
            self.input_bytes += len(a)
        if differing:
            first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            print(f"  {where}: {differing} of {len(a)} bytes differ, the first is byte {first}: {a[first:first + 4].hex()} on bitwell, {b[first:first + 4].hex()} on the GPU")
        self.differing += differing

    def line(self, suite):
        held = self.passed == self.tests and not self.differing and self.outputs
        print(f"{'held' if held else 'NOT'}: {suite}: {self.tests} tests, {self.passed} passed on both; {self.launches} launches, {self.outputs} outputs of "
              f"{self.bytes} bytes; {self.inputs} inputs of {self.input_bytes} bytes; {self.differing} bytes differ", flush=True)
        return bool(held)


def ran(suite, out, *options, gpu=False, before=()):
    """pytest on a copy of the suite, behind the words `before`; index.json, by test."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(EXAMPLES / suite, out / "suite")
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH"))))}
    if not gpu:
        env["CUDA_VISIBLE_DEVICES"] = ""
        options = ("--bitwell", "--bitwell-report", str(out / "launches"), *options)
    done = subprocess.run([*before, sys.executable, "-m", "pytest", "-q", "-p", "bitwell.pytest", "-p", "outputs", "-p", "no:cacheprovider", "--outputs", str(out / "outputs"),
                           *options], cwd=out / "suite", env=env, capture_output=True, text=True)
    (out / "said").write_text(done.stdout + done.stderr)
    index = out / "outputs/index.json"
    passed = (0, 3) if before else (0,)  # bitwell exec: 3 where kernels, of torch's own, have no PTX
    if done.returncode not in passed or not index.exists():
        print(f"  {suite}: pytest's exit status is {done.returncode}, {out / 'said'}:\n{(done.stdout + done.stderr)[-1500:]}")
    return json.loads(index.read_text()) if index.exists() else {}


def compared(suite, out, here, there):
    count = Count()
    for test in dict.fromkeys([*here, *there]):
        a, b = here.get(test), there.get(test)
        count.tests += 1
        count.passed += a is not None and b is not None and a["outcome"] == b["outcome"] == "passed"
        if a is None or b is None:
            continue
        count.launches += a["launches"]
        shape = [[(x["name"], x["type"], x["shape"]) for x in side["arrays"]] for side in (a, b)]
        if shape[0] != shape[1] or a["launches"] != b["launches"]:
            print(f"  {test}: other launches on bitwell than on the GPU: {a['launches']} {shape[0]}, {b['launches']} {shape[1]}")
            count.passed -= 1
            continue
        for x, y in zip(a["arrays"], b["arrays"]):
            count.array(f"{test}, {x['name']}", *((out / side / "outputs" / z["file"]).read_bytes() for side, z in (("bitwell", x), ("gpu", y))), x["written"])
    return count.line(suite)


def on_gpu(path):
    """A launch file's launch by the machine's driver: by buffer, what it left. Words of arguments that are addresses of buffers follow these."""
    launch = json.loads(path.read_text())
    gpu = module_on_gpu.opened()
    there = {}
    for b in launch["buffers"]:
        data = (path.parent / b["bin"]).read_bytes() if "bin" in b else bytes(b.get("zeros", 0)) or b"\xff" * b["unwritten"]
        there[b["buffer"]] = (b["address"], len(data), gpu.allocated(data))

    def moved(word):
        return next((word - a + at.value for a, size, at in there.values() if a <= word < a + size), word)

    arguments = []
    for a in launch["arguments"]:
        if "pointer" in a:
            arguments.append((there[a["pointer"]][2].value + a["offset"]).to_bytes(8, "little"))
            continue
        data = bytearray.fromhex(a["bytes"].removeprefix("0x"))
        for i in range(0, len(data) - 7, 8):
            data[i:i + 8] = moved(int.from_bytes(data[i:i + 8], "little")).to_bytes(8, "little")
        arguments.append(bytes(data))
    function = gpu.function((path.parent / launch["ptx"]).read_text(), launch["entry"])
    gpu.launched(function, launch["grid"], launch["block"], launch.get("dynamic_shared_bytes", 0), arguments)
    return {name: gpu.taken(at, size) for name, (_, size, at) in there.items()}


def of_files(suite, folder):
    count = Count()
    for path in sorted(folder.glob("**/launch.json")):
        count.tests += 1
        done = subprocess.run([sys.executable, "-m", "bitwell", "run", str(path)], capture_output=True, text=True)
        if done.returncode:
            print(f"  bitwell run {path}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            continue
        left = on_gpu(path)
        count.passed += 1
        count.launches += 1
        for b in json.loads(path.read_text())["buffers"]:
            before = (path.parent / b["bin"]).read_bytes() if "bin" in b else None
            after = (path.parent / b["output"]).read_bytes() if "output" in b else before
            count.array(f"{path.parent.name}, {b['buffer']}", after, left[b["buffer"]], after != before)
    return count.line(f"{suite}, by its launch files")


def replayed(suite, out, driver):
    """The launches of one more run on the GPU, kept with the memory before and after each: `bitwell run` compares every byte."""
    before = [sys.executable, "-m", "bitwell", "exec", "--gpu", "--record", str(out / "kept"), "--record-after", *(["--driver", driver] if driver else []), "--"]
    ran(suite, out, gpu=True, before=before)
    launches = sorted((out / "kept").glob("*/launch.json"))
    held = size = 0
    for path in launches:
        done = subprocess.run([sys.executable, "-m", "bitwell", "run", str(path)], capture_output=True, text=True)
        after = list((path.parent / "after").glob("*.npy"))
        size += sum(numpy.load(f, mmap_mode="r").nbytes for f in after)
        held += done.returncode == 0 and bool(after)
        if done.returncode:
            print(f"  bitwell run {path}: {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-500:]}")
    print(f"{'held' if launches and held == len(launches) else 'NOT'}: {suite}, replayed: {len(launches)} launches kept on the GPU, {held} leave the same here in all of "
          f"{size} bytes", flush=True)
    return bool(launches) and held == len(launches)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--kept", type=pathlib.Path)
    parser.add_argument("--driver", help="the libcuda.so.1 that launches are kept in front of (the machine's)")
    parser.add_argument("--only", nargs="+", choices=SUITES, default=list(SUITES))
    given = parser.parse_args()
    held = True
    for suite in given.only:
        out = given.out.resolve() / suite
        missing = [n for n in SUITES[suite] if importlib.util.find_spec(n) is None]
        if missing and given.kept and (given.kept / suite).is_dir():
            held &= of_files(suite, given.kept / suite)
            continue
        if missing:
            print(f"not run: {suite}: this Python lacks {', '.join(missing)}", flush=True)
            held = False
            continue
        here = ran(suite, out / "bitwell", *["--keep"] * given.keep)
        if not given.keep:
            held &= compared(suite, out, here, ran(suite, out / "gpu", gpu=not given.twice))
        if not given.keep and not given.twice:
            held &= replayed(suite, out / "kept", given.driver)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
