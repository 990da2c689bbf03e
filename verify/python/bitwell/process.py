"""A process that lives on: memory, modules, and launches in them."""
from __future__ import annotations

import operator
import os
import threading
from typing import Optional, Sequence, Union

from . import _native
from .report import Report, report_of

Extent = Union[int, Sequence[int]]


def three(extent: Extent, what: str) -> tuple[int, int, int]:
    """(x, y, z) of a number, or of one to three of them."""
    try:
        numbers = (operator.index(extent),)
    except TypeError:
        try:
            numbers = tuple(map(operator.index, extent))
        except TypeError:  # a float, text
            numbers = ()
    if not 1 <= len(numbers) <= 3 or any(not 0 <= v < 2**32 for v in numbers):
        raise _native.InputError(f"{what} is {extent!r}; it is a number, or (x, y, z)")
    return numbers + (1,) * (3 - len(numbers))


def cluster_of(extent: Optional[Extent]) -> tuple[int, int, int]:
    """As the native module takes it: zeros where there is none."""
    if extent is None:
        return 0, 0, 0
    numbers = three(extent, "the cluster")
    if 0 in numbers:
        raise _native.InputError(f"the cluster is {extent!r}; without clusters it is None")
    return numbers


def whole(value: int, bits: int, what: str) -> int:
    """A number that fits into so many bits."""
    if not hasattr(value, "__index__") or not 0 <= operator.index(value) < 2**bits:
        raise _native.InputError(f"{what} is {value!r}; it is a whole number from 0 to 2**{bits} - 1")
    return operator.index(value)


def cores() -> int:
    """That this process may use: of pytest-xdist's workers each has its share."""
    return max(1, len(os.sched_getaffinity(0)) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)))


def _some(threads: int) -> int:
    if not 1 <= threads <= 4096:
        raise _native.InputError(f"threads is {threads}; a launch runs on 1 to 4096 host threads")
    return threads


class Process:
    """Memory and modules that outlive launches; device addresses of what is adopted are the host's own.

    `races`, `schedules`, `strict` and `numeric` are what launches have that say nothing else; `heap` is the bytes of
    device code's malloc (none: CUDA's default, 8 MiB). `threads`: host threads that the clusters of one launch may run on
    (none: cores()); nothing but time comes of it. Any number of threads may call it: a launch holds others up, and
    Python goes on meanwhile.
    """

    def __init__(self, *, races: bool = False, schedules: int = 1, strict: bool = False, numeric: bool = False,
                 heap: Optional[int] = None, threads: Optional[int] = None):
        self._native = _native.Process(-1 if heap is None else heap)
        self.races = races
        self.schedules = schedules
        self.strict = strict
        self.numeric = numeric
        self.threads = cores() if threads is None else threads
        self._one_at_a_time = threading.RLock()  # of launches that adopt their arrays

    def adopt(self, address: int, bytes: int, name: str = "buffer", defined: bool = True, read_only: bool = False) -> None:
        """`bytes` bytes of the host's become global memory where they stand, at any boundary, until release().

        Whoever owns them keeps them there so long. Not `defined`: none counts as written yet. Kernels may not write what
        is `read_only`. InputError where something that is adopted has some of them."""
        self._native.adopt(address, bytes, name, defined, read_only)

    def release(self, address: int) -> None:
        """Ends what adopt() or allocate() gave, by its first address."""
        self._native.release(address)

    def mark(self, address: int, bytes: int, written: bool) -> None:
        """From now on these bytes count as written, or as not."""
        self._native.mark(address, bytes, written)

    def holds(self, address: int, bytes: int) -> bool:
        """Whether all of these bytes are in one buffer."""
        return self._native.holds(address, bytes)

    def written(self, address: int, bytes: int) -> bytes:
        """Of bytes in one buffer which count as written: a byte each, a mask of its bits (255: all, 0: none)."""
        return self._native.written(address, bytes)

    def allocate(self, bytes: int, name: str = "buffer") -> int:
        """Bytes of the process's own, as cudaMalloc gives them: the address of memory that nobody has written."""
        return self._native.allocate(name, bytes)

    def read(self, address: int, bytes: int) -> bytes:
        """What stands there: in a buffer, or a variable of a module."""
        return self._native.read(address, bytes)

    def write(self, address: int, data: bytes) -> None:
        """Writes there; it counts as written."""
        self._native.write(address, data)

    def load(self, ptx: str, path: str = "") -> int:
        """Loads PTX; `path` is what it is called in messages. Its variables stand where they are until unload()."""
        return self._native.load(ptx, path)

    def unload(self, module: int) -> None:
        """Ends what load() gave; its variables are freed."""
        self._native.unload(module)

    def allow_non_portable_clusters(self, module: int, entry: str) -> None:
        """Launches of the entry may have clusters of up to 16 CTAs from now on, where without it 8 are the most: as the driver's
        attribute of a function that is called so."""
        self._native.allow_non_portable_clusters(module, entry)

    @property
    def launches(self) -> int:
        """How many there were."""
        return self._native.launches

    def launch(self, module: int, entry: str, grid: Extent, block: Extent, arguments: Sequence[bytes], *,
               cluster: Optional[Extent] = None, shared: int = 0, cooperative: bool = False, schedule: str = "",
               seed: int = 0, schedules: Optional[int] = None, races: Optional[bool] = None, explain: bool = False,
               strict: Optional[bool] = None, numeric: Optional[bool] = None, programmatic: bool = False,
               checked: bool = True, outputs: Sequence[tuple[int, int]] = (), all_written: bool = False,
               step_limit: int = 0, threads: Optional[int] = None) -> Report:
        """Launches an entry of a module, by its name or its C++ name; returns what came of it, a fault too.

        `arguments`: the bytes of each parameter. `shared`: bytes of dynamic shared memory. `schedule`: "lazy", "eager",
        "random", "starve-producer", "starve-consumer", "starve-stores", "pct", "order:..."; `seed` goes with random and
        pct. `schedules`: so many, each from the memory that the launch began with; memory has what the first one left.
        `outputs`: (address, bytes) that schedules are compared by, and `all_written` wants written; none: all of memory.
        `programmatic`: the launch before it may go on meanwhile, for the race check. `step_limit`: warp instructions of
        one CTA before it counts as hung."""

        def of(value, preset):
            return preset if value is None else value

        return report_of(self._native.launch(
            module, entry, three(grid, "the grid"), three(block, "the block"), list(arguments),
            cluster_of(cluster), whole(shared, 32, "shared"), cooperative, schedule, whole(seed, 64, "seed"),
            whole(of(schedules, self.schedules), 64, "schedules"), of(races, self.races), explain, of(strict, self.strict),
            of(numeric, self.numeric), programmatic, checked, [tuple(o) for o in outputs], all_written,
            whole(step_limit, 64, "step_limit"),
            _some(of(threads, self.threads))))


_one: Optional[Process] = None
_lock = threading.Lock()


def process() -> Process:
    """The process that modules are loaded into where nobody names another."""
    global _one
    with _lock:
        if _one is None:
            _one = Process()
        return _one
