"""torch on a machine without a GPU: tensors that say cuda:0, computed by the CPU, that kernels reach where they stand.

`activate()` changes torch for the rest of the process.
"""
_active = False


def activate():
    global _active
    if _active:
        return
    _active = True
    import torch

    if torch._C._cuda_getDeviceCount() if hasattr(torch._C, "_cuda_getDeviceCount") else 0:
        raise RuntimeError("bitwell: torch has a real GPU here; hide it (CUDA_VISIBLE_DEVICES=) to have bitwell's")
    from .. import _native
    from . import autocast, compiled, cuda, dlpack, methods, operators, saved

    _native.align_allocations_of("libc10.so", 512)  # as torch's allocator for CUDA has it
    dlpack.patch()
    operators.patch()
    methods.patch()
    cuda.patch()
    autocast.patch()
    saved.patch()
    compiled.patch()


def forget():
    """What a test has left open: a capture, a stream."""
    if _active:
        from . import capture, cuda

        capture.closed()
        cuda.set_stream(None)
