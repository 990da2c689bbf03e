#!/usr/bin/env python3
"""Others' kernels for a Hopper's tensor cores: how long they take there, beside what the model of time says.

    tensor_time.py build --work DIR [--cutlass CHECKOUT] [--fastcu CHECKOUT] [--hgemm CHECKOUT] [--only PATTERN]... [--jobs J]
    tensor_time.py time BITWELL --work DIR --csv FILE [--only PATTERN]... [--jobs J] [--limit S]

`build` makes programs of CUTLASS's examples (github.com/NVIDIA/cutlass), of a ladder of GEMMs by wgmma (pranjalssh/fast.cu), and
of one by mma.sync (Bruce-Lee-LY/cuda_hgemm), with nvcc's runtime as a shared library. `time` keeps one launch of each
on this machine's GPU, with how long it takes there, caches cold, and sets the model of time beside that. Nothing of theirs is
kept here.
"""
import argparse
import concurrent.futures
import fnmatch
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

import hecbench

HERE = pathlib.Path(__file__).resolve().parent
COMMON = ("nvcc", "-std=c++17", "-O3", "-DNDEBUG", "-cudart", "shared", "-lineinfo", "-w", "--expt-relaxed-constexpr")
HOPPER = ("-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", "-L/usr/local/cuda/lib64/stubs", "-lcuda")
LADDER = (*HOPPER, "-use_fast_math")


class Program(NamedTuple):
    name: str
    project: str
    source: str      # below the project
    runs: tuple      # arguments of each run
    kernel: str      # a part of the name of the one that is timed
    flags: tuple = HOPPER


def gemm(*shapes, more=()):
    return tuple((f"--m={m}", f"--n={n}", f"--k={k}", "--iterations=0", *more) for m, n, k in shapes)


SQUARES = ((2048, 2048, 2048), (4096, 4096, 2048))
FEW_ROWS = ((128, 4096, 4096),)
HEADS = tuple((f"--b={b}", "--h=8", f"--q={q}", f"--k={q}", "--d=128", "--iterations=1") for b, q in ((2, 1024), (4, 4096)))
LADDER_SHAPES = ((2048,) * 3, (4096,) * 3)
PLAIN = tuple(tuple(map(str, shape)) for shape in LADDER_SHAPES)

PROGRAMS = [
    Program("48_gemm", "cutlass", "48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu", gemm(*SQUARES, *FEW_ROWS), "GemmUniversal"),
    Program("54_fp8", "cutlass", "54_hopper_fp8_warp_specialized_gemm/54_hopper_fp8_warp_specialized_gemm.cu", gemm(*SQUARES, *FEW_ROWS),
            "GemmUniversal"),
    Program("55_mixed", "cutlass", "55_hopper_mixed_dtype_gemm/55_hopper_mixed_dtype_gemm.cu", gemm(*SQUARES, *FEW_ROWS), "GemmUniversal"),
    Program("57_grouped", "cutlass", "57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu", gemm((1024, 1024, 1024), more=("--groups=8",)),
            "GemmUniversal"),
    Program("62_sparse", "cutlass", "62_hopper_sparse_gemm/62_hopper_sparse_gemm.cu", gemm(*SQUARES), "GemmUniversal"),
    Program("67_blockwise", "cutlass", "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling/"
            "67_hopper_fp8_warp_specialized_gemm_with_blockwise_scaling.cu", gemm(*SQUARES), "GemmUniversal"),
    Program("88_fmha", "cutlass", "88_hopper_fmha/88_hopper_fmha.cu", HEADS, "FmhaKernel"),
    Program("wgmma_sm90", "cutlass", "cute/tutorial/hopper/wgmma_sm90.cu", (("2048", "2048", "2048"), ("512", "2048", "4096")), "gemm_device"),
    Program("wgmma_tma_sm90", "cutlass", "cute/tutorial/hopper/wgmma_tma_sm90.cu", (("2048", "2048", "2048"), ("512", "2048", "4096")),
            "gemm_device"),
]
# The first rung multiplies without tensor cores.
PROGRAMS += [Program(f"fast.cu {n}", "fastcu", f"examples/matmul/matmul_{n}.cuh", PLAIN, f"matmulKernel{n}",
                     (f"-DRUNG=runKernel{n}", *(("-DNEEDS_COUNTS",) if n > 2 else ()), *LADDER)) for n in range(2, 13)]
