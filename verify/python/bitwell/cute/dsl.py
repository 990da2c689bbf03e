"""What is changed of the CuTe DSL while functions are compiled and called here.

Each change asks first whether that is so: with a GPU beside it, the DSL's own calls go to the GPU as ever.
"""
from __future__ import annotations

import atexit
import ctypes
import functools
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import threading
from typing import Any

from .. import _native
from ..process import Process
from . import asked, runtime
from .compiled import Compiled, likes_of

_lock = threading.RLock()  # the DSL compiles one function at a time
_thread = threading.local()
_always = False


def ours() -> bool:
    """Whether what the DSL does now is done here."""
    return _always or getattr(_thread, "depth", 0) > 0


class here:
    """What the DSL does on this thread within the block is done here."""

    def __enter__(self) -> None:
        installed()
        _thread.depth = getattr(_thread, "depth", 0) + 1

    def __exit__(self, *_) -> None:
        _thread.depth -= 1


def changed(owner: Any, name: str):
    """The method that follows takes the place of the owner's where `ours()`; its first argument is the one that was there."""

    def change(function):
        before = getattr(owner, name)

        @functools.wraps(before)
        def method(*arguments, **named):
            return function(before, *arguments, **named) if ours() else before(*arguments, **named)

        setattr(owner, name, method)
        atexit.register(setattr, owner, name, before)  # the DSL's classes outlive Python

    return change


def let_go() -> None:
    """At the program's end: what others keep of the DSL's functions, torch's operators for one, is not to keep the process."""
    from .. import gpu

    sys.modules[Process.__module__]._one = gpu._current = None
    runtime.forget()


@functools.cache
def folder() -> str:
    """Where the DSL puts the PTX that it keeps, for as long as it takes to read it."""
    made = tempfile.mkdtemp(prefix="bitwell.cute.")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@functools.cache
def installed() -> None:
    """The changes, once."""
    if importlib.util.find_spec("cutlass") is None:
        raise _native.InputError("the CuTe DSL is not installed here: pip install nvidia-cutlass-dsl")
    atexit.register(let_go)
    from cutlass._mlir.execution_engine import ExecutionEngine
    from cutlass.base_dsl import compiler
    from cutlass.base_dsl.jit_executor import JitExecutor
    from cutlass.cutlass_dsl.cuda_jit_executor import CudaDialectJitCompiledFunction

    @changed(ExecutionEngine, "lookup")
    def lookup(before, engine, name):
        for symbol, callback in runtime.CALLBACKS.items():
            engine.raw_register_runtime(symbol, ctypes.cast(callback, ctypes.c_void_p))
        return before(engine, name)

    @changed(compiler.CompileOptions, "apply_envar_settings")
    def apply_envar_settings(before, options, *arguments):
        options.options[compiler.KeepPTX].value = options.options[compiler.GenerateLineInfo].value = True
        options.options[compiler.EnableTVMFFI].value = False
        if not options.options[compiler.DumpDir].value:
            options.options[compiler.DumpDir].value = folder()
        before(options, *arguments)
        options.options[compiler.EnableTVMFFI].value = False  # CUTE_DSL_ENABLE_TVM_FFI

    @changed(CudaDialectJitCompiledFunction, "_load_cuda_library")
    def load(before, function):
        function.__dict__["num_devices"] = 1
        now = runtime.call()
        now.error, now.ptx = None, function.__ptx__ or ""
        try:
            before(function)
        except Exception:
            now.raise_error()
            raise
        return []  # nothing of it is a driver's

    @changed(JitExecutor, "run_compiled_program")
    def run(before, executor, arguments):
        now = runtime.call()
        now.error = None
        reports = len(now.reports)
        try:
            return before(executor, arguments)
        except Exception:
            now.raise_error()
            if not now.check and len(now.reports) > reports and now.reports[-1].fault is not None:
                return None
            raise

    @changed(compiler.CompileCallable, "__call__")
    def compile(before, callable, function, *arguments, **named):
        if getattr(_thread, "depth", 0):  # by compile_here, which does the rest
            return before(callable, function, *arguments, **named)
        with arch_set(""):
            return Compiled(before(callable, function, *arguments, **named), likes_of(function, arguments, named))


    asked.change(changed)


def arch_now() -> str:
    from cutlass.cutlass_dsl import CuTeDSL

    return CuTeDSL._get_dsl().envar._arch or "sm_90a"


class arch_set:
    """The DSL compiles for this architecture within the block, or for the one that it had or would have to ask a driver for."""

    def __init__(self, arch: str):
        self.arch = arch

    def __enter__(self) -> None:
        from cutlass.cutlass_dsl import CuTeDSL

        _lock.acquire()
        self.settings = CuTeDSL._get_dsl().envar
        self.before = self.settings._arch
        self.settings._arch = self.arch or self.before or shown()

    def __exit__(self, *_) -> None:
        self.settings._arch = self.before
        _lock.release()


def shown() -> str:
    """The architecture of the GPU that pytest shows."""
    from .. import gpu

    return f"sm_{gpu.current().device.sm}a" if gpu.running() else "sm_90a"


def compile_here(function: Any, arguments: tuple, named: dict[str, Any], options: str, arch: str) -> Compiled:
    if not isinstance(options, str):
        raise _native.InputError('the options are the DSL\'s as text: options="--opt-level 2"')
    with here():
        import cutlass.cute as cute

        found = re.search(r"--gpu-arch[ =](\S+)", options)
        if arch and found and arch != found.group(1):
            raise _native.InputError(f"'{arch}' and '{found.group()}': one architecture")
        arch = arch or (found.group(1) if found else "") or os.environ.get("CUTE_DSL_ARCH", "") or shown()
        runtime.device_for(arch)
        with arch_set(arch):
            inner = cute.compile(function, *arguments, options=options, **named)
        return Compiled(inner, likes_of(function, arguments, named))


def activate() -> None:
    global _always
    installed()
    _always = True
    from cutlass.cutlass_dsl import CuTeDSL

    settings = CuTeDSL._get_dsl().envar
    settings._arch = settings._arch or shown()  # it would ask a driver


def is_stream(like: Any) -> bool:
    from cutlass.runtime import _FakeStream

    return isinstance(like, _FakeStream)


def stream() -> Any:
    """The one there is."""
    import cuda.bindings.driver

    return cuda.bindings.driver.CUstream(0)
