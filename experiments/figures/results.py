"""The studies' results as they lie in experiments/results."""
import csv
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"


def read(name):
    """The rows of a study's CSV as dictionaries; numbers are numbers."""
    def value(text):
        try:
            return float(text)
        except ValueError:
            return text

    with open(RESULTS / name, encoding="ascii") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(lines)]


def select(rows, **wanted):
    """The rows whose columns have these values."""
    return [r for r in rows if all(r[key] == value for key, value in wanted.items())]
