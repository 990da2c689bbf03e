"""Triton on a machine without a GPU: it compiles for the device that this process is shown, and bitwell runs its launches.

`activate()` gives Triton a driver. The compiler is Triton's own.
"""


def activate():
    import triton

    from .driver import Driver

    triton.runtime.driver.set_active(Driver())
