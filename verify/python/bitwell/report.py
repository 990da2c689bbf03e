"""What a launch came to: data classes, and the exceptions that hold them."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True)
class Source:
    """A line of CUDA, Python or other source that PTX was made of (.loc)."""
    file: str
    line: int
    text: str  #: "add.cu:12", with where it was inlined


@dataclass(frozen=True)
class Place:
    """Where in a launch. A line of PTX is 0, and a CTA or thread None, where nobody knows it."""
    ptx_line: int
    source: Optional[Source]
    cta: Optional[tuple[int, int, int]]
    thread: Optional[tuple[int, int, int]]


@dataclass(frozen=True)
class Access:
    """An access that may not be."""
    kind: str  #: "read", "write", "atomic", or "uninitialized read" of what nobody wrote before
    space: str  #: "global", "shared", ...
    address: int
    bytes: int
    object: str  #: that it is in or beside, or ""


@dataclass(frozen=True)
class Waiter:
    """Who waits where nothing can run."""
    place: Place
    instruction: str
    threads: int
    on: str


@dataclass(frozen=True)
class Note:
    """What devices take, though the manual does not promise it."""
    place: Place
    text: str
    times: int


@dataclass(frozen=True)
class Act:
    """One of the two accesses of a finding."""
    ptx_line: int
    source: Optional[Source]
    instruction: Optional[str]
    access: str  #: "read", "write" or "update"
    cta: tuple[int, int, int]
    warp: int  #: -1: not known, as the lane
    lane: int
    operation: bool  #: goes on beside the warps: a copy, an MMA
    launch: int  #: its number in the process, from 1
    entry: str


@dataclass(frozen=True)
class Finding:
    """Two accesses that nothing orders, or another thing that is right by luck."""
    kind: str  #: "race", "proxy_fence", ...; `bitwell help races` has them all
    level: str  #: "error" or "note"
    what: str
    remedy: str
    earlier: Act
    later: Act
    address: int  #: generic, of the first byte
    bytes: int
    times: int
    instructions: int  #: pairs of them
    launches: tuple[int, ...]
    can_come_to: str  #: by the PTX: "nothing", "output", "branch", "address"
    on_this_run: Optional[str]  #: what came of it, where that was followed
    text: str


@dataclass(frozen=True)
class Loss:
    """One kind of loss of an instruction's results."""
    count: int
    first: Place
    operands: tuple[float, ...]
    result: float
    bits: int


@dataclass(frozen=True)
class Losses:
    """What 16-bit arithmetic of one instruction lost."""
    ptx_line: int
    instruction: str
    results: int
    overflowed: Loss
    absorbed: Loss
    shortened: Loss


@dataclass(frozen=True)
class Parting:
    """The first byte that another schedule leaves otherwise, or the fault in which it ends."""
    first: str
    second: str
    fault: str  #: or ""
    buffer: str
    address: int
    byte: int  #: in the buffer
    of_first: int
    of_second: int
    text: str


def _blank(kind):
    return kind.__new__(kind)


class Verdict(Exception):
    """The kernel is wrong; `report` says all that is known."""

    def __init__(self, text: str, report: "Report"):
        super().__init__(text)
        self.report = report
        self.text = text

    def __reduce__(self):  # a report and its fault refer to each other
        return _blank, (type(self),), {"args": self.args, **self.__dict__}


class Fault(Verdict):
    """The launch ended there: an access out of bounds, a hang, what no device does right."""

    def __init__(self, text: str, report: "Report", place: Place, access: Optional[Access], waiters: tuple[Waiter, ...]):
        super().__init__(text, report)
        self.place = place
        self.access = access
        self.waiters = waiters

    @property
    def ptx_line(self) -> int:
        return self.place.ptx_line

    @property
    def source(self) -> Optional[Source]:
        return self.place.source

    @property
    def thread(self) -> Optional[tuple[int, int, int]]:
        return self.place.thread

    @property
    def cta(self) -> Optional[tuple[int, int, int]]:
        return self.place.cta

    @property
    def address(self) -> Optional[int]:
        return None if self.access is None else self.access.address


class RaceError(Verdict):
    """The race check found what is an error: `findings`, the first of which is `finding`."""

    def __init__(self, report: "Report"):
        self.findings = tuple(f for f in report.findings if f.level == "error")
        self.finding = self.findings[0]
        super().__init__("\n".join(f.text for f in self.findings), report)


class ScheduleError(Verdict):
    """Another order of turns comes out otherwise: `parting`."""

    def __init__(self, report: "Report"):
        assert report.parting is not None
        self.parting: Parting = report.parting
        super().__init__(report.parting.text, report)


@dataclass(frozen=True)
class Report:
    """What a launch came to. Its text is what the command prints."""
    entry: str
    launch: int
    fault: Optional[Fault]
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    losses: tuple[Losses, ...]
    parting: Optional[Parting]
    lane_instructions: int
    warp_instructions: int
    printed: str  #: by the kernel's printf
    holds: bool  #: no fault, no finding that is an error, the same under every schedule
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def check(self) -> "Report":
        """Raises Fault, ScheduleError or RaceError where it does not hold; else the report."""
        if self.fault is not None:
            raise self.fault
        if self.parting is not None:
            raise ScheduleError(self)
        if not self.holds:
            raise RaceError(self)
        return self


def _source(j) -> Optional[Source]:
    return None if j is None else Source(j["file"], j["line"], j["text"])


def _three(j) -> Optional[tuple[int, int, int]]:
    return None if j is None else tuple(j)


def _place(j) -> Place:
    return Place(j["ptx_line"], _source(j["source"]), _three(j["cta"]), _three(j["thread"]))


def _act(j) -> Act:
    return Act(**{**j, "source": _source(j["source"]), "cta": tuple(j["cta"])})


def _finding(j) -> Finding:
    return Finding(**{**j, "earlier": _act(j["earlier"]), "later": _act(j["later"]), "launches": tuple(j["launches"])})


def _loss(j) -> Loss:
    return Loss(j["count"], _place(j["first"]), tuple(map(float, j["operands"])), float(j["result"]), j["bits"])


def _losses(j) -> Losses:
    return Losses(j["ptx_line"], j["instruction"], j["results"], _loss(j["overflowed"]), _loss(j["absorbed"]),
                  _loss(j["shortened"]))


def report_of(text: str) -> Report:
    j = json.loads(text)
    out = Report(
        entry=j["entry"], launch=j["launch"], fault=None, findings=tuple(map(_finding, j["findings"])),
        notes=tuple(Note(_place(n), n["text"], n["times"]) for n in j["notes"]),
        losses=tuple(map(_losses, j["losses"])), parting=None if j["parting"] is None else Parting(**j["parting"]),
        lane_instructions=j["lane_instructions"], warp_instructions=j["warp_instructions"], printed=j["printed"],
        holds=j["holds"], text=j["text"])
    if j["fault"] is not None:
        f = j["fault"]
        fault = Fault(f["text"], out, _place(f), None if f["access"] is None else Access(**f["access"]),
                      tuple(Waiter(_place(w), w["instruction"], w["threads"], w["on"]) for w in f["waiters"]))
        object.__setattr__(out, "fault", fault)
    return out
