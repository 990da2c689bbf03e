#!/usr/bin/env python3
"""Runs others' host programs as they are under `bitwell capture`, and judges each kernel's launch.

    programs.py --work DIR --cutlass CHECKOUT [--deepgemm CHECKOUT] [--python PYTHON] [--only PATTERN]... [--build | --judge]
    programs.py --work DIR --built PROJECT=CHECKOUT ... [--only PATTERN]...
    programs.py --work DIR --tilelang PYTHON
    programs.py ... --large                     # no rows: launches of larger problems in DIR/large, which speeds.py runs by two versions

A checkout is a git repository, bare or not. What was built in DIR is not built again: each takes nvcc minutes. The
programs of programs_built.py are built by whoever has the checkout, which only tells their commit; they run where
DIR/bin/PROJECT has them. Rows of programs.csv are replaced by program; ../table.py puts them into README.md. PYTHON has
the CuTe DSL.
"""
import argparse
import csv
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from programs_built import PROGRAMS_BUILT
from programs_list import EXIT_0, PROGRAMS

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = ("program", "commit", "kernel", "own check", "default", "races", "schedules 16", "seconds", "M lane instructions/s")
# What is taken of each project: all that nvcc needs.
FOLDERS = {"cutlass": ("include", "tools/util/include", "examples"), "deepgemm": ("deep_gemm/include",)}  # the DSL's are CUTLASS's
MODES = {"default": (), "races": ("--races",), "schedules 16": ("--schedules", "16")}
LIMIT = 600  # seconds of one run
LARGER = 4  # times the problem's m, n and k, with --large


def git(checkout, *words):
    return subprocess.run(("git", "-C", str(checkout)) + words, check=True, capture_output=True).stdout


def commit(checkout):
    return git(checkout, "rev-parse", "--short=10", "HEAD").decode().strip()


def unpack(name, checkout, work):
    """The project's files under work/NAME, and its commit in short."""
    to = work / name
    if not to.exists():
        to.mkdir(parents=True)
        files = git(checkout, "archive", "HEAD", *FOLDERS[name])
        subprocess.run(("tar", "x", "-C", str(to)), input=files, check=True)
    return commit(checkout)


def flags(program, work):
    cutlass, deepgemm = work / "cutlass", work / "deepgemm"
    source = cutlass / "examples" / program.source if program.project == "cutlass" else HERE / program.source
    include = [cutlass / "include", cutlass / "tools/util/include", cutlass / "examples/common", source.parent]
    if program.project == "deepgemm":
        include.append(deepgemm / "deep_gemm/include")
    return [f"-I{i}" for i in include] + list(program.flags) + [str(source)]


def binary(program, work):
    return work / "bin" / (program.name if program.source else "/".join(program.name.split(" ")[:2]))


def build(program, work):
    out = binary(program, work)
    if out.exists():
        return out
    if not program.source:
        return None
    out.parent.mkdir(exist_ok=True)
    command = ["nvcc", "-std=c++20" if program.project == "deepgemm" else "-std=c++17", "-O2", "-DNDEBUG", "-lineinfo",
               "-gencode", f"arch=compute_{program.arch},code=compute_{program.arch}", "--compress-mode=none",
               "-cudart", "shared", "--expt-relaxed-constexpr", "--expt-extended-lambda",
               "-DCUTLASS_VERSIONS_GENERATED", "-DCUTLASS_ENABLE_TENSOR_CORE_MMA=1", "-w", "-o", str(out)]
    started = time.time()
    made = subprocess.run(command + flags(program, work), capture_output=True, text=True)
    print(f"{program.name}: nvcc {'built it' if made.returncode == 0 else 'failed'} in {time.time() - started:.0f} s", flush=True)
    if made.returncode != 0:
        print(made.stderr[-2000:])
        return None
    return out


def first_line(text):
    """What bitwell ended with: its own line, without where the file was."""
    for line in text.splitlines():
        if line.startswith("bitwell: "):
            return re.sub(r"'[^']*/([^/']*)'", r"'\1'", line[len("bitwell: "):])[:160]
    return ""


def found(report):
    """Of --races: how many errors and notes, by kind."""
    kinds = {}
    for f in report.get("races", []):
        if f.get("level", "error") == "error":
            kinds[f.get("kind", "?")] = kinds.get(f.get("kind", "?"), 0) + 1
    return ", ".join(f"{n} {k}" for k, n in sorted(kinds.items()))


