#!/usr/bin/env python3
"""Runs tests of other projects, as they are, under `pytest --bitwell`: the list is suites_list.py.

    PYTHON suites.py [--device h200] [--only FILE] PROJECT=FOLDER...      # into suites.csv; ../table.py puts it into docs/pytest.md

PYTHON has bitwell, pytest, and what the project's tests import. FOLDER is a working tree of yours with the tests.
"""
import argparse
import collections
import csv
import importlib.metadata
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from suites_list import SUITES

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = ("project", "tests", "device", "collected", "ran", "launched", "passed", "failed", "refused", "skipped", "why not", "seconds")
LIMIT = 1800  # seconds of one file
# Scripts that check themselves, as one test each. What they measure is left out: there is nothing to measure.
SCRIPT = '''import runpy, triton.testing

class Unmeasured:
    def __init__(self, *_): pass
    def __call__(self, function): return self
    def run(self, *_, **__): pass

def test_script(monkeypatch):
    monkeypatch.setattr(triton.testing, "perf_report", Unmeasured)
    runpy.run_path({path!r}, run_name="__main__")
'''


def outcome(case):
    """Of a test: how it ended, and the first line of why."""
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            why = (found.get("message") or "").strip().splitlines() or [""]
            if kind == "skipped":
                return "skipped", why[0]
            refused = "Unsupported" in why[0] or "NotImplementedError: bitwell" in why[0] or "verdict\": \"refused" in properties(case)
            return ("refused" if refused else "failed"), why[0]
    return "passed", ""


def properties(case):
    return next((p.get("value") for p in case.iter("property") if p.get("name") == "bitwell"), "")


def ran(command, folder, limit):
    """What it printed, and whether its time was over: then it is interrupted, so that it still tells of the tests that have ended."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                          env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        for then in (signal.SIGINT, signal.SIGKILL, None):
            try:
                said = process.communicate(timeout=limit)[0]
                return said, process.returncode not in (0, 1) and then is not signal.SIGINT
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, then)
                limit = 60


def row_of(project, tests, device, folder, limit):
    with tempfile.TemporaryDirectory() as out:
        xml_file = pathlib.Path(out) / "out.xml"
        file = tests.file
        if tests.script:
            file = str(pathlib.Path(out) / "test_script.py")
            pathlib.Path(file).write_text(SCRIPT.format(path=str(pathlib.Path(folder).resolve() / tests.file)))
        command = [sys.executable, "-m", "pytest", "--bitwell", "--bitwell-device", device, "--bitwell-report", out, "--junit-xml", str(xml_file),
                   "-p", "no:cacheprovider", file, *tests.options] + (["-k", tests.only] if tests.only else [])
        began = time.time()
        said, stopped = ran(command, folder, limit)
        seconds = time.time() - began
        print(said[-3000:], flush=True)
        cases = list(xml.etree.ElementTree.parse(xml_file).getroot().iter("testcase")) if xml_file.exists() else []
    ended_cases = sum(int(n) for n in re.findall(r"(\d+) (?:passed|failed|skipped|errors?|xfailed|xpassed)\b", (said.strip().splitlines() or [""])[-1]))
    if stopped and len(cases) > ended_cases:
        cases.pop()  # that which was interrupted
    ended = collections.Counter()
    reasons = collections.Counter()
    launched = 0
    for case in cases:
        how, why = outcome(case)
        ended[how] += 1
        told = properties(case)
        launched += bool(told and json.loads(told)["kernels"])
        if why:
            reasons[re.sub(r"\s+", " ", re.sub(r"/\S+/", ".../", why))[:120]] += 1
    if stopped and not cases:
        print(f"{tests.file}: no test ended within {limit} s, so there is no row of it", flush=True)
        return None
    if not cases:
        reasons[(said.strip().splitlines() or [""])[-1][:120]] = 1
    if stopped:
        reasons[f"the rest not within {limit} s"] = 1
    collected = re.search(r"^collected (\d+) items?\b", said, re.MULTILINE)  # those too that the choice leaves out or that had not begun
    why = "; ".join(f"{n} x {text}" if n > 1 else text for text, n in reasons.most_common(3))
    return {"project": f"{project} {importlib.metadata.version(tests.package)}",
            "tests": tests.file + (f" -k '{tests.only}'" if tests.only and len(tests.only) < 60 else ", the sample of suites_list.py" if tests.only else ""),
            "device": device, "collected": collected.group(1) if collected else "", "ran": len(cases), "launched": launched, **{k: ended[k] for k in ("passed", "failed", "refused", "skipped")},
            "why not": why, "seconds": f"{seconds:.0f}"}


def write(rows):
    path = HERE / "suites.csv"
    kept = list(csv.DictReader(path.open())) if path.exists() else []
    key = lambda r: (r["project"].split()[0], r["tests"], r["device"])
    new = {key(r) for r in rows}
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(sorted([r for r in kept if key(r) not in new] + rows, key=lambda r: [list(SUITES).index(r["project"].split()[0])]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="h200")
    parser.add_argument("--only", default="", help="files of the list whose path has this")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds of one file (%(default)s)")
    parser.add_argument("folders", nargs="+", metavar="PROJECT=FOLDER", help=", ".join(SUITES))
    given = parser.parse_args()
    for project, folder in (f.split("=", 1) for f in given.folders):
        for tests in (t for t in SUITES[project] if given.only in t.file):
            row = row_of(project, tests, given.device, folder, given.limit)
            if row is not None:
                write([row])
    return 0


if __name__ == "__main__":
    sys.exit(main())
