"""What compiles for a GPU by way of torch: torch.compile runs what it is given as it is, extensions in C++ are refused."""
import torch

from .. import gpu


def patch():
    def as_it_is(model=None, **kwargs):
        if model is None:
            return lambda m: as_it_is(m, **kwargs)
        gpu.current().note("torch.compile: functions run as they are, not compiled")
        return model

    torch.compile = as_it_is
    torch.nn.Module.compile = lambda self, *_, **__: None
    from ..late import after

    after("torch.utils.cpp_extension", patch_extensions)


def patch_extensions():
    import torch.utils.cpp_extension as extension

    def refused(name, *_, **__):
        raise gpu.Unsupported(f"torch.utils.cpp_extension, '{name}': code in C++ for CUDA asks CUDA where a tensor is; "
                          "launch its PTX by bitwell.Module, or run its program under bitwell exec")

    extension.load = extension.load_inline = refused
