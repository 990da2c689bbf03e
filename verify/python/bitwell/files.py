"""Launches by `bitwell run`, each with its memory as files."""
import ctypes
import pathlib
import shutil
import subprocess
import tempfile

from . import record
from .gpu import Fault, Race, Refused


class Process:
    """What bitwell's library does for a process, by a program."""

    def __init__(self, settings):
        self.settings = settings
        self.bitwell = shutil.which("bitwell") or "bitwell"

    def adopt(self, address, bytes, name, defined=True):
        pass

    def release(self, address):
        pass

    def mark(self, address, bytes, written=True):
        pass

    def launch(self, launch, reached):
        __tracebackhide__ = True
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            buffers = record.bytes_of(reached)
            path = record.write(launch, buffers, folder)
            self.run(folder, [path] + ["--races"] * self.settings.races)
            if self.settings.schedules > 1:
                self.run(folder, [path, "--schedules", str(self.settings.schedules)])
            files = {b.name: (b.address, (folder / f"{b.name}.out.bin").read_bytes()) for b in buffers}
        for a in reached:
            for begin, out in files.values():
                if begin <= a.address < begin + len(out):
                    ctypes.memmove(a.address, out[a.address - begin:a.end - begin], a.bytes)
            a.defined = True
        return {}

    def run(self, folder, arguments):
        __tracebackhide__ = True
        ran = subprocess.run([self.bitwell, "run", *arguments], capture_output=True, text=True)
        if ran.returncode == 0:
            return
        said = (ran.stderr if "fault: " in ran.stderr or "--races" not in arguments else ran.stdout + ran.stderr).strip().replace(f"{folder}/", "")[:4000]
        raise (Refused if ran.returncode == 3 else Race if "--races" in arguments and "fault: " not in ran.stderr else Fault)(said)
