"""torch.save and torch.load, and pickles: a file says of a storage that it is cuda:0's, as a GPU's would, and such files are read."""
import torch

from . import memory
from .mode import start

FIRST = 5  # torch's own are asked from 10 on


def location(storage):
    mark = storage.__dict__.get("_bitwell")
    return "cuda:0" if mark is not None and not mark.pinned else None


def placed(storage, location):
    if location not in ("cuda", "cuda:0"):
        return None
    start()
    memory.place_storage(storage, "loaded")
    return storage


def patch():
    torch.serialization.register_package(FIRST, location, placed)
    resize = torch.UntypedStorage.resize_

    def resized(self, size):
        out = resize(self, size)
        mark = self.__dict__.get("_bitwell")
        if mark is not None:
            mark.grown(self.data_ptr(), self.nbytes(), "resized")
        return out

    torch.UntypedStorage.resize_ = resized
