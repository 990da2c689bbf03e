"""What pytest --bitwell does with tests: opened before they are collected, and told what each of them launched."""
import json
import pathlib
import re
import sys

import pytest

from . import gpu, late
from .evidence import summary
from .report import Verdict


def opened(options, root):
    """This process has a GPU from now on."""
    if gpu.running():
        return
    settings = gpu.Settings(
        device=options.bitwell_device, races=options.bitwell_races, schedules=max(1, options.bitwell_schedules),
        strict=options.bitwell_strict, autotune=options.bitwell_autotune, report=pathlib.Path(options.bitwell_report or root / ".bitwell").resolve())
    gpu.opened(settings)
    late.after("torch", activate_torch)
    late.after("triton", activate_triton)


def activate_torch():
    from . import torch

    torch.activate()


def activate_triton():
    from . import triton

    triton.activate()


def folder_of(nodeid):
    return re.sub(r"[^\w.\[\]-]+", "_", nodeid)


def shortened(error):
    """Its traceback ends where the test's own files started the kernel."""
    at, last = error.__traceback__, None
    while at is not None:
        ours = str(at.tb_frame.f_globals.get("__name__")).startswith(f"{__package__}.")
        if not ours and "site-packages" not in pathlib.Path(at.tb_frame.f_code.co_filename).parts:
            last = at
        at = at.tb_next
    if last is not None:
        last.tb_next = None


def noted(error, text):
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(text)
    else:
        error.args = (f"{error}\n{text}",)


class Plugin:
    def __init__(self, config):
        self.config = config
        self.tests = {}  # by node id: what it launched

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        skipped = item.get_closest_marker("bitwell_skip")
        if skipped:
            pytest.skip("bitwell_skip: " + str(skipped.args[0] if skipped.args else skipped.kwargs.get("reason", "no reason given")))
        for mark in item.iter_markers("bitwell"):
            device = mark.kwargs.get("device")
            if device not in (None, gpu.current().settings.device):
                pytest.skip(f"for --bitwell-device {device}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        now = gpu.current()
        now.launched, now.notes, now.where = [], [], folder_of(item.nodeid)
        mark = item.get_closest_marker("bitwell")
        now.schedules = now.settings.schedules if mark is None else mark.kwargs.get("schedules", now.settings.schedules)
        now.races = now.settings.races if mark is None else mark.kwargs.get("races", now.settings.races)
        try:
            return (yield)
        finally:
            now.schedules, now.races = now.settings.schedules, now.settings.races
            for name in ("torch", "triton"):
                module = sys.modules.get(f"{__package__}.{name}")
                if module is not None:
                    module.forget()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        now = gpu.current()
        found = [row for row in now.launched if row.verdict != "held"]
        if call.excinfo is not None and isinstance(call.excinfo.value, (Verdict, gpu.Unsupported, gpu.InputError)):
            if not item.config.getoption("fulltrace"):
                shortened(call.excinfo.value)
            if found and found[-1].file:
                noted(call.excinfo.value, f"replay: bitwell run {found[-1].file}")
        if call.when == "call" and (now.launched or now.notes):
            item.user_properties.append(("bitwell", json.dumps(summary(now))))
        report = yield
        found = [row for row in found if row.must_hold]
        if call.when == "call" and report.passed and found:
            report.outcome = "failed"
            report.longrepr = "bitwell: the test went on after this:\n" + "\n".join(f"{row.kernel}: {row.message}" + (f"\nreplay: bitwell run {row.file}" if row.file else "") for row in found)
        return report

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties:
            if name == "bitwell" and report.when == "call":
                self.tests[report.nodeid] = json.loads(value)

    def pytest_report_header(self, config):
        device = gpu.current().device
        return f"bitwell: {device.name}, compute capability {'%d.%d' % device.capability}, simulated"

    def pytest_terminal_summary(self, terminalreporter):
        from .evidence import lines

        if self.tests or self.config.getoption("verbose") > 0:
            terminalreporter.section("bitwell")
            for line in lines(self.tests, self.config.getoption("verbose")):
                terminalreporter.line(line)
