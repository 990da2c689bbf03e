#!/usr/bin/env python3
"""Is a benchmark slower than it was? Two bitwell_bench programs, one after the other on one core, in turn.

    experiments/guard/benchmarks.py OLD NEW [--pairs N] [--seconds S] [--cores 0,1,...] [--only REGEX] [--csv FILE]

The rows that both have are divided among the cores. A row has the least time of each version, how many times NEW is as fast by
these, and by the pairs: their median, the least and the most. What is slower by more than 5 % by the least times and by the
median is told, and makes the exit status 1.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import time

FIELDS = ("benchmark", "before, us", "after, us", "times as fast", "median", "least", "most")
US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
SLOWER = 0.95


def names(program):
    return subprocess.run((program, "--benchmark_list_tests"), capture_output=True, text=True, check=True).stdout.splitlines()


def times(program, core, rows):
    """Microseconds of the processor, which other work disturbs least, by row; of a row that measures itself what it says, and of what the
    host has not got, nothing."""
    only = "^(" + "|".join(re.sub(r"([.+*?()\[\]{}^$|\\])", r"\\\1", row) for row in rows) + ")$"
    command = ("taskset", "-c", core, program, "--benchmark_filter=" + only, "--benchmark_min_time=0.05", "--benchmark_format=json")
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        raise RuntimeError(f"{program} ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    given = (b for b in json.loads(ran.stdout)["benchmarks"] if not b.get("error_occurred"))
    return {b["name"]: b["real_time" if b["name"].endswith("/manual_time") else "cpu_time"] * US[b["time_unit"]] for b in given}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no pair is begun")
    parser.add_argument("--cores", default="0")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--csv", type=pathlib.Path)
    given = parser.parse_args()
    there = set(names(given.new))
    rows = [row for row in names(given.old) if row in there and re.search(given.only, row)]
    cores = given.cores.split(",")
    pairs = {row: [] for row in rows}
    begin = time.monotonic()

    def on(core, mine):
        for pair in range(given.pairs if mine else 0):
            if time.monotonic() - begin > given.seconds:
                return
            order = (given.old, given.new) if pair % 2 == 0 else (given.new, given.old)
            took = {program: times(program, core, mine) for program in order}
            for row in took[given.old].keys() & took[given.new].keys():
                pairs[row].append((took[given.old][row], took[given.new][row]))

    with concurrent.futures.ThreadPoolExecutor(len(cores)) as pool:
        list(pool.map(on, cores, (rows[i::len(cores)] for i in range(len(cores)))))
    table = []
    for row in rows:
        if pairs[row]:
            ratios = [before / after for before, after in pairs[row]]
            before, after = (min(several) for several in zip(*pairs[row]))
            numbers = [f"{before:.3f}", f"{after:.3f}", f"{before / after:.2f}"]
            numbers += [f"{f(ratios):.2f}" for f in (statistics.median, min, max)]
            table.append(dict(zip(FIELDS, (row, *numbers))))
            print(" | ".join(table[-1].values()), flush=True)
    slower = [r["benchmark"] for r in table if max(float(r["times as fast"]), float(r["median"])) < SLOWER]
    if table:
        print(f"{len(table)} benchmarks, as fast in the middle: {statistics.median(float(r['times as fast']) for r in table):.2f} times")
    for row in slower:
        print(f"slower: {row}")
    if given.csv:
        with given.csv.open("w", newline="") as f:
            out = csv.DictWriter(f, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(table)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