PROGRAMS += [Program(f"hgemm {name}", "hgemm", f"{folder}/{folder}_{words}.cu", PLAIN, f"{name}Kernel",
                     (f"-DRUNG={name}", "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "-use_fast_math"))
             for folder, words in (("wmma", "base"), ("wmma", "padding"), ("wmma", "async"), ("wmma", "async_pg2s"), ("wmma", "async_stage2"),
                                   ("wmma", "async_stage3"), ("mma", "base"), ("mma", "permuted"), ("mma", "async"), ("mma", "async_pg2s"),
                                   ("mma", "async_pg2s_ps2r"), ("mma", "async_stage2"), ("mma", "async_stage3"), ("mma", "async_stage4"))
             for name in [folder + "".join(w.capitalize() for w in words.split("_"))]]


def command(program, checkout):
    """Of nvcc, but for where the program goes."""
    if program.project == "cutlass":
        source = checkout / "examples" / program.source
        include = (checkout / "include", checkout / "tools/util/include", checkout / "examples/common", source.parent)
        return (*COMMON, *program.flags, *(f"-I{i}" for i in include), str(source))
    ladder = str(HERE / "tensor_ladders.cu")
    if program.project == "fastcu":
        return (*COMMON, *program.flags, f'-DLADDER="{checkout / program.source}"', ladder)
    return (*COMMON, *program.flags, f"-I{checkout / 'src/common'}", str(checkout / "src" / program.source), ladder)


def made(asked, program):
    checkout = getattr(asked, program.project)
    to = asked.work / program.name.replace(" ", "_")
    if checkout is None or (to / "program").exists():
        return ""
    to.mkdir(exist_ok=True)
    ran = subprocess.run((*command(program, checkout.resolve()), "-o", str(to / "program")), capture_output=True, text=True)
    return f"{program.name}: " + ("built" if ran.returncode == 0 else f"not built: {' '.join(ran.stderr.split())[:300]}")


def wanted(asked):
    return [p for p in PROGRAMS if not asked.only or any(fnmatch.fnmatch(p.name, pattern) for pattern in asked.only)]


def build(asked):
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for said in pool.map(lambda p: made(asked, p), wanted(asked)):
            if said:
                print(said, flush=True)


def keep(asked, program, arguments):
    """The launch of its kernel by those arguments, as a folder with launch.json."""
    to = asked.work / "kept" / (f"{program.name} " + " ".join(a for a in arguments if a != "--iterations=0")).replace(" ", "_")
    shutil.rmtree(to, ignore_errors=True)
    folder = asked.work / program.name.replace(" ", "_")
    how = (str(asked.bitwell), "exec", "--gpu", "--record-time", "--record", str(to), "--record-count", "1", "--record-bytes", "1G", "-k", program.kernel)
    subprocess.run((*how, "--", "./program", *arguments), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return sorted(to.glob("*/launch.json"))[:1]


def time_all(asked):
    """One program at a time on the GPU; the model meanwhile on the host's other cores."""
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        asks = [pool.submit(hecbench.modelled, asked, file) for p in wanted(asked) if (asked.work / p.name.replace(" ", "_") / "program").exists()
                for arguments in p.runs for file in keep(asked, p, arguments)]
        rows = [ask.result() for ask in asks]
    hecbench.write(asked, hecbench.TIME_FIELDS, rows)
    hecbench.say_errors(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    b = commands.add_parser("build")
    for project in ("cutlass", "fastcu", "hgemm"):
        b.add_argument(f"--{project}", type=pathlib.Path, metavar="CHECKOUT")
    b.set_defaults(does=build)
    t = commands.add_parser("time")
    t.add_argument("bitwell", type=pathlib.Path)
    t.add_argument("--csv", type=pathlib.Path, required=True)
    t.add_argument("--limit", type=float, default=120, help="seconds of the model for one launch")
    t.set_defaults(does=time_all)
    for command in (b, t):
        command.add_argument("--jobs", type=int, default=1, help="so many at once")
        command.add_argument("--work", type=pathlib.Path, required=True)
        command.add_argument("--only", action="append", metavar="PATTERN", help="programs of such names")
    return hecbench.do_asked(parser)


if __name__ == "__main__":
    sys.exit(main())
