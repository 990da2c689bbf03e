#!/usr/bin/env python3
"""Is a bitwell slower than another one? Both run the same launches in turn, on one machine and at one time.

    experiments/guard/guard.py OLD NEW [--pairs N] [--only REGEX] [--csv FILE] [--threads N] [--new-options "..."]
    experiments/guard/guard.py BITWELL --timed [--pairs N] [--only REGEX]

OLD and NEW are `bitwell` programs. Each pair runs both, the one first that was second before; a ratio is NEW's
processor time over OLD's, so that below 1 is faster. The table has each launch's median and its quartiles, and with
--timed the least seconds of each, for hosts that are not quiet. What is slower by more than 5 % by its median and by
its lower quartile is told, and makes the exit status 1, as does a launch that one of them does not run. With --csv a
line a launch is added to FILE: the history. Needs nvcc for kernels.cu, and the release build's kernels.
"""
import argparse
import csv
import datetime
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import launches

SLOWER = 1.05


def seconds(program, options, file, by):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run([program, "run", file, "--quiet", *options], capture_output=True, text=True)
    took = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1 if "--races" in options else 0):  # a launch that faults ends early
        raise RuntimeError(f"{program} run {file} ended with {done.returncode}: {done.stderr.strip()}")
    user = after.ru_utime - before.ru_utime
    return {"wall": took, "user": user, "processor": user + after.ru_stime - before.ru_stime}[by]


def paired(asked, options, file, by):
    """Of OLD and of NEW."""
    times = ([], [])
    for pair in range(asked.pairs + 1):
        for which in (0, 1) if pair % 2 == 0 else (1, 0):
            more = asked.new_options.split() if which == 1 else []
            took = seconds((asked.old, asked.new)[which], options + more, file, by)
            if pair != 0:  # the first one warms up
                times[which].append(took)
    return times


def version(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--pairs", type=int, default=7, help="of runs, for each launch (7)")
    parser.add_argument("--only", default="", metavar="REGEX", help="launches whose name has this in it")
    parser.add_argument("--csv", type=Path, help="add the ratios to this file")
    parser.add_argument("--threads", type=int, help="pass it to both; times are then those of a clock on the wall")
    parser.add_argument("--new-options", default="", help="pass them to NEW alone: what they cost")
    parser.add_argument("--timed", action="store_true", help="of one program: what runs in the order of time cost")
    asked = parser.parse_args()
    if asked.pairs < 1:
        parser.error("--pairs is 1 or more")
    if (asked.new is None) != asked.timed:
        parser.error("OLD and NEW, or one program and --timed")
    if asked.timed and (asked.threads or asked.csv or asked.new_options):
        parser.error("--timed is on one thread, and takes none of --threads, --csv and --new-options")
    by = "user" if asked.timed else "wall" if asked.threads else "processor"
    if asked.timed:
        asked.new, asked.threads, asked.new_options = asked.old, 1, "--schedule timed"
    names = [version(asked.old), version(asked.new)]
    rows, slow, refused = [], [], []
    heads = ("untimed s", "timed s") if asked.timed else ("old s", "new s")
    print(names[0] if asked.timed else f"old: {names[0]}\nnew: {names[1]}")
    least = f"{'least of each':>19}{'ratio':>8}" if asked.timed else ""
    print(f"\n{'launch':22}{heads[0]:>10}{heads[1]:>9}{'ratio':>8}{'quartiles':>15}{least}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for subject in launches.subjects(launches.compiled(folder)):
            if not re.search(asked.only, subject.name):
                continue
            if asked.timed and (subject.options or "then" in subject.launch):  # not in the order of time
                continue
            file = launches.written(subject, folder)
            options = subject.options + (["--threads", str(asked.threads)] if asked.threads else [])
            try:
                times = paired(asked, options, file, by)
            except RuntimeError as e:
                refused.append(subject.name)
                print(f"{subject.name:22} not timed: {e}", flush=True)
                continue
            ratios = sorted(new / old for old, new in zip(*times))
            low, middle, high = (statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else 3 * ratios)
            old, new = (statistics.median(t) for t in times)
            first, second = (min(t) for t in times)
            least = f"{first:12.3f}{second:7.3f}{second / first:8.3f}" if asked.timed else ""
            print(f"{subject.name:22}{old:10.3f}{new:9.3f}{middle:8.3f}{low:8.3f}{high:7.3f}{least}", flush=True)
            rows.append([datetime.date.today().isoformat(), *names, subject.name, f"{old:.3f}", f"{new:.3f}",
                         f"{middle:.3f}", f"{low:.3f}", f"{high:.3f}", asked.pairs])
            if not asked.timed and middle > SLOWER and low > SLOWER:
                slow.append(subject.name)
    if asked.csv:
        fresh = not asked.csv.exists()
        with asked.csv.open("a", newline="") as to:
            table = csv.writer(to, lineterminator="\n")
            if fresh:
                table.writerow(["date", "old", "new", "launch", "old_s", "new_s", "ratio", "lower_quartile",
                                "upper_quartile", "pairs"])
            table.writerows(rows)
    if slow:
        print(f"\nslower by more than 5 %: {', '.join(slow)}")
    return 1 if slow or refused else 0


if __name__ == "__main__":
    sys.exit(main())
