#!/usr/bin/env python3
"""The model of time against an H200, in one picture and one table: time_scatter.py TIME_CHECK PICTURE.png

Runs time_check (which prints a row for each kernel and shape, and how far off the model and a closed form are), passes
its table on, and draws each row: what was measured along, what was modelled up, filled where it was kept aside. In
place of TIME_CHECK may stand a file with what it printed, .csv."""
import contextlib
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main():
    check, picture = sys.argv[1:]
    rows = []
    with contextlib.ExitStack() as stack:
        run = None
        if check.endswith(".csv"):
            lines = stack.enter_context(open(check))
        else:
            run = stack.enter_context(subprocess.Popen([check], stdout=subprocess.PIPE, text=True))
            lines = run.stdout
        for line in lines:
            print(line, end="", flush=True)
            fields = line.rstrip().rsplit(",", 8)  # a shape may have commas of its own
            if len(fields) == 9 and fields[-1] in ("aside", "looked at"):
                family = line.split(",", 1)[0]
                rows.append((family, float(fields[1]), float(fields[2]), float(fields[6]), fields[-1] == "aside"))
    if run is not None and run.returncode != 0:
        return run.returncode
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), sharey=True)
    for at, column, title in ((axes[0], 2, "the model"), (axes[1], 3, "a closed form")):
        for number, family in enumerate(dict.fromkeys(r[0] for r in rows)):
            for aside in (True, False):
                those = [r for r in rows if r[0] == family and r[4] == aside]
                at.scatter([r[1] for r in those], [r[column] for r in those], s=28, color=f"C{number}",
                           facecolors=None if aside else "none", label=family if aside else None)
        ends = [min(r[1] for r in rows) / 2, max(r[1] for r in rows) * 2]
        at.plot(ends, ends, color="grey", linewidth=1)
        at.fill_between(ends, [0.7 * e for e in ends], [1.3 * e for e in ends], color="grey", alpha=0.15)
        at.set(xscale="log", yscale="log", xlim=ends, xlabel="an H200, us", title=title)
    axes[0].set_ylabel("modelled, us")
    axes[0].legend(title="filled: kept aside; grey: within 30 %")
    figure.tight_layout()
    figure.savefig(picture, dpi=120)
    return 0


if __name__ == "__main__":
    sys.exit(main())
