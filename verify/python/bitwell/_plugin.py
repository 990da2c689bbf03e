"""What pytest --bitwell does with tests: opened before they are collected, and told what each of them launched."""
import json
import pathlib
import re

import pytest

from . import gpu, marks
from .activate import activate, forget
from .evidence import COLLECTION, leak, lines, summary
from .report import Verdict


def opened(options, root):
    """This process has a GPU from now on."""
    if gpu.running():
        return
    try:
        activate(options.bitwell_device or "h200", races=options.bitwell_races, schedules=options.bitwell_schedules or 1, strict=options.bitwell_strict,
                 fmad=options.bitwell_fmad, autotune=options.bitwell_autotune or "first", report=options.bitwell_report or root / ".bitwell")
    except RuntimeError as error:
        raise pytest.UsageError(str(error)) from None


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
        self.told = 0  # of what the running test has launched: so many have been judged
        self.own = set()  # addresses that its own phase, not a fixture, has allocated

    def pytest_collection_modifyitems(self, items):
        marks.check(items)

    def pytest_collection_finish(self):
        now = gpu.current()
        if now.launched or now.notes:
            self.tests[COLLECTION] = summary(now)

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
        self.told, self.own = 0, set()
        for name in ("races", "schedules"):
            asked = [m.kwargs[name] for m in item.iter_markers("bitwell") if name in m.kwargs]  # the closest first
            setattr(now, name, asked[0] if asked else getattr(now.settings, name))
        try:
            return (yield)
        finally:
            now.races, now.schedules = now.settings.races, now.settings.schedules
            forget()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        now = gpu.current()
        before = set(now.own)
        try:
            return (yield)
        finally:
            self.own = now.own - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        """Judges what was launched since the last phase, be it a fixture's."""
        now = gpu.current()
        found = [row for row in now.launched[self.told:] if row.verdict != "held"]
        self.told = len(now.launched)
        if call.excinfo is not None and isinstance(call.excinfo.value, (Verdict, gpu.Unsupported, gpu.InputError)):
            if not item.config.getoption("fulltrace"):
                shortened(call.excinfo.value)
            if found and found[-1].replay:
                noted(call.excinfo.value, found[-1].replay)
        leaks = [leak(now.held[a]) for a in sorted(self.own & now.own)] if call.when == "teardown" else []
        if now.launched or now.notes or leaks:
            item.user_properties[:] = [p for p in item.user_properties if p[0] != "bitwell"] + [("bitwell", json.dumps(summary(now, leaks)))]
        report = yield
        told = [f"{row.kernel}: {row.message}" + (f"\n{row.replay}" if row.replay else "") for row in found if row.must_hold]
        if report.passed and (told or leaks):
            report.outcome = "failed"
            report.longrepr = "\n".join([*(["bitwell: the test went on after this:", *told] if told else []), *leaks])
        return report

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties:
            if name == "bitwell":
                self.tests[report.nodeid] = json.loads(value)

    def pytest_report_header(self, config):
        device = gpu.current().device
        return f"bitwell: {device.name}, compute capability {'%d.%d' % device.capability}, simulated"

    def pytest_terminal_summary(self, terminalreporter):
        if self.tests or self.config.getoption("verbose") > 0:
            terminalreporter.section("bitwell")
            for line in lines(self.tests, self.config.getoption("verbose")):
                terminalreporter.line(line)
