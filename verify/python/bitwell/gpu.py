"""The GPU of this process that is bitwell: the process that all launches are made in, and what was seen of them."""
from __future__ import annotations

import bisect
import ctypes
import dataclasses
import pathlib
import struct
import sys
import time
from typing import Optional

from . import record
from ._native import InputError, Unsupported
from .devices import DEVICES
from .evidence import evidence_of
from .process import Process

INDIRECT = 8192  # bytes of an allocation up to which addresses are looked for in it
KEPT = 256 << 20  # bytes of memory that are kept while a launch runs, for the file that replays it


@dataclasses.dataclass
class Settings:
    """What this process is shown, and what every launch is asked."""
    device: str = "h200"  #: of devices.DEVICES
    races: bool = False
    schedules: int = 1
    strict: bool = False
    autotune: str = "first"  #: of Triton's configurations: the first that compiles, or all, compared
    report: Optional[pathlib.Path] = None  #: where launch files go
    keep: bool = False  #: of every launch, not of those alone at which something was found


@dataclasses.dataclass
class Launched:
    """One launch, and what it came to: held, fault, race, order (other bits in another order) or refused."""
    kernel: str
    verdict: str = "failed"
    seconds: float = 0.0
    evidence: str = ""
    message: str = ""
    file: str = ""
    must_hold: bool = False  #: whoever launched it knows nothing of bitwell, nor what it raises


@dataclasses.dataclass
class Allocation:
    address: int
    bytes: int
    name: str

    @property
    def end(self) -> int:
        return self.address + self.bytes


class Gpu(Process):
    """A process whose memory and launches are followed."""

    def __init__(self, settings: Settings):
        super().__init__(races=settings.races, schedules=settings.schedules, strict=settings.strict)
        self.settings = settings
        self.device = DEVICES[settings.device]
        self.held: dict[int, Allocation] = {}  # by address
        self.starts: list[int] = []  # in order
        self.own: set[int] = set()  # of these, what allocate() gave
        self.texts: dict[int, str] = {}  # by module
        self.evidence: dict[int, str] = {}
        self.modules: dict[str, int] = {}  # of module_of
        self.launched: list[Launched] = []
        self.notes: list[str] = []
        self.where = ""  # below the report's folder: the test

    # Memory.
    def adopt(self, address, bytes, name="buffer", defined=True, read_only=False):
        super().adopt(address, bytes, name, defined, read_only)
        self._hold(address, bytes, name)

    def allocate(self, bytes, name="buffer"):
        address = super().allocate(bytes, name)
        self._hold(address, bytes, name)
        self.own.add(address)
        return address

    def release(self, address):
        super().release(address)
        del self.held[address]
        self.own.discard(address)
        del self.starts[bisect.bisect_left(self.starts, address)]

    def _hold(self, address, bytes, name):
        bisect.insort(self.starts, address)
        self.held[address] = Allocation(address, bytes, name)

    def held_at(self, address: int) -> Optional[Allocation]:
        """That in which the address stands."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i >= 0 and address < (found := self.held[self.starts[i]]).end:
            return found
        return None

    def bytes_of(self, allocation: Allocation) -> bytes:
        return self.read(allocation.address, allocation.bytes)

    def reached(self, arguments) -> list[Allocation]:
        """Those that words of the arguments point to, and words of those that are small."""
        out, looks = {}, list(arguments)
        while looks:
            look = looks.pop()
            for (word,) in struct.iter_unpack("<Q", look[:len(look) // 8 * 8]):
                found = self.held_at(word)
                if found is not None and found.address not in out:
                    out[found.address] = found
                    if found.bytes <= INDIRECT:
                        looks.append(self.bytes_of(found))
        return [out[a] for a in sorted(out)]

    # Launches.
    def load(self, ptx, path=""):
        module = super().load(ptx, path)
        self.texts[module] = ptx
        self.evidence[module] = evidence_of(ptx)
        return module

    def module_of(self, ptx: str) -> int:
        """It loaded, once."""
        module = self.modules.get(ptx)
        if module is None:
            module = self.modules[ptx] = self.load(ptx)
        return module

    def unload(self, module):
        super().unload(module)
        del self.texts[module], self.evidence[module]

    def launch(self, module, entry, grid, block, arguments, *, must_hold=False, **more):
        __tracebackhide__ = True
        reached = self.reached(arguments)
        keeps = self.settings.report is not None and (self.settings.keep or sum(a.bytes for a in reached) <= KEPT)
        before = record.buffers(reached, self.bytes_of) if keeps else None
        row = Launched(entry, evidence=self.evidence[module], must_hold=must_hold)
        self.launched.append(row)
        began = time.perf_counter()
        try:
            report = super().launch(module, entry, grid, block, arguments, **more)
            row.verdict = "fault" if report.fault else "order" if report.parting else "held" if report.holds else "race"
            row.message = "" if report.holds else report.text
        except (Unsupported, InputError) as error:
            row.verdict, row.message = "refused", str(error)
            raise
        finally:
            row.seconds = time.perf_counter() - began
            if before is not None and (self.settings.keep or row.verdict != "held"):
                folder = self.settings.report / self.where / f"{len(self.launched):03}.{entry[:60]}"
                row.file = str(record.write(folder, self.texts[module], entry, grid, block, arguments, before, **more))
        return report

    def note(self, text: str) -> None:
        """Said once in the summary."""
        if text not in self.notes:
            self.notes.append(text)

    # What is tried and undone.
    def snapshot(self) -> dict[int, bytes]:
        return {a.address: self.bytes_of(a) for a in self.held.values()}

    def restore(self, snapshot: dict[int, bytes]) -> None:
        for address, what in snapshot.items():
            if address in self.held:
                ctypes.memmove(address, what, len(what))


_current: Optional[Gpu] = None


def opened(settings: Settings) -> Gpu:
    """This process has a GPU from now on, and modules are loaded into it."""
    global _current
    _current = Gpu(settings)
    sys.modules[Process.__module__]._one = _current  # the package has a function of the module's name
    return _current


def current() -> Gpu:
    if _current is None:
        raise RuntimeError("bitwell: this process has no GPU of bitwell's; run it as pytest --bitwell")
    return _current


def running() -> bool:
    """Whether this process's GPU is bitwell: for tests that then choose smaller problems."""
    return _current is not None
