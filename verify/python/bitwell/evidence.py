"""What tests launched, as plain values that travel between processes, and as lines."""
import collections
import functools
import json
import pathlib
import tempfile

from .command import CommandError, command

COLLECTION = "while tests were collected"  # in the place of a node id
ORDER = ("device", "published", "manual", "approximate")  # how the bits are known, the best first


@functools.lru_cache(maxsize=None)
def evidence_of(ptx, entry):
    """How the results of an entry's instructions are known, as `bitwell check` says: the weakest word, the instructions that it is
    for, and what approximate bits come to: addresses, branches, barriers. Nothing of what is not supported."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kernel.ptx"
        file.write_text(ptx)
        try:
            told = json.loads(command("check", file, "--entry", entry, "--json", allowed=(0, 1, 3))).get("evidence", ())
        except (CommandError, ValueError, RuntimeError, NotImplementedError):
            return "", (), ()
    weakest_word = weakest(e["known_by"] for e in told)
    ways = tuple(f"{w['what']} (PTX line {w['ptx_line']}, from {w['instruction']} of line {w['from_line']})" for e in told for w in e.get("come_to", ()))
    return weakest_word, tuple(i for e in told if e["known_by"] == weakest_word for i in e["instructions"]), ways


def weakest(kinds):
    return max((k for k in kinds if k in ORDER), key=ORDER.index, default="")


def leak(allocation):
    return f"leak: {allocation.bytes} bytes of '{allocation.name}', which the test allocated, are still there"


def summary(gpu, leaks=()):
    """Of one test."""
    kernels = {}
    for row in gpu.launched:
        k = kernels.setdefault(row.kernel, {"launches": 0, "seconds": 0.0, "verdict": "held", "evidence": "", "weakest": [], "come_to": [], "message": "", "replay": ""})
        k["launches"] += 1
        k["seconds"] += row.seconds
        known, instructions, k["come_to"] = evidence_of(row.ptx, row.kernel)
        if k["evidence"] != known == weakest((k["evidence"], known)):
            k |= {"evidence": known, "weakest": list(instructions) if known != "device" else []}
        if row.verdict != "held":
            k |= {"verdict": row.verdict, "message": row.message, "replay": row.replay}
    return {"kernels": kernels, "notes": list(gpu.notes), "leaks": list(leaks)}


def plural(n, what):
    return f"{n} {what}" + ("" if n == 1 else "es" if what.endswith("ch") else "s")


def lines(tests, verbose):
    """Of all tests, by node id."""
    kernels = [(test, name, k) for test, t in tests.items() for name, k in t["kernels"].items()]
    launches, seconds = sum(k["launches"] for *_, k in kernels), sum(k["seconds"] for *_, k in kernels)
    of_tests = sum(1 for name, t in tests.items() if t["kernels"] and name != COLLECTION)
    yield f"{plural(of_tests, 'test')} launched {plural(len({n for _, n, _ in kernels}), 'kernel')}, {plural(launches, 'launch')}, {seconds:.2f} s in the simulator"
    counted = collections.Counter(weakest(k["evidence"] for k in t["kernels"].values()) for t in tests.values() if t["kernels"])
    weak = {kind: sorted({i for *_, k in kernels if k["evidence"] == kind for i in k["weakest"]}) for kind in ORDER}
    known = [f"{kind} {counted[kind]}" + (f" ({', '.join(weak[kind][:3])}{', ...' if len(weak[kind]) > 3 else ''})" if weak[kind] else "")
             for kind in ORDER if counted[kind]]
    if known:
        yield "how the bits are known, by the weakest of a test: " + ", ".join(known)
    came = {(name, way) for _, name, k in kernels for way in k["come_to"]}
    for name, way in sorted(came):
        yield f"approximate bits come to {way}: {name}"
    for verdict in ("bug", "fault", "race", "order"):
        for test, name, k in kernels:
            if k["verdict"] == verdict:
                yield f"{verdict}: {test}: {name}" + (f", {k['replay'].splitlines()[0]}" if k["replay"] else "")
    for test, t in tests.items():
        for text in t["leaks"]:
            yield text.replace("leak: ", f"leak: {test}: ", 1)
    refused = collections.defaultdict(list)
    for test, name, k in kernels:
        if k["verdict"] == "refused":
            refused[k["message"].splitlines()[0]].append(test)
    for why, those in refused.items():
        yield f"refused in {plural(len(those), 'test')}: {why} ({those[0]}{', ...' if len(those) > 1 else ''})"
    notes = collections.defaultdict(list)
    for test, t in tests.items():
        for note in t["notes"]:
            notes[note].append(test)
    for note, those in notes.items():
        yield f"note, {plural(len(those), 'test')}: {note}"
    if verbose > 0:
        for test, t in tests.items():
            for name, k in t["kernels"].items():
                yield f"{test}: {name}: {plural(k['launches'], 'launch')}, {k['verdict']}" + (f", {k['evidence']}" if k["evidence"] else "")
