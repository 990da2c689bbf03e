"""What tests launched, as plain values that travel between processes, and as lines."""
import collections
import re

COLLECTION = "while tests were collected"  # in the place of a node id
ORDER = ("device", "manual", "approximate")  # how the bits are known, the best first


def evidence_of(ptx):
    """Of a module, by what is known of its target: an H200 gave sm_90's bits, also those of approximate instructions, which
    other targets have been lent."""
    target = re.search(r"^\s*\.target\s+sm_(\d+)", ptx, re.M)
    if target and target[1] == "90":
        return "device"
    return "approximate" if re.search(r"\.approx\b", ptx) else "manual"


def weakest(kinds):
    return max((k for k in kinds if k in ORDER), key=ORDER.index, default="")


def replay(file):
    return f"replay: bitwell run {file}"


def leak(allocation):
    return f"leak: {allocation.bytes} bytes of '{allocation.name}', which the test allocated, are still there"


def summary(gpu, leaks=()):
    """Of one test."""
    kernels = {}
    for row in gpu.launched:
        k = kernels.setdefault(row.kernel, {"launches": 0, "seconds": 0.0, "verdict": "held", "evidence": "", "message": "", "file": ""})
        k["launches"] += 1
        k["seconds"] += row.seconds
        k["evidence"] = weakest((k["evidence"], row.evidence))
        if row.verdict != "held":
            k |= {"verdict": row.verdict, "message": row.message, "file": row.file}
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
    known = [f"{kind} {counted[kind]}" for kind in ORDER if counted[kind]]
    if known:
        yield "how the bits are known, by the weakest of a test: " + ", ".join(known)
    for verdict in ("fault", "race", "order"):
        for test, name, k in kernels:
            if k["verdict"] == verdict:
                yield f"{verdict}: {test}: {name}" + (f", {replay(k['file'])}" if k["file"] else "")
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
