#!/usr/bin/env python3
"""Runs `bitwell check` and `bitwell run` on the launches that make.py wrote, and keeps what they say in results.csv.

    judge.py [--bitwell PATH] [--cases DIR] [--kernel NAME ...] [--jobs N] [--results FILE]
    judge.py --device ...     the same launches on the GPU that is there; every output byte, into device.csv

A launch whose approximate functions have no recorded bits for its target runs with an H200's, or where that has none with
`--approximate nearest`, and its row says so.
"""
import argparse
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLUMNS = ("kernel", "generator", "arch", "target", "PTX lines", "check", "run", "tolerance", "worst error", "seconds")
DEVICE_COLUMNS = ("kernel", "arch", "device", "bytes", "verdict")
WORDS = {0: "holds", 1: "fails", 2: "unusable", 3: "unsupported", 4: "bug in bitwell"}


def call(*command, limit=600):
    start = time.time()
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, {}, f"no end in {limit} s", time.time() - start
    try:
        facts = json.loads(done.stdout)
    except ValueError:
        facts = {}
    return done.returncode, facts, done.stderr.strip(), time.time() - start


def checked(bitwell, folder):
    """What `bitwell check` finds, in a few words: how many of each kind, and the first that stops a run."""
    status, facts, error, _ = call(bitwell, "check", "--json", folder / "kernel.ptx")
    if not facts:
        return error.splitlines()[0]
    kinds = [f["kind"] for f in facts["findings"]]
    for stops in ("invalid", "unsupported"):
        if stops in kinds:
            first = next(f for f in facts["findings"] if f["kind"] == stops)
            what = re.sub(r": its result is approximate, .*", ": approximate", first["what"])
            return f"{stops}: {what}"
    return ", ".join(f"{kinds.count(k)} {k}" for k in ("approximate", "contractible") if k in kinds) or "all supported"


def run(bitwell, folder, *more, limit=600):
    """`bitwell run`, with approximate functions as far as they are recorded, for this target or an H200, or the nearest.

    Exit status, facts, the first line of what it says, seconds, and how.
    """
    for how in ("", "nearest"):
        command = [bitwell, "run", "--json", *more, *(["--approximate", how] if how else []), folder / "launch.json"]
        status, facts, error, seconds = call(*command, limit=limit)
        if status != 3 or "is approximate" not in error:
            break
    words = re.sub(r"'[^']*/kernel.ptx': ", "", error.splitlines()[0] if error else "").removeprefix("bitwell: ")
    taken = ", nearest approximations" if how else ", approximations of an H200" if facts.get("approximations") else ""
    return status, facts, words[:200], seconds, taken


def worst_error(folder):
    """The largest difference from NumPy's result, as a part of the largest number expected in that output."""
    import numpy as np  # a machine with a GPU may have none

    worst = 0.0
    for path in folder.glob("*.expected.npy"):
        want = np.load(path).astype(np.float64)
        got = np.load(str(path).replace(".expected.", ".out.")).astype(np.float64).reshape(want.shape)
        off = np.abs(np.where(got == want, 0, got - want))
        worst = max(worst, float(off.max() / max(np.abs(want).max(), 1e-300)))
    return "0" if worst == 0 else f"{worst:.1e}"


def judged(bitwell, folder):
    case = json.loads((folder / "case.json").read_text())
    for old in folder.glob("*.out.npy"):
        old.unlink()
    check = checked(bitwell, folder)
    status, facts, words, seconds, how = run(bitwell, folder)
    verdict = "holds" if status == 0 else "not as NumPy has it" if facts else f"{words or WORDS.get(status, status)}"
    error = worst_error(folder) if any(folder.glob("*.out.npy")) else ""
    return dict(zip(COLUMNS, (case["kernel"], case["generator"], case["arch"], case["target"], case["lines"], check, verdict + how,
                              case["tolerance"], error, f"{seconds:.2f}")))


def on_device(bitwell, folder):
    case = json.loads((folder / "case.json").read_text())
    status, facts, words, _, how = run(bitwell, folder, "--device", limit=60)
    there = facts.get("on_device", {})
    unequal = [o for o in there.get("outputs", []) if not o["equal"]]
    if not there:
        verdict = words or WORDS.get(status, status)
    elif "fault" in there:
        verdict = there["fault"]
    else:
        verdict = "; ".join(f"{o['output']}{o['element']}: {o['here']} here, {o['on_gpu']} there" for o in unequal) or "equal"
    device = f"{there['device']}, driver {there['driver']}" if there else ""
    bytes = sum(o["bytes"] for o in there.get("outputs", []))
    return dict(zip(DEVICE_COLUMNS, (case["kernel"], case["arch"], device, bytes, verdict + how)))


def keep(path, columns, rows):
    """Rows of the same kernel and architecture are replaced, others stay."""
    old = list(csv.DictReader(path.open())) if path.exists() else []
    new = {(r["kernel"], r["arch"]): r for r in old} | {(r["kernel"], r["arch"]): r for r in rows}
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(new[k] for k in sorted(new, key=lambda k: (k[0], k[1] != "sm_90a")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bitwell", type=pathlib.Path, default=ROOT / "build/release/bin/bitwell")
    parser.add_argument("--cases", type=pathlib.Path, default=ROOT / "build/strangers/cases")
    parser.add_argument("--kernel", nargs="*")
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="launches at a time")
    parser.add_argument("--results", type=pathlib.Path)
    o = parser.parse_args()
    folders = []
    for folder in sorted(o.cases.iterdir()):
        name, arch = folder.name.rsplit(".", 1)
        if (not o.kernel or name in o.kernel) and (not o.device or arch == "sm_90a"):
            folders.append(folder)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for row in pool.map(lambda folder: (on_device if o.device else judged)(o.bitwell, folder), folders):
            rows.append(row)
            print(" | ".join(str(v) for v in row.values()), flush=True)
    results = o.results or HERE / ("device.csv" if o.device else "results.csv")
    keep(results, DEVICE_COLUMNS if o.device else COLUMNS, rows)


if __name__ == "__main__":
    sys.exit(main())
