"""Runs the commands that a page shows, in one bash, and compares what they say with what is shown.
Usage: run_page.py PAGE SOURCE BUILD NVCC [CASE]

A page is README.md, one of docs/, or one of verify/test/command/. In an indented block stand

    $ command         and its further lines, each behind '> '
    what it says      stdout and stderr, to the letter; '...' stands for anything left out, of a line or of many lines
    [2]               its exit status; [unchanged] and [2, unchanged]: it made, changed and removed no file

A block behind a paragraph that starts with a file's name in backquotes and ends with ':' is that file, which is written where
the shell then stands.

With CASE, a section ('## ...') of the page is run by itself in an empty folder, behind what stands above the first section; a
command that shows no status ends with 0. `skip WHY` ends a case that the machine cannot run; `fill FILE VALUE...` prints a file
with the values, or nothing, for its $1 to $8. Without CASE the whole page is run, in what looks like a clone; pages for readers show
no statuses, and of a command that shows '...' alone, 0 is meant.
"""
import importlib.util
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

MARK = "--- end of the command, status "
SKIPPED = 77
FUNCTIONS = f"""skip() {{ echo "SKIPPED: $*"; exit {SKIPPED}; }}
fill() {{
  local text i
  text=$(< "$1")
  for i in 9 8 7 6 5 4 3 2; do text=${{text//"\\$$((i - 1))"/"${{!i-}}"}}; done
  echo "$text"
}}"""


class Command:
    def __init__(self, line, text):
        self.line, self.text, self.shown, self.status, self.unchanged = line, text, [], None, False


def sections_of(text):
    """Name (None above the first) -> its steps: (file's name, lines) and Commands."""
    sections, steps, block, name = {}, [], None, None
    sections[None] = steps
    blank = 0  # lines in a block so far, which are in it if it goes on
    inside, begun = False, None  # a paragraph, and the file that it begins with
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    "):
            line = line[4:]
            if line.startswith("$ "):
                steps.append(Command(number, line[2:]))
                block = steps[-1].shown
            elif name:
                steps.append((name, [line]))
                block = steps[-1][1]
            elif block is not None and isinstance(steps[-1], Command) and not block and line.startswith("> "):
                steps[-1].text += "\n" + line[2:]
            elif block is not None and isinstance(steps[-1], Command) and (end := re.fullmatch(r"\[(?:(\d+)(, unchanged)?|unchanged)\]", line)):
                steps[-1].status, steps[-1].unchanged = int(end[1] or 0), "unchanged" in line
            elif block is not None:
                block += [""] * blank + [line]
            name, blank, inside = None, 0, False
        elif line:
            if line.startswith("## "):
                section = slug_of(line[3:])
                if section in sections:
                    sys.exit(f"line {number}: a second '{section}'")
                steps = sections[section] = []
            if not inside and (title := re.match(r"`([\w.-]+\.\w+)`", line)):
                begun = title[1]
            elif not inside:
                begun = None
            name = begun if line.endswith(":") else None
            block, blank, inside = None, 0, True
        else:
            blank += 1
            inside = False
    return sections


def slug_of(title):
    return re.sub("[^a-z0-9]+", "_", title.lower()).strip("_")


def matches(shown, said):
    """Whether lines are those shown, where '...' is any number of lines, and any part of one."""
    patterns = [None if line == "..." else re.compile(".*".join(map(re.escape, line.split("...")))) for line in shown]
    p = s = 0
    retry = None  # the last '...', and the first line that it does not stand for
    while s < len(said):
        if p < len(patterns) and patterns[p] is None:
            p, retry = p + 1, (p + 1, s)
        elif p < len(patterns) and patterns[p].fullmatch(said[s]):
            p, s = p + 1, s + 1
        elif retry:
            retry = retry[0], retry[1] + 1
            p, s = retry
        else:
            return False
    return all(pattern is None for pattern in patterns[p:])


def state_of(folder):
    """Every file below a folder, with what changes when it is written."""
    state = {}
    for inner, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(inner, name)
            is_ = os.lstat(path)
            state[path] = is_.st_mode, is_.st_ino, *(() if name in folders else (is_.st_size, is_.st_mtime_ns))
    return state


