#!/usr/bin/env bash
# Runs the commands of a page, in order, in one shell, and looks that they say what it shows: the indented lines that start
# with '$ ' and those after them, where '...' stands for anything. Usage: page_test.sh PAGE SOURCE BUILD NVCC PYTHON
set -euo pipefail
page=$1 source=$2 build=$3 nvcc=$4 python=$5
"$python" -c "import numpy" 2> /dev/null || { echo "NumPy is not there: run '.ci/setup'"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The clone as the page sees it, so that nothing is written into the real one.
mkdir -p "$work/clone/build/release/bin" "$work/tools"
for folder in kernels verify docs; do ln -s "$source/$folder" "$work/clone/$folder"; done
ln -s "$build/bin/bitwell" "$work/clone/build/release/bin/bitwell"
ln -s "$build/lib" "$work/clone/build/release/lib"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" > "$work/tools/python3"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$nvcc" > "$work/tools/nvcc"
chmod +x "$work"/tools/*
"$python" - "$page" "$work" <<'P'
import os, re, subprocess, sys
page, work = sys.argv[1:]
steps = []  # command, lines shown
inside = False
for line in open(page):
    if line.startswith("    $ "):
        steps.append((line[6:].rstrip("\n"), []))
        inside = True
    elif inside and line.startswith("    "):
        steps[-1][1].append(line[4:].rstrip("\n"))
    else:
        inside = False
assert steps, page + " has no commands"
mark = "--- next command ---"
script = "".join(f"{command}\necho; echo '{mark}'\n" for command, _ in steps)
env = dict(os.environ, PATH=work + "/tools:" + os.environ["PATH"])
done = subprocess.run(["bash"], input=script, cwd=work + "/clone", env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
said = done.stdout.split("\n" + mark + "\n")
assert len(said) == len(steps) + 1, done.stdout
failures = 0
for (command, shown), text in zip(steps, said):
    pattern = ""
    for line in shown:
        pattern += r"(?:.*\n)*" if line == "..." else ".*".join(re.escape(p) for p in line.split("...")) + r"\n"
    if not re.fullmatch(pattern, text if text.endswith("\n") or not text else text + "\n"):
        failures += 1
        print(f"FAILED: $ {command}\nthe page shows\n" + "\n".join(shown) + f"\nit says\n{text}")
print(f"{len(steps)} commands of {os.path.basename(page)}, {failures} say something else")
sys.exit(failures != 0)
P
