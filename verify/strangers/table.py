#!/usr/bin/env python3
"""Prints the tables of README.md: of programs/programs.csv and speeds.csv, languages/languages.csv, results.csv and device.csv;
and that of docs/pytest.md: suites/suites.csv.

    table.py [--write | --check]

--write puts them there. --check: they are there, and every kernel of the sources has its rows; exit status 1 where not.
"""
import argparse
import ast
import csv
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ("sm_90a", "sm_100a")
# What the H200 gave that bitwell did not, and why that is no fault of either.
REASONS = {
    "cuda_unordered_sum": "512 fp32 atomics at one place, in no order",
    "triton_scatter_atomics": "fp32 atomics of several CTAs at one place, in no order",
    "warp_quaternions": "ptxas fuses its `mul.f32` and `add.f32`, see `warp_quaternions_unfused`",
}


def rows(name):
    with (HERE / name).open() as f:
        return list(csv.DictReader(f))


def table():
    device = {(r["kernel"], r["arch"]): r["verdict"] for r in rows("device.csv")}
    head = ("kernel", "generator", "target", "PTX lines", "`check`", "`run`", "tolerance", "worst error", "s", "on an H200")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for r in rows("results.csv"):
        there = device.get((r["kernel"], r["arch"]), "")
        if there not in ("", "equal") and r["kernel"] in REASONS:
            there += ": " + REASONS[r["kernel"]]
        cells = (r["kernel"], r["generator"], r["target"], r["PTX lines"], r["check"], r["run"], r["tolerance"], r["worst error"],
                 r["seconds"], there)
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join(lines) + "\n"


def as_it_is(name, head):
    """A table of all columns of a file."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for r in rows(name):
        lines.append("| " + " | ".join(value.replace("|", "\\|") for value in r.values()) + " |")
    return "\n".join(lines) + "\n"


def programs():
    return as_it_is("programs/programs.csv", ("program", "commit", "kernel", "its own check", "`run`", "`--races`", "`--schedules 16`",
                                              "s", "M lane instructions/s"))


def languages():
    return as_it_is("languages/languages.csv", ("project", "program", "target", "kernel", "its own check", "`run`", "`--races`",
                                                "`--schedules 16`", "s"))


def speeds():
    """Of each project's launches, and of all."""
    head = ("project", "launches", "run by both", "ratio, median", "least", "most", "before, M/s", "today, M/s")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    all_of_them = rows("programs/speeds.csv")
    for project in [*dict.fromkeys(r["project"] for r in all_of_them), "all"]:
        here = [r for r in all_of_them if project in (r["project"], "all")]
        both = [r for r in here if r["ratio"]]
        ratios, before, today = ([float(r[c]) for r in both] for c in ("ratio", "before, M/s", "today, M/s"))
        cells = [f"{f(v):.{digits}f}" if both else ""
                 for f, v, digits in ((statistics.median, ratios, 2), (min, ratios, 2), (max, ratios, 2), (statistics.median, before, 0),
                                      (statistics.median, today, 0))]
        lines.append("| " + " | ".join([project, str(len(here)), str(len(both)), *cells]) + " |")
    return "\n".join(lines) + "\n"


def suites():
    return as_it_is("suites/suites.csv", ("project", "tests", "device", "collected", "ran", "launched a kernel", "passed", "failed", "refused",
                                          "skipped", "why not", "s"))


README, PAGE = HERE / "README.md", HERE.parent.parent / "docs/pytest.md"
# The file, and the name of the table in the lines around it.
TABLES = {(PAGE, "suites"): suites, (README, "languages"): languages, (README, "programs"): programs, (README, "speeds"): speeds,
          (README, "table"): table}


def lines_around(name):
    return f"<!-- {name} -->\n", f"<!-- end of the {name} -->\n"


def registered():
    """The kernels that the sources register, with their architectures: what `@kernel(...)` says."""
    for path in sorted(HERE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            for d in getattr(node, "decorator_list", []):
                if isinstance(d, ast.Call) and getattr(d.func, "id", "") == "kernel":
                    only = [ast.literal_eval(k.value) for k in d.keywords if k.arg == "only"]
                    for arch in only[0] if only else ARCHITECTURES:
                        yield ast.literal_eval(d.args[0]), arch


def check():
    have = {(r["kernel"], r["arch"]) for r in rows("results.csv")}
    want = set(registered())
    faults = [f"{k} for {a} has no row in results.csv" for k, a in sorted(want - have)]
    faults += [f"{k} for {a} is a row of results.csv, and no source makes it" for k, a in sorted(have - want)]
    faults += [f"{r['kernel']} in device.csv: no source makes it" for r in rows("device.csv") if (r["kernel"], r["arch"]) not in want]
    if len({k for k, _ in have}) < 40:
        faults.append("results.csv has fewer than 40 kernels")
    for (file, name), made in TABLES.items():
        begin, end = lines_around(name)
        if begin + made() + end not in file.read_text():
            faults.append(f"{file.name} has another table behind {begin.strip()}: table.py --write")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.write:
        for (file, name), made in TABLES.items():
            begin, end = lines_around(name)
            text = file.read_text()
            file.write_text(text[:text.index(begin)] + begin + made() + text[text.index(end):])
    elif options.check:
        faults = check()
        print("\n".join(faults) or "the tables stand as the results say")
        return 1 if faults else 0
    else:
        print("\n".join(made() for made in TABLES.values()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
