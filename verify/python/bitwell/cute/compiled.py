"""A function of the CuTe DSL that is launched here."""
from __future__ import annotations

import inspect
from typing import Any, Mapping, Optional, Sequence

from .. import _native
from ..arrays import array_of
from ..process import process
from ..report import Report
from . import runtime
from .arguments import converted, held


def likes_of(function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """By parameter, what the function was compiled for."""
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        function = function.__call__  # of an object, which is no argument
    signature = inspect.signature(inspect.unwrap(function) if inspect.isfunction(function) else function)
    try:
        bound = signature.bind(*arguments, **{k: v for k, v in named.items() if k in signature.parameters})  # others are cute.compile's own
    except TypeError:  # the DSL says what is wrong
        return {}
    bound.apply_defaults()
    return dict(bound.arguments)


class Compiled:
    """What `bitwell.cute.compile` gives: called with the arguments of the function, it runs the DSL's host code and launches
    what that launches, in this process.

    Arrays (NumPy, torch's tensors of the CPU) stand for the tensors and pointers that it was compiled for, and are written
    in place; tensors of the DSL (`from_dlpack`) are taken too. A stream may be left out. What is wrong raises Fault,
    RaceError or ScheduleError, as with bitwell.Module."""

    def __init__(self, inner: Any, likes: dict[str, Any]):
        self._inner, self._likes = inner, likes
        self.ptx: str = inner.__ptx__ or ""  #: what bitwell runs
        self.arch: str = runtime.target_of(self.ptx)  #: what it was compiled for

    def __call__(self, *arguments: Any, **named: Any) -> list[Report]:
        """Launches it; the reports, one for each kernel that was launched."""
        return self._run(arguments, named, {})

    def launch(self, *arguments: Any, races: Optional[bool] = None, schedules: Optional[int] = None, schedule: str = "", seed: int = 0,
               explain: bool = False, strict: Optional[bool] = None, numeric: Optional[bool] = None, outputs: Sequence[Any] = (),
               undefined: Sequence[Any] = (), all_written: bool = False, reaches: Sequence[Any] = (), check: bool = True,
               **named: Any) -> list[Report]:
        """The same with the options of `bitwell.Entry.launch`, which each kernel is launched with.

        `reaches` are arrays that the kernels reach by addresses in other arrays, or by pointers that the caller made."""
        spans = [(a.address, a.bytes) for a in map(array_of, outputs) if a is not None and a.bytes]
        return self._run(arguments, named, dict(races=races, schedules=schedules, schedule=schedule, seed=seed, explain=explain, strict=strict,
                                                numeric=numeric, outputs=spans, all_written=all_written), undefined, reaches, check)

    def _run(self, arguments, named, options, undefined=(), reaches=(), check=True):
        from . import dsl

        names = list(self._inner.execution_args.signature.parameters)
        of_tvm = [n for n in names if getattr(self._likes.get(n), "use_tvm_ffi_env_stream", False)]  # wherever they stand, TVM's calls leave them out
        if len(arguments) <= len(names) - len(of_tvm):
            names = [n for n in names if n not in of_tvm]
        if len(arguments) > len(names):
            raise _native.InputError(f"{len(arguments)} arguments for a function of {len(names)}: {', '.join(names)}")
        given = dict(zip(names, arguments), **named)
        reached = []
        for name, value in list(given.items()):
            given[name] = converted(name, value, self._likes.get(name), reached)
        names = list(self._inner.execution_args.signature.parameters)
        for name in names:
            if name not in given and dsl.is_stream(self._likes.get(name)):
                given[name] = dsl.stream()
        reached += [(f"reached {i}", a) for i, a in enumerate(map(array_of, reaches)) if a is not None]
        blank = [a for a in map(array_of, undefined) if a is not None and a.bytes]
        here = process()
        now = runtime.Call(check=check, options=options)
        with here._one_at_a_time, held(here, reached + [("undefined", a) for a in blank], blank), runtime.calling(now), dsl.here():
            if len(given) == len(names):  # the DSL compares those that it is given by name
                self._inner(*(given[n] for n in names))
            else:
                self._inner(**given)
        return now.reports

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __repr__(self) -> str:
        return f"<bitwell.cute.Compiled for {self.arch}: {', '.join(self._inner.execution_args.signature.parameters)}>"
