#!/usr/bin/env python3
"""How much faster is one launch on several host threads?

    experiments/guard/scaling.py BITWELL [--threads 1,2,4,8,16] [--runs N] [--scale N] [--only REGEX] [--csv FILE]
        [--schedules lazy,eager,...] [--ceiling] [--seconds S]

Each launch of launches.py, N times as many CTAs, and N / 2 GEMVs of the contest's second size, by 1, 2, 4, ... host threads:
seconds of a clock on the wall (of the launch alone, as bitwell says them; the best of so many runs), how many times as fast as by one
thread, and the efficiency. The digest of the outputs is compared, under each schedule. `--ceiling`: how many times as fast so
many processes are that share nothing, each by one thread: what the machine gives, of which cores may be halves of cores, and
slower together. Needs nvcc, or kernels.cu as PTX (--ptx), and the release build's kernels.
"""
import argparse
import csv
import hashlib
import re
import subprocess
import sys
import tempfile
import time
from math import inf, prod
from pathlib import Path

import launches

SECONDS = re.compile(r" lane instructions in ([\d.]+) s \([^)]*\)")


def outputs(launch, folder):
    """Every buffer that is not read only becomes an output."""
    files = []
    for buffer in launch.get("buffers", []) + launch["arguments"]:
        if "buffer" in buffer and not buffer.get("read_only") and ("unwritten" in buffer or "generate" in buffer):
            buffer["output"] = str(folder / (buffer["buffer"] + ".bin"))
            buffer["all_written"] = False  # scratch memory is compared too
            files.append(buffer["output"])
    return files


def ceiling(bitwell, file, options, count):
    """How many times what one process does in a second, so many at once do."""
    def seconds(processes):
        command = [bitwell, "run", file, "--threads", "1", *options]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                   for _ in range(processes)]
        return [sum(float(s) for s in SECONDS.findall(p.communicate()[0])) for p in running]
    return seconds(1)[0] * sum(1 / s for s in seconds(count))


def measured(bitwell, file, options, files, runs):
    """The best of so many runs in seconds, why not all clusters ran side by side, and each run's words and outputs."""
    best, why, ends = None, "", set()
    for _ in range(runs):
        done = subprocess.run([bitwell, "run", file, *options], capture_output=True, text=True)
        if done.returncode not in (0, 1 if "--races" in options else 0):
            sys.exit(f"scaling: {file} ended with {done.returncode}: {done.stderr.strip()}")
        took = [float(s) for s in SECONDS.findall(done.stdout)]
        if not took:
            sys.exit(f"scaling: {file}: no line says how long the launch took: {done.stdout}")
        best = sum(took) if best is None else min(best, sum(took))
        told = done.stdout.splitlines()
        why = next((line.strip() for line in told if " ran side by side" in line), "")
        ends.add((SECONDS.sub("", "".join(line for line in told if " ran side by side" not in line)),
                  "".join(line for line in done.stderr.splitlines() if "no faster than" not in line),
                  *(hashlib.sha256(Path(f).read_bytes()).hexdigest() for f in files)))
    return best, why, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bitwell")
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=int, default=8)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--ptx", help="kernels.cu as PTX, where there is no nvcc")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--schedules", default="lazy")
    parser.add_argument("--ceiling", action="store_true")
    parser.add_argument("--seconds", type=float, default=inf, help="after which no launch is begun")
    asked = parser.parse_args()
    counts = [int(n) for n in asked.threads.split(",")]
    rows, same, begin = [], True, time.monotonic()
    print(f"{'launch':22}" + "".join(f"{n:>20}" for n in counts))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        batches = max(1, asked.scale // 2)
        contest = launches.Subject(f"gemv naive, {batches} of them", launches.gemv("naive", 4096, 7168, batches))
        for subject in [contest, *launches.subjects(asked.ptx or launches.compiled(folder), asked.scale)]:
            if not re.search(asked.only, subject.name) or "then" in subject.launch:
                continue
            if time.monotonic() - begin > asked.seconds:
                print(f"{subject.name:22}  not begun: --seconds {asked.seconds:g} are over")
                continue
            count_of = lambda key: prod(subject.launch.get(key, [1]))
            clusters = count_of("grid") // count_of("cluster")
            files = outputs(subject.launch, folder)
            file = launches.written(subject, folder)
            for schedule in asked.schedules.split(","):
                options = [*subject.options, *([] if schedule == "lazy" else ["--schedule", schedule])]
                name = subject.name + ("" if schedule == "lazy" else f", {schedule}")
                first, ends, line = None, set(), f"{name:22}"
                for count in counts:
                    best, why, end = measured(asked.bitwell, file, [*options, "--threads", str(count)], files, asked.runs)
                    ends |= end
                    first = first or best
                    line += f"{best:8.2f}{first / best:5.1f}x{100 * first / best / count * counts[0]:4.0f}%".rjust(20)
                    rows.append([name, clusters, count, f"{best:.3f}", f"{first / best:.2f}"])
                if asked.ceiling:
                    most = ceiling(asked.bitwell, file, options, counts[-1])
                    line += f"  of {most:.1f}x"
                    rows.append([name + ", processes", clusters, counts[-1], "", f"{most:.2f}"])
                same = same and len(ends) == 1
                print(line + ("" if len(ends) == 1 else "  OTHER BITS OR WORDS") + (f"  {why}" if why else ""), flush=True)
    if asked.csv:
        with asked.csv.open("w", newline="") as to:
            csv.writer(to, lineterminator="\n").writerows([["launch", "clusters", "threads", "seconds", "times"], *rows])
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
