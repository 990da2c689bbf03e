#!/usr/bin/env python3
"""Runs kernels of projects in Python as their own tests and examples start them, without a GPU, and judges each kernel's launch.

    PYTHON languages.py --work DIR [--triton CHECKOUT] [--liger CHECKOUT] [--only PATTERN]... [--list]

PYTHON has bitwell and the packages of requirements.txt. A checkout is a git repository, bare or not; what is taken of it goes
to DIR/PROJECT, every launch to DIR/launches. Rows of languages.csv are replaced by program and target; ../table.py puts them
into README.md.
"""
import argparse
import csv
import fcntl
import fnmatch
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(HERE.parent / "programs"))

import programs
from suites import SUITES

FIELDS = ("project", "program", "target", "kernel", "own check", "default", "races", "schedules 16", "seconds")
DEVICES = {90: "h200", 100: "b200"}
LIMIT = 3600  # seconds of one program


def unpack(checkout, project, needs, work):
    to = work / project
    to.mkdir(parents=True, exist_ok=True)
    if not all((to / n).exists() for n in needs):
        files = programs.git(checkout, "archive", "HEAD", *needs)
        subprocess.run(("tar", "x", "-C", str(to)), input=files, check=True)
    return programs.git(checkout, "rev-parse", "--short=10", "HEAD").decode().strip()


def run_here(run, source, sm, out):
    """In a process of its own, for it makes torch another: what the program's own check came to, into launches.json."""
    import torch
    import bitwell.cute
    import bitwell.torch
    import bitwell.triton
    from bitwell import gpu

    torch.set_num_threads(1)
    shown = gpu.opened(gpu.Settings(device=DEVICES[sm], report=out, keep=True))
    bitwell.torch.activate()
    bitwell.triton.activate()
    if importlib.util.find_spec("cutlass"):
        bitwell.cute.activate()
    own = "passed"
    try:
        run(source)
    except (gpu.Unsupported, gpu.InputError) as error:
        own = "refused"
        print(error, file=sys.stderr)
    except BaseException:
        own = "failed"
        traceback.print_exc()
    launches = [{"kernel": r.kernel, "file": r.file, "verdict": r.verdict, "seconds": r.seconds} for r in shown.launched]
    (out / "launches.json").write_text(json.dumps({"own check": own, "launches": launches}, indent=1))


def started(*arguments, out):
    """run_here in a child, its words in out/log; what it left."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    child = os.fork()
    if child == 0:
        log = os.open(out / "log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1), os.dup2(log, 2)
        os.setsid()
        signal.alarm(LIMIT)
        run_here(*arguments)
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = out / "launches.json"
    why = f"not within {LIMIT} s" if ended == -signal.SIGALRM else f"ended with {ended}"
    return json.loads(left.read_text()) if left.exists() else {"own check": why, "launches": []}


def rows_of(label, program, sm, left, bitwell):
    first = {}
    for launch in left["launches"]:
        if launch["kernel"] not in first or launch["verdict"] != "held":
            first[launch["kernel"]] = launch
    for launch in first.values():
        row = {"project": label, "program": program, "target": f"sm_{sm}a", "kernel": programs.short(launch["kernel"]),
               "own check": left["own check"]}
        for mode in programs.MODES:
            row[mode], report = programs.judge(bitwell, pathlib.Path(launch["file"]), mode)
            if mode == "default":
                row["seconds"] = f"{report['seconds']:.2f}" if report.get("seconds") else ""  # a fault has none
                if launch["verdict"] != "held":
                    break
        print(" | ".join(str(row.get(f, "")) for f in FIELDS), flush=True)
        yield row
    if not first:
        print(f"{label} {program}: no launch: {left['own check']}", flush=True)


def write(rows):
    with (HERE / "languages.py").open() as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # several may run
        merge(HERE / "languages.csv", rows)


def merge(path, rows):
    kept = list(csv.DictReader(path.open())) if path.exists() else []
    order = {(project.lower(), name, f"sm_{sm}a"): i for i, (project, name, sm) in enumerate(all_programs())}
    key = lambda r: (r["project"].split()[0].lower(), r["program"], r["target"])
    new = {key(r) for r in rows}
    kept = [r for r in kept if key(r) not in new and key(r) in order] + rows
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(sorted(kept, key=lambda r: order[key(r)]))


def all_programs():
    for project, suite in SUITES.items():
        for name, (sms, _) in suite.programs.items():
            for sm in sms:
                yield project, name, sm


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    for checkout in sorted({s.checkout for s in SUITES.values()} - {""}):
        parser.add_argument(f"--{checkout}", type=pathlib.Path, help="a checkout")
    parser.add_argument("--bitwell", default=str(ROOT / "build/release/bin/bitwell"))
    parser.add_argument("--only", action="append", default=[], help="of 'PROJECT PROGRAM sm_90a'")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    os.environ["PATH"] = os.pathsep.join((str(pathlib.Path(given.bitwell).parent), os.environ["PATH"]))
    os.environ.setdefault("TRITON_CACHE_DIR", str(given.work / "triton"))
    for project, name, sm in all_programs():
        full = f"{project} {name} sm_{sm}a"
        suite = SUITES[project]
        checkout = getattr(given, suite.checkout) if suite.checkout else ""
        if given.only and not any(fnmatch.fnmatch(full, pattern) for pattern in given.only):
            continue
        if given.list or checkout is None:
            print(full)
            continue
        label = f"{project[0].upper()}{project[1:]} {importlib.metadata.version(suite.package)}"
        if checkout:
            label += f", {unpack(checkout, suite.checkout, suite.needs, given.work)}"
        out = given.work / "launches" / full
        left = started(suite.programs[name][1], given.work / suite.checkout / suite.folder, sm, out, out=out)
        write(list(rows_of(label, name, sm, left, given.bitwell)))
    return 0


if __name__ == "__main__":
    import torch  # once for all that follow
    import triton

    sys.exit(main())
