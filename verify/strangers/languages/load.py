"""A program's file is loaded as it is, but for some of its numbers, and its own tests are called."""
import ast
import contextlib
import io
import pathlib
import sys
import types
import unittest.mock


class Smaller(ast.NodeTransformer):
    """Numbers of statements that are no function's."""

    def __init__(self, numbers):
        self.numbers = numbers

    def visit_FunctionDef(self, node):
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            node.value = self.numbers.get(node.value, node.value)
        return node


def load(folder, name, numbers=None):
    """The module that the file is. Its benchmarks do nothing."""
    import triton
    import triton.testing

    triton.testing.perf_report = lambda _: lambda function: types.SimpleNamespace(run=lambda **__: None)
    path = pathlib.Path(folder) / name
    tree = ast.fix_missing_locations(Smaller(numbers or {}).visit(ast.parse(path.read_text())))
    module = types.ModuleType("program_" + path.stem.replace("-", "_"))
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    sys.path[:0] = [str(path.parent), str(folder)]
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module


def script(name, numbers=None):
    """One whose tests stand outside of functions."""
    return lambda folder: load(folder, name, numbers)


def call(name, *calls, numbers=None, before=None):
    """Functions of the file, each with its arguments. A mark of failure that it prints is one."""

    def run(folder):
        if before:
            before()
        module = load(folder, name, numbers)
        for function, *arguments in calls:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                arguments = [a(module) if isinstance(a, types.FunctionType) else a for a in arguments]
                getattr(module, function)(*arguments)
            print(said.getvalue())
            if "❌" in said.getvalue():
                raise AssertionError(said.getvalue().strip())

    return run
