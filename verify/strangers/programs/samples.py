#!/usr/bin/env python3
"""NVIDIA's CUDA samples (github.com/NVIDIA/cuda-samples) under `bitwell exec`, as their CMake files build them, each with its own check.

    samples.py build CHECKOUT --work DIR [--jobs J]
    samples.py run BITWELL --work DIR --csv FILE [--jobs J] [--limit S]

CHECKOUT is a folder with Samples and Common. `build` compiles each by nvcc alone: its sources, lines, sm_90 and PTX, NVIDIA's runtime
linked in, relocatable device code where the sample asks for it; what wants a library that is not there is left out. `run` starts each
on this machine's GPU, where there is one, and under bitwell on one host thread, and writes both exit statuses and what bitwell says.
Nothing of the samples is kept here.
"""
import argparse
import concurrent.futures
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import time

import hecbench

FIELDS = ("sample", "on the GPU", "under bitwell", "seconds", "bitwell says")
FLAGS = ("-std=c++17", "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-lineinfo", "--extended-lambda", "-w", "-Xcompiler", "-fopenmp")
LIBRARIES = {"cuda_driver": "cuda", "nvrtc": "nvrtc", "cublas": "cublas", "cufft": "cufft", "cusparse": "cusparse",
             "cusolver": "cusolver", "curand": "curand"}
# Smaller problems than the samples' own, where they take one.
ARGUMENTS = dict(line.split(" ", 1) for line in """\
matrixMul -wA=320 -hA=320 -wB=640 -hB=320""".splitlines())


def build_one(sample, common):
    rules = (sample / "CMakeLists.txt").read_text() if (sample / "CMakeLists.txt").exists() else ""
    listed = re.search(r"add_executable\(\s*\w+\s+([^)]*)\)", rules)
    sources = [f.name for f in sorted(sample.iterdir()) if f.suffix in (".cu", ".cpp", ".c") and (not listed or f.name in listed[1])]
    if not sources:
        return False
    includes = [f"-I{common}", "-I."]
    for kernel in sorted(sample.glob("*.cu")):  # those that the program loads as a file
        if kernel.name not in sources and re.search("fatbin|ptx", rules):
            for suffix in ("", "64"):
                subprocess.run(["nvcc", *FLAGS[:4], "-fatbin", *includes, kernel.name, "-o", f"{kernel.stem}{suffix}.fatbin"],
                               cwd=sample, capture_output=True)
                subprocess.run(["nvcc", "-ptx", "-arch=sm_90", *includes, kernel.name, "-o", f"{kernel.stem}{suffix}.ptx"],
                               cwd=sample, capture_output=True)
    separate = ["-rdc=true"] if "SEPARABLE" in rules else []
    wanted = [f"-l{library}" for word, library in LIBRARIES.items() if word in rules]
    toolkit = pathlib.Path(shutil.which("nvcc")).resolve().parents[1]
    made = subprocess.run(["nvcc", *FLAGS, *separate, *includes, *sources, "-o", sample.name, f"-L{toolkit}/lib64/stubs",
                           f"-L{toolkit}/lib64", *wanted], cwd=sample, capture_output=True)
    return made.returncode == 0


def build(asked):
    shutil.copytree(asked.checkout / "Common", asked.work / "Common", dirs_exist_ok=True, ignore_dangling_symlinks=True)
    shutil.copytree(asked.checkout / "Samples", asked.work / "Samples", dirs_exist_ok=True, ignore_dangling_symlinks=True)
    samples = sorted(p for p in (asked.work / "Samples").glob("*/*") if p.is_dir() and p.parent.name[0] < "7")
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        built = list(pool.map(lambda s: build_one(s, asked.work / "Common"), samples))
    print(f"{sum(built)} of {len(samples)} built")


def started(command, sample, limit):
    """Its exit status, or "not done", the seconds, and what it printed."""
    begin = time.time()
    try:
        ran = subprocess.run(list(map(str, command)), cwd=sample, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                             timeout=limit)
        return str(ran.returncode), time.time() - begin, ran.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "not done", time.time() - begin, ""


def run(asked):
    samples = sorted(p for p in (asked.work / "Samples").glob("*/*") if (p / p.name).is_file())
    words = lambda s: [f"./{s.name}", *ARGUMENTS.get(s.name, "").split()]
    gpu = pathlib.Path("/dev/nvidiactl").exists()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        there = list(pool.map(lambda s: started(words(s), s, 40)[0] if gpu else "", samples))
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        here = list(pool.map(lambda s: started([asked.bitwell, "exec", "--threads", "1", "--", *words(s)], s, asked.limit), samples))
    rows = []
    for sample, native, (status, seconds, text) in zip(samples, there, here):
        said = [line for line in text.splitlines() if line.startswith("bitwell: ")]
        rows.append({"sample": sample.name, "on the GPU": native, "under bitwell": status, "seconds": f"{seconds:.1f}",
                     "bitwell says": said[0][9:240] if said else ""})
    with asked.csv.open("w", newline="") as to:
        table = csv.DictWriter(to, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    same = [r for r in rows if r["under bitwell"] == r["on the GPU"]]
    print(f"{len(rows)} samples, {len(same)} end as on the GPU, {sum(r['under bitwell'] == '0' for r in rows)} with 0")
    for r in rows:
        if r not in same:
            print(f"{r['sample']}: {r['on the GPU']} on the GPU, {r['under bitwell']} here: {r['bitwell says']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    b = commands.add_parser("build")
    b.add_argument("checkout", type=pathlib.Path)
    b.set_defaults(does=build)
    r = commands.add_parser("run")
    r.add_argument("bitwell", type=pathlib.Path)
    r.add_argument("--csv", type=pathlib.Path, required=True)
    r.add_argument("--limit", type=float, default=60, help="seconds of one sample under bitwell")
    r.set_defaults(does=run)
    for command in (b, r):
        command.add_argument("--work", type=pathlib.Path, required=True)
        command.add_argument("--jobs", type=int, default=1)
    return hecbench.do_asked(parser)


if __name__ == "__main__":
    sys.exit(main())
