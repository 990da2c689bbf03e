"""What the command line does, as data: LAUNCH.json, budgets, studies. The package brings the command."""
from __future__ import annotations

import contextlib
import csv
import json
import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from . import _native
from ._native import InputError, ModelBug, Unsupported


def binary() -> str:
    """The command: the package's, or the one of the build that it stands in."""
    here = pathlib.Path(__file__).parent
    for path in (here / "bin" / "bitwell", here.parent.parent / "bin" / "bitwell"):
        if path.is_file():
            return str(path)
    raise InputError(f"the command bitwell is neither in {here / 'bin'} nor in {here.parent.parent / 'bin'}")


class CommandError(Exception):
    """The command ended with a status that was not allowed."""

    def __init__(self, text: str, status: int):
        super().__init__(text)
        self.status = status


def _done(arguments: tuple, allowed: tuple[int, ...], cwd=None) -> subprocess.CompletedProcess:
    """A mapping among the arguments is a JSON file, which is there as long as the command."""
    with contextlib.ExitStack() as files:
        words = []
        for argument in arguments:
            if isinstance(argument, Mapping):
                path = pathlib.Path(files.enter_context(tempfile.TemporaryDirectory(prefix="bitwell-")), "given.json")
                path.write_text(json.dumps(argument))
                argument = path
            words.append(str(argument))
        done = subprocess.run([binary(), *words], capture_output=True, text=True, cwd=cwd)
    if done.returncode in allowed:
        return done
    kind = {2: InputError, 3: Unsupported, 4: ModelBug}.get(done.returncode)
    if kind is not None:
        raise kind((done.stderr or done.stdout).strip().removeprefix("bitwell: "))
    raise CommandError((done.stdout + done.stderr).strip(), done.returncode)


def command(*arguments: Any, allowed: tuple[int, ...] = (0,), cwd: Optional[os.PathLike] = None) -> str:
    """What `bitwell ARGUMENTS` prints. InputError, Unsupported or ModelBug for their statuses (2, 3, 4), and
    CommandError for another that is not allowed (1: a verdict failed)."""
    done = _done(arguments, allowed, cwd)
    return done.stdout + done.stderr


def _data(*arguments: Any, allowed: tuple[int, ...] = (0,), cwd=None) -> Any:
    return json.loads(_done((*arguments, "--json"), allowed, cwd).stdout)


@dataclass(frozen=True)
class Ran:
    """What `bitwell run LAUNCH.json --json` says. Outputs with a path are in their files."""
    held: bool
    facts: dict  #: as `bitwell help launch-file` has them
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


def _at(folder: str, what: Any) -> Any:
    """A launch file's keys, with the paths in it counted from that folder."""
    paths = _native.path_keys()

    def value(key: str, v: Any) -> Any:
        return os.path.join(folder, v) if key in paths and isinstance(v, (str, os.PathLike)) else _at(folder, v)

    if isinstance(what, Mapping):
        return {key: value(key, v) for key, v in what.items()}
    return [_at(folder, v) for v in what] if isinstance(what, (list, tuple)) else what


def run(launch: os.PathLike | str | Mapping, *, races: bool = False, schedules: int = 1, schedule: str = "",
        seed: int = 0, strict: bool = False, numeric: bool = False, fmad: bool = False, device: str = "") -> Ran:
    """Runs a LAUNCH.json: a path, or its keys (paths in them count from the working directory).

    `held` says whether it came to its end as expected, with nothing that is an error. One that ends in a fault holds
    not; InputError and Unsupported are raised."""
    options: list[Any] = []
    if races:
        options.append("--races")
    if schedules != 1:
        options += ["--schedules", schedules]
    if schedule:
        options += ["--schedule", schedule]
    if seed:
        options += ["--seed", seed]
    if strict:
        options.append("--strict")
    if numeric:
        options.append("--numeric")
    if fmad:
        options.append("--fmad")
    if device:
        options += ["--device", device]
    launch = _at(os.getcwd(), launch) if isinstance(launch, Mapping) else os.fspath(launch)
    done = _done(("run", launch, *options, "--json"), (0, 1))
    facts = json.loads(done.stdout) if done.stdout.strip() else {}
    return Ran(done.returncode == 0, facts, done.stderr.strip() or done.stdout.strip())


class _Picture(dict):
    """A command's data, drawn by it in notebooks."""
    _words: tuple = ()

    def _repr_svg_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "picture.svg")
            command(*self._words, "--svg", path, allowed=(0, 1))
            with open(path) as f:
                return f.read()


def budget(spec: str | os.PathLike | Mapping, **names: int) -> _Picture:
    """What a kernel keeps in shared and tensor memory (bytes, columns): each hand-written size beside its layout.

    `spec`: the path of a SPEC.json, the name of one that comes with bitwell, or its keys; `names` in place of its own."""
    sets = [word for name, value in names.items() for word in ("--set", f"{name}={value}")]
    words = ("budget", spec if isinstance(spec, Mapping) else os.fspath(spec), *sets)
    out = _Picture(_data(*words, allowed=(0, 1)))
    out._words = words
    return out


def study(name: str, *arguments: Any) -> list[dict]:
    """The rows of a study (`bitwell study --help` lists them), whose numbers are numbers."""
    def value(cell: str) -> Any:
        try:
            return float(cell)
        except ValueError:
            return cell

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "study.csv")
        command("study", name, *arguments, "--csv", path, "--fresh")
        with open(path) as f:
            rows = csv.DictReader(line for line in f if not line.startswith("#"))
            return [{key: value(cell) for key, cell in row.items()} for row in rows]
