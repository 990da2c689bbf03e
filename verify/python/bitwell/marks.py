"""What tests' markers may say; what would do nothing is refused before any test runs."""
import pytest

from .devices import DEVICES

SAYS = {"device": lambda v: v in DEVICES, "races": lambda v: isinstance(v, bool), "schedules": lambda v: type(v) is int and v >= 1}
CHOICES = {"device": f"there are {', '.join(DEVICES)}", "races": "it is True or False", "schedules": "it is a number, 1 or more"}
TAKES = f"takes {', '.join(f'{name}=' for name in SAYS)}"


def mistake_of(mark):
    """What is wrong with one, or None."""
    if mark.name == "bitwell_skip":
        unknown = [name for name in mark.kwargs if name != "reason"]
        return f"bitwell_skip takes the reason, not {unknown[0]}=" if unknown else None
    if mark.args:
        return f"bitwell {TAKES}, and no argument without a name: {mark.args[0]!r}"
    if not mark.kwargs:
        return f"bitwell {TAKES}"
    for name, value in mark.kwargs.items():
        if name not in SAYS:
            return f"bitwell {TAKES}, not {name}="
        if not SAYS[name](value):
            return f"bitwell: {name}={value!r}; {CHOICES[name]}"
    return None


def check(items):
    for item in items:
        for mark in item.iter_markers():
            if mark.name in ("bitwell", "bitwell_skip") and (wrong := mistake_of(mark)):
                raise pytest.UsageError(f"{item.nodeid}: the marker {wrong}")
