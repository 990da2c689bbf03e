"""How long a launch would take on a device, by the model of time: what `bitwell time` says, as data."""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from .command import _data


@dataclass(frozen=True)
class Time:
    """Microseconds of all launches, and between which. A model's, not a measurement."""
    device: str
    runs_there: bool  #: whether the device runs this code: else it is no forecast
    us: float
    low_us: float
    high_us: float
    launches: list[dict] = field(repr=False)  #: of each: what binds it, shares of what is busy, what its end waited for, loops
    why_no_machine_code: str = ""  #: ptxas was asked in vain, and a launch is timed by its PTX alone
    what_if: list[dict] = field(default_factory=list, repr=False)  #: with `what_if`: other costs, and the us that they make
    svg: Optional[str] = field(default=None, repr=False)  #: with `picture`: what the first CTA has under way over time

    def _repr_svg_(self) -> Optional[str]:
        return self.svg


def time(launch: os.PathLike | str | Mapping, *, device: str = "", clusters: Optional[int] = None,
         trace: os.PathLike | str = "", what_if: bool = False, picture: bool = False, ptx_alone: bool = False) -> Time:
    """Of a LAUNCH.json: a path, or its keys (paths in them count from the working directory).

    `device`: whose costs, by default those of one that runs the code. `clusters`: so many are run on a multiprocessor,
    and the others count as like them; 0: every one is run. `trace`: a file for Perfetto. `what_if`: also what would
    change it most, by runs with other costs. `picture`: also as a drawing, which notebooks show. `ptx_alone`: ptxas is not
    asked what it makes of the kernel."""
    if isinstance(launch, Mapping):
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=".", prefix="launch-") as f:
            json.dump(launch, f)
            f.flush()
            return time(f.name, device=device, clusters=clusters, trace=trace, what_if=what_if, picture=picture,
                        ptx_alone=ptx_alone)
    words: list[Any] = ["time", os.fspath(launch)]
    if device:
        words += ["--device", device]
    if clusters is not None:
        words += ["--clusters", clusters] if clusters else ["--all"]
    if trace:
        words += ["--trace", os.fspath(trace)]
    if what_if:
        words += ["--what-if"]
    if ptx_alone:
        words += ["--ptx-alone"]
    if not picture:
        return Time(**_data(*words))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "time.svg")
        out = _data(*words, "--picture", path)
        with open(path) as f:
            return Time(**out, svg=f.read())
