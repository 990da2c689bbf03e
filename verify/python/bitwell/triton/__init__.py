"""Triton on a machine without a GPU: it compiles for the device that this process is shown, and bitwell runs its launches.

`activate()` gives Triton a driver. The compiler is Triton's own.
"""
_driver = None


def activate():
    global _driver
    import triton

    from .driver import Driver

    _driver = Driver()
    triton.runtime.driver.set_active(_driver)


def forget():
    """What a test has left open: the autotuner's question whether a configuration compiles."""
    if _driver is not None:
        _driver.utils.dry = False
