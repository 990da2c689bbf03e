"""A plugin of pytest: -p outputs --outputs DIR writes what each test's launches were given, as it is when the test ends.

Without --bitwell the tests run on the machine's GPU, and its numbers are drawn by the CPU's generator, as bitwell draws them.
DIR gets index.json (by test: how it ended, its launches, their arrays) and a file for each array.
"""
import json
import pathlib
import sys

import bitwell
import module_on_gpu
import pytest
from bitwell import late


class Noted:
    """What the launches of the running test were given, by where it stands: the array, and its bytes before the first of them."""

    def __init__(self):
        self.arrays, self.launches = {}, 0

    def launch(self, arrays):
        self.launches += 1
        for name, array in arrays:
            key = (address_of(array), tuple(array.shape), str(array.dtype))
            if key not in self.arrays:
                self.arrays[key] = (name, array, None if captured(array) else bytes_of(array))


def is_torch(array):
    return hasattr(array, "data_ptr")


def captured(array):
    """Into a CUDA graph: nothing may be copied meanwhile."""
    torch = sys.modules.get("torch")
    return is_torch(array) and torch.cuda.is_current_stream_capturing()


def address_of(array):
    return array.data_ptr() if is_torch(array) else array.ctypes.data


def bytes_of(array):
    if not is_torch(array):
        return array.tobytes()
    import torch

    return array.detach().clone().contiguous().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()


noted = Noted()


def from_triton():
    from triton.runtime.jit import JITFunction

    run = JITFunction.run

    def noting(self, *args, grid, warmup, **named):
        if not warmup:
            given = [*zip(self.arg_names, args), *named.items()]
            noted.launch([(name, value) for name, value in given if is_torch(value)])
        return run(self, *args, grid=grid, warmup=warmup, **named)

    JITFunction.run = noting


def from_modules():
    """bitwell.Module's launches on arrays of NumPy; where there is a GPU it is its driver that makes them."""
    entry = bitwell.Entry
    if not bitwell.running():
        bitwell.Module, entry = module_on_gpu.Module, module_on_gpu.Entry
    launch = entry.launch

    def noting(self, grid, block, *args, **named):
        noted.launch([(f"argument {i}", a) for i, a in enumerate(args) if hasattr(a, "ctypes")])
        return launch(self, grid, block, *args, **named)

    entry.launch = noting


def from_the_dsl():
    """A function that was compiled is called with tensors that from_dlpack made of torch's."""
    import cutlass.cute as cute
    from cutlass.cute import runtime

    made, compile = runtime.from_dlpack, cute.compile

    def from_dlpack(tensor, *args, **named):
        return Marked(made(tensor, *args, **named), tensor)

    class Marked:
        """That tensor of the DSL; what marks its layout gives another one."""

        def __init__(self, inner, tensor):
            self.inner, self.tensor = inner, tensor

        def mark_layout_dynamic(self, *args, **named):
            return Marked(self.inner.mark_layout_dynamic(*args, **named), self.tensor)

    def inner(value):
        return value.inner if isinstance(value, Marked) else value

    def compiling(function, *args, **named):
        compiled = compile(function, *map(inner, args), **named)

        def call(*args, **named):
            noted.launch([(f"argument {i}", a.tensor) for i, a in enumerate(args) if isinstance(a, Marked)])
            return compiled(*map(inner, args), **named)

        return call

    runtime.from_dlpack, cute.compile = from_dlpack, compiling


def drawn_by_the_cpu():
    """torch.randn and torch.randn_like on a GPU give what the CPU's generator gives."""
    import torch

    draw = torch.randn

    def randn(*shape, device=None, requires_grad=False, **named):
        drawn = draw(*shape, **named)
        return (drawn if device is None else drawn.to(device)).requires_grad_(requires_grad)

    torch.randn = randn
    torch.randn_like = lambda x: randn(x.shape, dtype=x.dtype, device=x.device)


def pytest_addoption(parser):
    parser.addoption("--outputs", type=pathlib.Path)
    parser.addoption("--keep", action="store_true", help="with --bitwell: each launch as a launch file too")


def pytest_configure(config):
    from_modules()
    late.after("triton", from_triton)
    late.after("cutlass", from_the_dsl)
    if not bitwell.running():
        late.after("torch", drawn_by_the_cpu)
    elif config.getoption("keep"):
        bitwell.gpu.current().settings.keep = True
    config.pluginmanager.register(Plugin(config.getoption("outputs")))


class Plugin:
    def __init__(self, folder):
        self.folder, self.tests = folder, {}
        folder.mkdir(parents=True, exist_ok=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        noted.__init__()
        outcome = "failed"
        try:
            yield
            outcome = "passed"
        finally:
            arrays = []
            for name, array, before in noted.arrays.values():
                data = bytes_of(array)
                file = f"{len(self.tests):03}.{len(arrays):02}.bin"
                (self.folder / file).write_bytes(data)
                arrays.append({"name": name, "type": str(array.dtype), "shape": list(array.shape), "written": data != before, "file": file})
            self.tests[item.name] = {"outcome": outcome, "launches": noted.launches, "arrays": arrays}

    def pytest_sessionfinish(self):
        (self.folder / "index.json").write_text(json.dumps(self.tests, indent=1))
