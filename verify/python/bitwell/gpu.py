"""The GPU of this process that is bitwell: the process that all launches are made in, and what was seen of them."""
from __future__ import annotations

import bisect
import dataclasses
import pathlib
import sys
import time
from typing import Optional

from . import record
from ._native import InputError, ModelBug, Snapshot, Unsupported, fused
from .devices import DEVICES
from .process import Process, cluster_of, three, whole

KEPT = 256 << 20  # bytes of memory that are kept while a launch runs, for the file that replays it


@dataclasses.dataclass
class Settings:
    """What this process is shown, and what every launch is asked."""
    device: str = "h200"  #: of devices.DEVICES
    races: bool = False
    schedules: int = 1
    strict: bool = False
    fmad: bool = False  #: products and sums are fused where ptxas fuses them
    autotune: str = "first"  #: of Triton's configurations: the first that compiles, or all, compared
    report: Optional[pathlib.Path] = None  #: where launch files go
    keep: bool = False  #: of every launch, not of those alone at which something was found


@dataclasses.dataclass
class Launched:
    """One launch, and what it came to: held, fault, race, order (other bits in another order), refused, or bug (of bitwell)."""
    kernel: str
    verdict: str = "failed"
    seconds: float = 0.0
    ptx: str = ""  #: of the module
    message: str = ""
    file: str = ""  #: that replays it
    replay: str = ""  #: "replay: " and the command that does, with what the file lacks; or why there is none
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

    # Launches.
    def load(self, ptx, path=""):
        if self.settings.fmad:
            ptx = fused(ptx, path)
        module = super().load(ptx, path)
        self.texts[module] = ptx
        return module

    def module_of(self, ptx: str) -> int:
        """It loaded, once."""
        module = self.modules.get(ptx)
        if module is None:
            module = self.modules[ptx] = self.load(ptx)
        return module

    def unload(self, module):
        super().unload(module)
        del self.texts[module]

    def launch(self, module, entry, grid, block, arguments, *, cluster=None, shared=0, cooperative=False, must_hold=False, **more):
        __tracebackhide__ = True
        row = Launched(entry, ptx=self.texts[module], must_hold=must_hold)
        self.launched.append(row)
        began = time.perf_counter()
        recording = None
        try:
            recording = self._recorded(module, entry, grid, block, arguments, cluster, shared, cooperative)
            report = super().launch(module, entry, grid, block, arguments, cluster=cluster, shared=shared, cooperative=cooperative, **more)
            row.verdict = "fault" if report.fault else "order" if report.parting else "held" if report.holds else "race"
            row.message = "" if report.holds else report.text
        except (Unsupported, InputError) as error:
            row.verdict, row.message = "refused", str(error)
            raise
        except ModelBug as error:
            row.verdict, row.message = "bug", str(error)
            raise
        finally:
            row.seconds = time.perf_counter() - began
            if recording is not None and (self.settings.keep or row.verdict != "held"):
                self._keep(row, recording, more)
        return report

    def _recorded(self, module, entry, grid, block, arguments, cluster, shared, cooperative):
        """What the launch begins with; None where nobody wants it, else where it has too many bytes how many."""
        if self.settings.report is None:
            return None
        most = sys.maxsize if self.settings.keep else KEPT
        recording, bytes = self._native.record(module, entry, three(grid, "the grid"), three(block, "the block"), list(arguments),
                                               cluster_of(cluster), whole(shared, 32, "shared"), cooperative, most)
        return bytes if recording is None else recording

    def _keep(self, row, recording, more):
        """The launch as a file, and the words that replay it; a failure of that hides nothing of what was found."""
        if isinstance(recording, int):
            row.replay = f"no replay: the buffers that it reaches have {recording} bytes, and no more than {KEPT} are kept (bitwell.gpu.KEPT)"
            return
        folder = self.settings.report / record.folder_name(self.where) / record.folder_name(f"{len(self.launched):03}.{row.kernel}")
        try:
            row.file = str(record.write(folder, recording, more.get("outputs", ()), more.get("all_written", False)))
        except OSError as error:
            row.replay = f"no replay: {error}"
            self.note(row.replay)
            return
        preset = {"races": self.races, "schedules": self.schedules, "strict": self.strict}
        given = {name: value for name, value in more.items() if value is not None}
        row.replay = "replay: " + record.replay_command(row.file, row.verdict, **{**preset, **given})
        before = ["the launch before it, which may go on meanwhile"] if more.get("programmatic") else []
        for lack in self._native.lacks(recording) + before:
            row.replay += f"\nthe replay lacks {lack}"

    def note(self, text: str) -> None:
        """Said once in the summary."""
        if text not in self.notes:
            self.notes.append(text)

    # What is tried and undone.
    def snapshot(self) -> Snapshot:
        """All memory, modules' variables too, with what counts as written of it."""
        return self._native.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """What was there then and still is becomes what it was."""
        self._native.restore(snapshot)


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
