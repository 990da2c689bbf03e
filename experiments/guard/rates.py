#!/usr/bin/env python3
"""What does one core do in a second, all checks on, and what does --races cost?

    experiments/guard/rates.py BITWELL [--runs N] [--scale N] [--only WORD] [--csv FILE]

Each launch of launches.py that is one kernel, on one host thread: seconds of the launch alone, as bitwell says them, the best
of so many runs; lane instructions a second, and multiply-adds or bytes copied where these are what the kernel is for; how many
times as long it takes with --races, by the best runs of both. Needs nvcc, or kernels.cu as PTX (--ptx), and the release build's
kernels. Seconds are a clock's on the wall: leave the machine alone meanwhile.
"""
import argparse
import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import launches

SAID = re.compile(r"([\d,]+) lane instructions in ([\d.]+) s")


def best(bitwell, file, options, runs):
    """Lane instructions, and the fewest seconds."""
    seconds, count = [], 0
    for _ in range(runs):
        done = subprocess.run([bitwell, "run", file, "--threads", "1", *options], capture_output=True, text=True)
        said = SAID.search(done.stdout)
        if said is None or done.returncode not in (0, 1 if "--races" in options else 0):
            sys.exit(f"rates: {file} ended with {done.returncode}: {done.stderr.strip()}")
        count = int(said[1].replace(",", ""))
        seconds.append(float(said[2]))
    return count, max(min(seconds), 0.0005)  # it says thousandths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bitwell")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=int, default=4, help="times as many CTAs as the guard's (4)")
    parser.add_argument("--only", default="", help="launches whose name has this in it")
    parser.add_argument("--ptx", help="kernels.cu as PTX, where there is no nvcc")
    parser.add_argument("--csv", type=Path)
    asked = parser.parse_args()
    rows = []
    print(f"{'launch':18}{'s':>8}{'G lane instructions/s':>24}{'work a second':>18}{'--races':>10}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for subject in launches.subjects(asked.ptx or launches.compiled(folder), asked.scale):
            if subject.options or "then" in subject.launch or "ptx_lines" in subject.launch or asked.only not in subject.name:
                continue
            file = launches.written(subject, folder)
            count, seconds = best(asked.bitwell, file, [], asked.runs)
            races = best(asked.bitwell, file, ["--races"], asked.runs)[1] / seconds
            work = f"{subject.work / seconds / 1e9:.2f} G{subject.unit}/s" if subject.work else ""
            print(f"{subject.name:18}{seconds:8.3f}{count / seconds / 1e9:24.2f}{work:>18}{races:9.1f}x", flush=True)
            rows.append([subject.name, asked.scale, f"{seconds:.3f}", f"{count / seconds / 1e9:.2f}", work, f"{races:.1f}"])
    if not rows:
        sys.exit(f"rates: no launch has '{asked.only}' in its name")
    if asked.csv:
        with asked.csv.open("w", newline="") as to:
            heads = ["launch", "scale", "seconds", "G lane instructions/s", "work a second", "times as long with --races"]
            csv.writer(to, lineterminator="\n").writerows([heads, *rows])


if __name__ == "__main__":
    main()
