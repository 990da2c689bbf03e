#!/usr/bin/env python3
"""namespaces_test.py SOURCE: namespaces follow folders, and libraries are named as theirs.

A file below model/X, verify/X or experiments/X stands in bitwell::X, and a test below verify/test/X with what it tests. A name
of another room may be declared ahead in a block of its own. No folder of sources has more than 30 files.
"""
import collections
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
TESTS = {"unlucky": "bugs"}  # whose tests have a folder of another name


def room(path):
    top, *below = path.split("/")
    if top == "verify" and below[0] == "test":
        return "test" if len(below) == 2 else TESTS.get(below[1], below[1])
    return below[0] if top in ("model", "verify", "experiments") and len(below) > 1 else None


def blocks(text):
    """Namespaces of bitwell's that are opened, but those with nothing but types declared ahead."""
    for m in re.finditer(r"^namespace bitwell(?:::(\w+))?[\w:]* {\n((?:(?:class|struct|enum class|enum) \w+(?: : [\w:]+)?;[^\n]*\n)*(}))?", text, re.M):
        if not m[3]:
            yield m[1] or ""


wrong = []
files = [f for f in subprocess.run(["git", "-C", SOURCE, "ls-files", "--cached", "--others", "--exclude-standard"],
                                   capture_output=True, text=True).stdout.split("\n") if f]
if not files:
    files = [str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*") if p.is_file() and "build" not in p.parts]
sources = [f for f in files if f.endswith((".h", ".cpp")) and (SOURCE / f).exists()]
if len(sources) < 500:
    sys.exit(f"only {len(sources)} sources in {SOURCE}")
for f in sources:
    want = room(f)
    for got in blocks((SOURCE / f).read_text()) if want else ():
        if got != want:
            wrong.append(f"{f}: namespace bitwell::{got}, it should be bitwell::{want}")

for line in (SOURCE / "rooms.cmake").read_text().splitlines():
    m = re.match(r"bitwell_room\((\w+) ([\w/]+)", line)
    if m and m[2].split("/")[-1] != m[1]:
        wrong.append(f"rooms.cmake: the library of {m[2]} is named {m[1]}")

count = collections.Counter(f.rsplit("/", 1)[0] for f in files if f.startswith(("model/", "verify/")) and not f.endswith((".json", ".ptx")))
wrong += [f"{folder}: {n} files, 30 at most" for folder, n in sorted(count.items()) if n > 30]
print("\n".join(wrong) or f"{len(sources)} sources stand where their folders are")
sys.exit(bool(wrong))
