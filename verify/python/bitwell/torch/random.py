"""The GPU's random numbers: a generator beside the CPU's, of the same kind. A seed gives on both the same numbers."""
import contextlib

import torch

CUDA = torch.device("cuda", 0)
Plain = torch.Generator  # torch's own


class Generator(Plain):
    """The CPU's, wherever it is asked for: numbers are those of `torch.Generator()` with the same seed."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls)
        made.asked = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
        return made

    @property
    def device(self):
        return CUDA if self.asked.type == "cuda" else self.asked

    def graphsafe_get_state(self):
        return self.clone_state()

    def graphsafe_set_state(self, state):
        self.set_state(state.get_state())
        return self


default = Generator("cuda")  # torch.cuda.default_generators[0]


@contextlib.contextmanager
def gpus():
    """Numbers that are drawn here are the GPU's, though torch asks the CPU's generator for them."""
    cpus = torch.default_generator
    kept = cpus.get_state()
    cpus.set_state(default.get_state())
    try:
        yield
    finally:
        default.set_state(cpus.get_state())
        cpus.set_state(kept)
