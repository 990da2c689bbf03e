#!/usr/bin/env python3
"""Writes the tables of CUDA's functions, by name alone, from a toolkit's headers and its runtime library.

Usage: names.py INCLUDE LIBCUDART [FILE...]   (FILE: more names, one a line)

functions.inc     every function of the driver and the runtime: what has no body says so when it is called
entry_points.inc  the driver's functions as cuGetProcAddress knows them: name, since which CUDA, symbol
per_thread.ld     the names for per-thread default streams that are the others', for no stream is given or nobody looks at it. Those of
                  by_thread.inc, which is written by hand, take the thread's stream; cudaGetDriverEntryPointByVersion has a body of its
                  own, and cuGetProcAddress_v2_ptsz is no symbol: cuda.h defines it
"""
import pathlib
import re
import subprocess
import sys

include, runtime = pathlib.Path(sys.argv[1]), sys.argv[2]
here = pathlib.Path(__file__).parent
cuda = "".join((include / f).read_text() for f in ("cuda.h", "cudaProfiler.h") if (include / f).exists())
version = int(re.search(r"#define CUDA_VERSION (\d+)", cuda)[1])

symbols = set(re.findall(r"CUDAAPI\s+(cu\w+)\(", cuda)) | set(re.findall(r"__CUDA_DEPRECATED\s+CUresult CUDAAPI (cu\w+)\(", cuda))
for name, call, symbol in re.findall(r"#define (cu\w+)\s+(__CUDA_API_PT\w\w\()?(cu\w+)\)?", cuda):
    symbols.add(symbol)
    if call:
        symbols.add(symbol + ("_ptds" if "PTDS" in call else "_ptsz"))
exported = subprocess.run(["nm", "-D", "--defined-only", runtime], capture_output=True, text=True, check=True).stdout
symbols |= {s.split("@")[0] for s in re.findall(r" [TW] (\S+)", exported)}
for file in sys.argv[3:]:
    symbols |= set(pathlib.Path(file).read_text().split())
symbols = {s for s in symbols if re.fullmatch(r"(__)?cu(da)?[A-Z]\w*|__cuda\w+", s)}

per_thread = sorted(s for s in symbols if re.search(r"_pt[sd][sz]$", s) and s[:-5] in symbols)
own = set(re.findall(r"BY_THREAD\((\w+)\)", (here / "by_thread.inc").read_text())) | {"cuGetProcAddress_v2", "cudaGetDriverEntryPointByVersion"}
head = f"// Made by names.py of CUDA {version // 1000}.{version % 1000 // 10}'s headers and runtime library.\n"
(here / "functions.inc").write_text(
    head + "".join(f"FUNCTION({s})\n" for s in sorted(symbols - set(per_thread))))
(here / "per_thread.ld").write_text(
    f"/* Made by names.py of CUDA {version // 1000}.{version % 1000 // 10}'s headers and runtime library. */\n"
    + "".join(f"{s} = {s[:-5]};\n" for s in per_thread if s[:-5] not in own))

versions = {}
for name, since, suffix in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_pt[sd][sz])?\)", (include / "cudaTypedefs.h").read_text()):
    if not suffix:
        versions.setdefault(name, set()).add(int(since))
rows = []
for name, known in sorted(versions.items()):
    these = [s for s in [name] + [f"{name}_v{n}" for n in range(2, 9)] if s in symbols]
    rows += [(name, since, symbol) for since, symbol in zip(reversed(sorted(known)), reversed(these))]
(here / "entry_points.inc").write_text(head + "".join(f'{{"{n}", {v}, "{s}"}},\n' for n, v, s in sorted(rows)))
print(len(symbols), "functions,", len(rows), "entry points,", len(per_thread), "for per-thread streams")
