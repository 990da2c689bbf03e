"""The notebooks' way to bitwell: every number that they show comes through here."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "build" / "release" / "python"))
import bitwell as package  # noqa: E402: where the build has it


def bitwell(*arguments, allowed=(0,)):
    """What `bitwell ARGUMENTS` prints; an exit status that is not allowed is an error with what it said."""
    return package.command(*arguments, allowed=allowed, cwd=ROOT)


def data(*arguments, allowed=(0,)):
    """The same as data: the command's --json."""
    return json.loads(bitwell(*arguments, "--json", allowed=allowed))


study = package.study  # the rows, as dictionaries whose numbers are numbers