class Shell:
    def __init__(self, folder, environment):
        self.process = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                                        env=environment, start_new_session=True)
        self.send(FUNCTIONS)

    def send(self, text):
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:  # it has ended, which run() tells
            pass

    def run(self, command):
        """What it says, and its exit status; None where it ended the shell."""
        quoted = "'" + command.replace("'", "'\\''") + "'"
        self.send(f"eval {quoted} < /dev/null\nprintf '\\n{MARK}%d\\n' $?")
        said = []
        for line in self.process.stdout:
            line = line.decode(errors="replace").rstrip("\n")
            if line.startswith(MARK):
                if said and said[-1] == "":  # of the line break before the mark
                    said.pop()
                return said, int(line[len(MARK):])
            said.append(line)
        return said, None

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # with what it left running
        except ProcessLookupError:
            pass

    def end(self):
        self.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stdin):
            try:
                pipe.close()
            except BrokenPipeError:  # of what it did not read
                pass


def run(steps, folder, environment, every_status):
    """The failures, as texts; None where the case was skipped."""
    shell, failures = Shell(folder, environment), []
    signal.signal(signal.SIGALRM, lambda *_: shell.kill())
    signal.alarm(1200)  # for a command that waits for ever
    for step in steps:
        if isinstance(step, tuple):
            pathlib.Path(shell.run("pwd")[0][0], step[0]).write_text("\n".join(step[1]) + "\n")
            continue
        before = state_of(folder) if step.unchanged else None
        said, status = shell.run(step.text)
        if status is None:
            status = shell.process.wait()
            if status == SKIPPED:
                print(said[-1])
                failures = None
                break
            failures.append(f"line {step.line}: $ {step.text}\nthe shell ended with {status} and said\n" + "\n".join(said))
            break
        wrong = []
        if not matches(step.shown, said):
            wrong += ["it should say", *step.shown]
        # What shows nothing of what it says shows by its status alone that it works.
        whole = every_status or (bool(step.shown) and all(line == "..." for line in step.shown))
        wanted = step.status or 0 if whole else step.status
        if wanted is not None and status != wanted:
            wrong.append(f"it should end with {wanted}, not {status}")
        if before is not None and (changed := sorted(path for path, _ in set(before.items()) ^ set(state_of(folder).items()))):
            wrong.append(f"it should change no file, not {', '.join(dict.fromkeys(os.path.relpath(path, folder) for path in changed))}")
        if wrong:
            failures.append("\n".join([f"line {step.line}: $ {step.text}", *wrong, "it says", *said]))
    signal.alarm(0)
    shell.end()
    return failures


def tools(folder, **programs):
    """A folder with programs by these names."""
    folder.mkdir()
    for name, program in programs.items():
        words = " ".join(f'"{word}"' for word in (program if isinstance(program, tuple) else (program,)))
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def clone_in(folder, source, build):
    """The clone as a page's reader sees it, so that nothing is written into the real one."""
    (folder / "build/release/bin").mkdir(parents=True)
    for name in ("kernels", "model", "verify", "docs"):
        (folder / name).symlink_to(source / name)
    (folder / "build/release/bin/bitwell").symlink_to(build / "bin/bitwell")
    for name in ("lib", "share", "python"):
        (folder / "build/release" / name).symlink_to(build / name)


def main(page, source, build, nvcc, case=None):
    page, source, build, nvcc = (pathlib.Path(a).absolute() for a in (page, source, build, nvcc))
    sections = sections_of(page.read_text())
    if case and case not in sections:
        sys.exit(f"{page.name} has no section '{case}'")
    steps = sections[None] + sections[case] if case else [step for section in sections.values() for step in section]
    commands = [step for step in steps if isinstance(step, Command)]
    if not commands:
        sys.exit(f"{page.name} has no commands")
    asked = [name for name, program in (("numpy", "python3"), ("pytest", "pytest --")) if not case and any(program in c.text for c in commands)]
    if not case and any("import cutlass" in line for step in steps if isinstance(step, tuple) for line in step[1]):
        asked.append("cutlass")
    for name in asked:
        if importlib.util.find_spec(name) is None:
            print(f"SKIPPED: {name} is not there: " + ("pip install nvidia-cutlass-dsl" if name == "cutlass" else "run '.ci/setup'"))
            return SKIPPED
    if "pytest" in asked and not (build / "python/bitwell").exists():
        print("SKIPPED: the Python module is not built")
        return SKIPPED
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "clone"
        folder.mkdir()
        path = tools(pathlib.Path(work) / "tools", python3=sys.executable, nvcc=nvcc, bitwell=build / "bin/bitwell",
                     pytest=(sys.executable, "-m", "pytest"), npy=(sys.executable, pathlib.Path(__file__).with_name("npy.py")))
        if not case:
            clone_in(folder, source, build)
        failures = run(steps, folder, {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "SOURCE": str(source), "BUILD": str(build)}, bool(case))
    if failures is None:
        return SKIPPED
    for failure in failures:
        print(f"FAILED: {page.name}, {failure}\n")
    print(f"{len(commands)} commands of {page.name}, {len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
