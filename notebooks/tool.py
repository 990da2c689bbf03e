"""The notebooks' way to bitwell: every number that they show comes through here."""
import csv
import io
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "bin" / "bitwell"


def bitwell(*arguments, allowed=(0,)):
    """What `bitwell ARGUMENTS` prints; an exit status that is not allowed is an error with what it said."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode not in allowed:
        raise RuntimeError(f"bitwell {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def data(*arguments, allowed=(0,)):
    """The same as data: the command's --json."""
    return json.loads(bitwell(*arguments, "--json", allowed=allowed))


def study(name, *arguments):
    """The rows of a study, as dictionaries whose numbers are numbers."""
    path = ROOT / "build" / f"notebook-{name}.csv"
    bitwell("study", name, *arguments, "--csv", path, "--fresh")
    text = "".join(line for line in path.read_text().splitlines(keepends=True) if not line.startswith("#"))
    path.unlink()

    def value(cell):
        try:
            return float(cell)
        except ValueError:
            return cell

    return [{key: value(cell) for key, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]
