"""What is to be done to a module when a program imports it, so that nobody imports it for that."""
import importlib.abc
import importlib.util
import sys


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.then = {}
        self.looking = set()

    def find_spec(self, name, path, target=None):
        if name not in self.then or name in self.looking:
            return None
        self.looking.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, self.then[name])
        return spec


class Loader(importlib.abc.Loader):
    """Another's, and afterwards the functions."""

    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        for function in self.then:
            function()


_finder = Finder()


def after(module, function):
    """Calls it when the module has been imported, at once if it has."""
    if module in sys.modules:
        function()
        return
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    _finder.then.setdefault(module, []).append(function)
