"""Programs without pytest: `bitwell.activate()`."""
from __future__ import annotations

import os
import pathlib
import sys
from typing import Optional, Union

from . import gpu, late
from ._native import InputError
from .devices import DEVICES


def loaded_driver() -> Optional[str]:
    """CUDA's driver library in this process, by its path."""
    try:
        lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    except OSError:  # no Linux
        return None
    paths = (line.split(None, 5)[-1] for line in lines if "libcuda.so" in line)
    return next((p for p in paths if os.path.basename(p).startswith("libcuda.so")), None)


def activate(device: str = "h200", *, races: bool = False, schedules: int = 1, strict: bool = False, fmad: bool = False, autotune: str = "first",
             report: Union[None, str, os.PathLike] = None) -> gpu.Gpu:
    """From now on this process has a GPU that is bitwell: torch's `device="cuda"`, Triton's kernels and
    functions of the CuTe DSL run on it.

    What `pytest --bitwell` does with its options of the same names, for programs. torch and Triton may be imported before
    or after. What is wrong with a kernel is raised where it is launched; `report` is the folder for launch files that
    replay it (none are written without). RuntimeError where CUDA's driver library is loaded: a process has one GPU."""
    if device not in DEVICES:
        raise InputError(f"bitwell.activate: there is no device '{device}'; there are {', '.join(DEVICES)}")
    settings = gpu.Settings(device=device, races=races, schedules=schedules, strict=strict, fmad=fmad, autotune=autotune,
                            report=None if report is None else pathlib.Path(report).resolve())
    if gpu.running():
        if gpu.current().settings == settings:
            return gpu.current()
        raise RuntimeError(f"bitwell.activate: this process has an {gpu.current().device.name} already, with other settings")
    driver = loaded_driver()
    if driver is not None:
        raise RuntimeError(f"bitwell.activate: '{driver}' is loaded: what this process asks CUDA goes there; start it without, or run it under bitwell exec")
    made = gpu.opened(settings)
    late.after("torch", _torch)
    late.after("triton", _triton)
    late.after("cutlass", _cute)
    late.after("tilelang", _tilelang)
    return made


def forget() -> None:
    """What a test has left open in torch or Triton is closed."""
    for name in ("torch", "triton"):
        module = sys.modules.get(f"{__package__}.{name}")
        if module is not None:
            module.forget()


def _torch() -> None:
    from . import torch

    torch.activate()


def _triton() -> None:
    from . import triton

    triton.activate()


def _cute() -> None:
    from . import cute

    cute.activate()


def _tilelang() -> None:
    from . import tilelang

    tilelang.activate()
