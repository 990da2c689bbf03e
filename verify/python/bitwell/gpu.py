"""The GPU of this process that is bitwell: which memory it sees, what was launched, what was found."""
import bisect
import dataclasses
import pathlib
import struct
import time

from .devices import DEVICES

INDIRECT = 8192  # bytes of an allocation up to which addresses are looked for in it
KEPT = 256 << 20  # bytes of memory that are kept while a launch runs, for the file that replays it


class Refused(NotImplementedError):
    """What bitwell does not model."""


class Fault(RuntimeError):
    """The kernel is at fault."""


class Race(Fault):
    """What it computes hangs on an order that nothing makes."""


@dataclasses.dataclass
class Settings:
    device: str = "h200"
    races: bool = False
    schedules: int = 1
    strict: bool = False
    autotune: str = ""
    report: pathlib.Path | None = None  # where launch files go
    keep: bool = False  # of every launch, not of those alone at which something was found


@dataclasses.dataclass
class Launched:
    kernel: str
    seconds: float
    verdict: str  # "held", "fault", "race", "refused"
    evidence: str = ""
    message: str = ""
    file: str = ""


@dataclasses.dataclass
class Allocation:
    address: int
    bytes: int
    name: str
    defined: bool

    @property
    def end(self):
        return self.address + self.bytes


class Gpu:
    def __init__(self, settings, process):
        self.settings, self.process = settings, process
        self.device = DEVICES[settings.device]
        self.starts, self.held = [], {}  # allocations by address, in order
        self.launched, self.notes = [], []
        self.count = 0
        self.where = ""  # of launch files: the test

    # Memory.
    def adopt(self, address, bytes, name="", defined=True):
        name = name or f"tensor{self.count}"
        self.count += 1
        self.process.adopt(address, bytes, name, defined=defined)
        bisect.insort(self.starts, address)
        self.held[address] = Allocation(address, bytes, name, defined)

    def release(self, address):
        self.process.release(address)
        del self.held[address]
        del self.starts[bisect.bisect_left(self.starts, address)]

    def wrote(self, address, bytes):
        self.held_at(address).defined = True
        self.process.mark(address, bytes, written=True)

    def held_at(self, address):
        """The allocation that an address stands in, or None."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i >= 0 and address < (found := self.held[self.starts[i]]).end:
            return found
        return None

    def snapshot(self):
        import ctypes

        return {a.address: ctypes.string_at(a.address, a.bytes) for a in self.held.values()}

    def restore(self, bytes):
        import ctypes

        for address, what in bytes.items():
            if address in self.held:
                ctypes.memmove(address, what, len(what))

    def sizes(self):
        return [a.bytes for a in self.held.values()]

    def reached(self, arguments):
        """Allocations that words of the arguments point to, and words of those that are small."""
        import ctypes

        out, looks = {}, list(arguments)
        while looks:
            look = looks.pop()
            for (word,) in struct.iter_unpack("<Q", look[:len(look) // 8 * 8]):
                found = self.held_at(word)
                if found is not None and found.address not in out:
                    out[found.address] = found
                    if found.bytes <= INDIRECT:
                        looks.append(ctypes.string_at(found.address, found.bytes))
        return [out[a] for a in sorted(out)]

    # Launches.
    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def launch(self, ptx, entry, grid, block, arguments, shared=0, cluster=(1, 1, 1), **more):
        """Arguments are bytes, one for each parameter. A kernel at fault raises Fault."""
        __tracebackhide__ = True
        from . import record

        reached = self.reached(arguments)
        keeps = self.settings.report is not None and (self.settings.keep or sum(a.bytes for a in reached) <= KEPT)
        before = record.bytes_of(reached) if keeps else None
        launch = record.Launch(ptx, entry, tuple(grid), tuple(block), arguments, shared, tuple(cluster), more)
        row = Launched(entry, 0.0, "failed")
        self.launched.append(row)
        began = time.perf_counter()

        def replay():
            if before is None:
                return ""
            row.file = str(record.write(launch, before, self.settings.report / self.where / f"{len(self.launched):03}.{entry[:60]}"))
            return f"\nreplay: bitwell run {row.file}"

        try:
            report = self.process.launch(launch, reached)
            row.verdict, row.evidence = "held", report.get("evidence", "")
            if self.settings.keep:
                replay()
        except (Fault, Refused) as error:
            row.verdict = "refused" if isinstance(error, Refused) else "race" if isinstance(error, Race) else "fault"
            row.message = str(error)
            raise type(error)(str(error) + replay()) from None
        finally:
            row.seconds = time.perf_counter() - began


_current = None


def current():
    if _current is None:
        raise RuntimeError("bitwell: this process has no GPU of bitwell's; run it as pytest --bitwell")
    return _current


def running():
    """Whether this process's GPU is bitwell: for tests that choose smaller problems, or skip."""
    return _current is not None


def opened(settings):
    """This process has a GPU from now on."""
    from .files import Process

    global _current
    _current = Gpu(settings, Process(settings))
    return _current
