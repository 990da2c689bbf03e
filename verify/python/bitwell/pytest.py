"""pytest --bitwell: tests of CUDA kernels run on a machine without a GPU.

Nothing of it is imported before the option is given, and torch and Triton not before the tests import them.
"""
import argparse
import pathlib

import pytest

OFF = "bitwell is off: run pytest --bitwell"


def orders(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of orders is 1 or more, not '{text}'")
    return int(text)


def pytest_addoption(parser):
    group = parser.getgroup("bitwell", "CUDA kernels without a GPU")
    group.addoption("--bitwell", action="store_true", help="the tests see a GPU that is simulated, all checks on")
    group.addoption("--bitwell-device", choices=("h200", "b200", "rtx"), help="which GPU that is (h200)")
    group.addoption("--bitwell-races", action="store_true", help="what nothing orders is found too; several times slower")
    group.addoption("--bitwell-schedules", type=orders, metavar="N", help="each launch is made under N orders of warps and copies, which must give the same bits")
    group.addoption("--bitwell-autotune", choices=("first", "all"),
                    help="of Triton's configurations the first that compiles is taken (first), or each is run once and its bits compared (all)")
    group.addoption("--bitwell-strict", action="store_true", help="what devices take though the manual does not promise it is a fault")
    group.addoption("--bitwell-fmad", action="store_true", help="products and sums are fused where ptxas fuses them, which is asked")
    group.addoption("--bitwell-report", type=pathlib.Path, metavar="DIR", help="folder for the launch files that replay what was found (.bitwell)")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before anything is collected: tests ask at their import which GPU there is."""
    if early_config.known_args_namespace.bitwell:
        from ._plugin import opened

        opened(early_config.known_args_namespace, early_config.rootpath)


def pytest_configure(config):
    config.addinivalue_line("markers", "bitwell(device=, races=, schedules=): the GPU that this test is for (it is skipped with another), whether "
                                       "races are looked for, and how many orders each of its launches is made under")
    config.addinivalue_line("markers", "bitwell_skip(reason): not under pytest --bitwell")
    if config.getoption("bitwell"):
        from ._plugin import Plugin, opened

        opened(config.option, config.rootpath)
        config.pluginmanager.register(Plugin(config), "bitwell-tests")
        return
    for name in ("device", "races", "schedules", "autotune", "strict", "fmad", "report"):
        if config.getoption(f"bitwell_{name}"):
            raise pytest.UsageError(f"--bitwell-{name} does nothing without --bitwell")


@pytest.fixture
def bitwell():
    """The GPU of this process that is bitwell, see bitwell.gpu; without --bitwell the test is skipped."""
    from . import gpu

    if not gpu.running():
        pytest.skip(OFF)
    return gpu.current()
