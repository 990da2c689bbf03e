"""bitwell runs CUDA kernels, as PTX, on the CPU, bit for bit, and says what is wrong with them.

    import bitwell, numpy as np

    module = bitwell.Module(open("add.ptx").read())
    x = np.arange(64, dtype=np.float32)
    y = np.ones(64, dtype=np.float32)
    report = module["add"].launch(1, 64, x, y, 64, races=True)   # x is written in place

What is wrong with the kernel is an exception with fields: Fault, RaceError, ScheduleError. What cannot be used is
InputError, what is not modelled Unsupported.
"""
from . import cute
from ._native import InputError, LayoutError, ModelBug, Unsupported, version as __version__
from .activate import activate
from .arrays import Array
from .command import CommandError, Ran, budget, command, run, study
from .gpu import running
from .module import Entry, Module, Parameter, TensorMap
from .numbers import (Layout, Quantised, decode, dot, encode, formats, instructions, layout, layouts, quantise,
                      recipes)
from .process import Process, process
from .report import (Access, Act, Fault, Finding, Loss, Losses, Note, Parting, Place, RaceError, Report, ScheduleError,
                     Source, Verdict, Waiter)
from .timing import Time, time

__all__ = [
    "Access", "Act", "Array", "CommandError", "Entry", "Fault", "Finding", "InputError", "Layout", "LayoutError", "Loss",
    "Losses", "ModelBug", "Module", "Note", "Parameter", "Parting", "Place", "Process", "Quantised", "RaceError", "Ran",
    "Report", "ScheduleError", "Source", "TensorMap", "Time", "Unsupported", "Verdict", "Waiter", "activate", "budget",
    "command", "cute", "decode",
    "dot", "encode", "formats", "instructions", "layout", "layouts", "process", "quantise", "recipes", "run", "running", "study",
    "time",
]

InputError.__doc__ = "What was given cannot be used; the message says what can."
LayoutError.__doc__ = "A text that is no layout, with the column."
Unsupported.__doc__ = "What bitwell does not model, by name."
ModelBug.__doc__ = "bitwell is wrong: please report it."
