"""Runs a page, in order, in one shell: README.md or one of docs/. Usage: page_test.py PAGE SOURCE BUILD NVCC

- An indented line that starts with '$ ' is a command; the indented lines behind it are what it says. '...' stands for anything
  left out, of a line or of many.
- An indented block behind a line that starts with a file's name in backquotes and ends with ':' is that file, which is written.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

page, source, build, nvcc = (pathlib.Path(a).absolute() for a in sys.argv[1:])
MARK = "--- next command ---"


def steps_of(text):
    """("file", name, lines) and ("command", line, lines shown)."""
    steps, name, inside = [], None, False
    for line in text.splitlines():
        if line.startswith("    "):
            line = line[4:]
            if line.startswith("$ "):
                steps.append(("command", line[2:], []))
                inside = True
            elif name and not inside:
                steps.append(("file", name, [line]))
                inside = True
            elif inside:
                steps[-1][2].append(line)
            name = None
        elif line:
            title = re.match(r"`([\w.-]+\.\w+)`.*:$", line)
            name, inside = title and title[1], False
        elif inside and steps[-1][0] == "file":
            steps[-1][2].append("")
        else:
            inside = False
    return steps


def pattern_of(shown):
    return "".join(r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n" for line in shown)


steps = steps_of(page.read_text())
commands = [step for step in steps if step[0] == "command"]
if not commands:
    sys.exit(f"{page.name} has no commands")
if any("python3" in command for _, command, _ in commands):
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("SKIPPED: NumPy is not there: run '.ci/setup'")
        sys.exit(77)

failures = 0
with tempfile.TemporaryDirectory() as folder:
    # The clone as the page sees it, so that nothing is written into the real one.
    work = pathlib.Path(folder)
    clone = work / "clone"
    (clone / "build/release/bin").mkdir(parents=True)
    for name in ("kernels", "model", "verify", "docs"):
        (clone / name).symlink_to(source / name)
    (clone / "build/release/bin/bitwell").symlink_to(build / "bin/bitwell")
    for name in ("lib", "share"):
        (clone / "build/release" / name).symlink_to(build / name)
    tools = work / "tools"
    tools.mkdir()
    for name, program in (("python3", sys.executable), ("nvcc", nvcc), ("bitwell", build / "bin/bitwell")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        (tools / name).chmod(0o755)
    script = ""
    for kind, what, lines in steps:
        if kind == "file":
            script += f"cat > {what} <<'end of the file'\n" + "\n".join(lines) + "\nend of the file\n"
        else:
            script += f"{what}\necho; echo '{MARK}'\n"
    done = subprocess.run(["bash"], input=script, cwd=clone, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.split(f"\n{MARK}\n")
    if len(said) != len(commands) + 1:
        sys.exit(f"{page.name}: the shell ended early:\n{done.stdout}")
    for (_, command, shown), text in zip(commands, said):
        if not re.fullmatch(pattern_of(shown), text if text.endswith("\n") or not text else text + "\n"):
            failures += 1
            print(f"FAILED: $ {command}\nthe page shows\n" + "\n".join(shown) + f"\nit says\n{text}")
print(f"{len(commands)} commands of {page.name}, {failures} say something else")
sys.exit(failures != 0)