def judge(bitwell, launch, mode):
    """One cell of the table, with the report where there is one."""
    try:
        ran = subprocess.run([bitwell, "run", str(launch), "--json", *MODES[mode]], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"not within {LIMIT} s", {}
    report = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
    if ran.returncode == 0:
        return ("same" if mode == "schedules 16" else "held"), report
    if report and "fault" not in report and mode == "races":
        return found(report) or "found", report
    if report and "fault" not in report and mode == "schedules 16":
        return "outputs differ", report
    line = first_line(ran.stderr)
    return ("no output" if line.endswith('no buffer has an "output"') else line), report


def identifiers(mangled):
    """The names in a mangled one: each has its length before it."""
    for at in re.finditer(r"\d+(?=[A-Za-z_])", mangled):
        yield mangled[at.end():at.end() + int(at.group())]


def short(kernel):
    """Of CUTLASS's, whose names say all of their templates' arguments, the pipeline and the MMA."""
    parts = [n for n in identifiers(kernel) if n.startswith(("Mainloop", "Sm100Fmha", "Sm100Mla"))][:1]
    parts += [n for n in identifiers(kernel) if re.match(r"SM\d+(_\w+)?_MMA_|SM100_\w*UMMA|MMA_\d+x", n)][:1]
    plain = subprocess.run(("c++filt", kernel), capture_output=True, text=True).stdout.strip()
    name = re.match(r"(?:void )?([\w:]+)", plain).group(1)
    return ", ".join(parts) if parts else name if len(name) < 60 else name[:57] + "..."


def larger(argument):
    return re.sub(r"^--([mnkq])=(\d+)$", lambda given: f"--{given[1]}={LARGER * int(given[2])}", argument)


def command_of(program, work, python, large=False):
    """What is run, and with which environment."""
    if program.project == "tilelang":
        return [str(python), str(HERE / "tilelang_programs.py"), program.source], dict(os.environ, TILELANG_DISABLE_CACHE="1")
    if program.project != "cute":
        return [str(binary(program, work)), *map(larger if large else str, program.arguments)], os.environ
    examples = work / "cutlass/examples/python/CuTeDSL"
    command = [str(python), str(HERE / "cute_programs.py"), str(examples), program.source, *([str(LARGER)] if large else [])]
    return command, dict(os.environ, CUTE_DSL_ARCH="sm_100a")


def captured(program, work, bitwell, python, large=False):
    """The kernels' launches that are judged, the first of each, and what the program's own check says of its results."""
    out = work / ("large" if large else "launches") / program.name
    shutil.rmtree(out, ignore_errors=True)
    own, environment = command_of(program, work, python, large)
    command = [bitwell, "capture", "--json", "--out", str(out), "--arch", f"sm_{program.arch}", "--only", program.kernel, *own]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        print(f"{program.name}: not within {3 * LIMIT} s", flush=True)
        return [], ""
    whole = json.loads(ended.stdout[ended.stdout.index('{\n  "launches"'):]) if '{\n  "launches"' in ended.stdout else {}
    passed = whole.get("program") == 0 if program.passed == EXIT_0 else program.passed in ended.stdout
    passed = passed and not (program.failed and program.failed in ended.stdout)
    own = "none" if not program.passed else "passed" if passed else "failed" if whole.get("launches") else first_line(ended.stderr)
    first = {}
    for launch in whole.get("launches", []):
        if launch["judged"]:
            first.setdefault(launch["kernel"], launch)
    if not first:
        print(f"{program.name}: no launch of '{program.kernel}': {own}", flush=True)
    return list(first.values()), own


def run(program, commit, work, bitwell, python):
    rows = []
    launches, own = captured(program, work, bitwell, python)
    for launch in launches:
        row = {"program": program.name, "commit": commit, "kernel": short(launch["kernel"]), "own check": own}
        for mode in MODES:
            row[mode], report = judge(bitwell, pathlib.Path(launch["folder"]) / "launch.json", mode)
            if mode == "default":
                took = report.get("seconds")  # a fault has none
                row["seconds"] = f"{took:.2f}" if took else ""
                row["M lane instructions/s"] = f"{report['lane_instructions'] / took / 1e6:.0f}" if took else ""
        rows.append(row)
        print(" | ".join(str(row[f]) for f in FIELDS), flush=True)
    return rows


def write(rows):
    path = HERE / "programs.csv"
    kept = list(csv.DictReader(path.open())) if path.exists() else []
    new = {r["program"] for r in rows}
    order = {p.name: i for i, p in enumerate(PROGRAMS + PROGRAMS_BUILT)}
    all_rows = [r for r in kept if r["program"] not in new] + rows
    all_rows.sort(key=lambda r: order.get(r["program"], len(order)))
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(all_rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cutlass", type=pathlib.Path)
    parser.add_argument("--deepgemm", type=pathlib.Path)
    parser.add_argument("--built", action="append", default=[], metavar="PROJECT=CHECKOUT", help="of programs_built.py")
    parser.add_argument("--python", type=pathlib.Path, help="with nvidia-cutlass-dsl and NumPy")
    parser.add_argument("--tilelang", type=pathlib.Path, metavar="PYTHON", help="with tilelang and torch")
    parser.add_argument("--bitwell", default=str(HERE.parents[2] / "build/release/bin/bitwell"))
    parser.add_argument("--large", action="store_true", help="capture larger problems in DIR/large, for speeds.py, and no more")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--build", action="store_true", help="build and no more")
    parser.add_argument("--judge", action="store_true", help="what was built before, and no more")
    given = parser.parse_args()
    commits = {name: unpack(name, getattr(given, name), given.work) for name in FOLDERS if getattr(given, name)}
    commits |= {name: commit(checkout) for name, checkout in (word.split("=", 1) for word in given.built)}
    commits["cute"] = commits.get("cutlass", "")
    if given.tilelang:
        commits["tilelang"] = subprocess.run((str(given.tilelang), "-c", "import tilelang; print(tilelang.__version__)"), check=True,
                                             capture_output=True, text=True).stdout.split()[-1]
    for program in PROGRAMS + PROGRAMS_BUILT:
        if given.only and not any(fnmatch.fnmatch(program.name, pattern) for pattern in given.only):
            continue
        python = given.tilelang if program.project == "tilelang" else given.python
        if program.project not in commits or (program.project == "cute" and not python):
            continue
        if program.source and program.project != "tilelang" and not commits["cute"]:  # CUTLASS's headers
            continue
        if program.project not in ("cute", "tilelang"):
            built = binary(program, given.work) if given.judge else build(program, given.work)
            if built is None or not built.exists() or given.build:
                continue
        if given.large:
            print(f"{program.name}: {len(captured(program, given.work, given.bitwell, python, large=True)[0])} launches", flush=True)
            continue
        write(run(program, commits[program.project], given.work, given.bitwell, python))
    return 0


if __name__ == "__main__":
    sys.exit(main())
