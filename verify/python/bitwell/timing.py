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
    launches: list[dict] = field(repr=False)  #: of each: what binds it, shares of what is busy, what its end waited for


def time(launch: os.PathLike | str | Mapping, *, device: str = "", clusters: Optional[int] = None,
         trace: os.PathLike | str = "") -> Time:
    """Of a LAUNCH.json: a path, or its keys (paths in them count from the working directory).

    `device`: whose costs, by default those of one that runs the code. `clusters`: so many are run on a multiprocessor,
    and the others count as like them; 0: every one is run. `trace`: a file for Perfetto."""
    if isinstance(launch, Mapping):
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=".", prefix="launch-") as f:
            json.dump(launch, f)
            f.flush()
            return time(f.name, device=device, clusters=clusters, trace=trace)
    words: list[Any] = ["time", os.fspath(launch)]
    if device:
        words += ["--device", device]
    if clusters is not None:
        words += ["--clusters", clusters] if clusters else ["--all"]
    if trace:
        words += ["--trace", os.fspath(trace)]
    return Time(**_data(*words))
