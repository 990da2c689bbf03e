#!/usr/bin/env python3
"""Speed of kept launches by two versions of bitwell, in turn, on one host thread: rows of speeds.csv.

    speeds.py OLD NEW PROJECT=FOLDER... [--csv FILE] [--pairs N] [--seconds S] [--only WORD]

FOLDER is searched for launches as `capture --out` and `exec --record` keep them (launch.json, LAUNCH.json). Each is first
written again beside itself (plain.json) in the words and with the addresses and tensor maps that versions from 42eadc9 on
take, and both run that file, so they do the same work. A row has the best of N pairs or more, instructions of one thread
a second; where a version does not run the launch, what it says.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from programs import short

FIELDS = ("project", "launch", "kernel", "M lane instructions", "before, M/s", "today, M/s", "ratio", "outputs", "mended", "before says",
          "today says")
NEWER = ("partly_written", "all_written", "written")  # keys of buffers
ALIGNMENT = 256  # of buffers at an address
LIMIT = 300  # seconds of one run
CLUSTER = 8  # CTAs, unless the launch says that it is not portable


def own_lanes(found):
    """The address has the lanes of the warp's quarter, which devices take whatever it has."""
    return ("{ .reg .b32 %quarter; mov.u32 %quarter, %tid.x; shr.u32 %quarter, %quarter, 5; and.b32 %quarter, %quarter, 3; "
            f"shl.b32 %quarter, %quarter, 21; or.b32 %quarter, %quarter, {found[2]}; {found[1]}[%quarter{found[3]}]{found[4]} }}")


def no_scale_ids(found):
    masks = (f"and.b32 {to}, {scale}, 0x3fffffff; " for to, scale in (("%sfa", found[2]), ("%sfb", found[3])))
    return f"{{ .reg .b32 %sfa, %sfb; {''.join(masks)}{found[1]}[%sfa], [%sfb]{found[4]} }}"


# Of what 42eadc9 says: what there is to change in the PTX.
MENDS = {
    "setmaxnreg": ("no setmaxnreg", re.compile(r"setmaxnreg\.[\w.]+\s+\d+\s*;"), ""),
    "tcgen05.wait::st": ("wait::st", re.compile(r"tcgen05\.st\.[^;]*;"), r"\g<0> tcgen05.wait::st.sync.aligned;"),
    "tcgen05.wait::ld": ("wait::ld", re.compile(r"tcgen05\.ld\.[^;]*;"), r"\g<0> tcgen05.wait::ld.sync.aligned;"),
    "of tensor memory by warp": ("lanes of the warp", re.compile(r"(tcgen05\.(?:ld|st)\.[^;\[]*)\[(%?\w+)([^\]]*)\]([^;]*;)"), own_lanes),
    "tcgen05.mma reaches lane": ("no ids of scales", re.compile(r"(tcgen05\.mma\.[^;]*block_scale[^;]*)\[(%?\w+)\], \[(%?\w+)\]([^;]*;)"),
                                 no_scale_ids),
}


def word(data, which):
    return int.from_bytes(data[8 * which:8 * which + 8], "little")


def plain_map(data, in_a_buffer):
    """A tensor map as the CuTe DSL makes it for sm_100a, as an H200's driver does; with bitwell's own mark where that has no such type."""
    if len(data) != 128 or not word(data, 1) >> 1 & 1 or not in_a_buffer(word(data, 0) & (1 << 57) - 1):
        return data
    second = word(data, 1) & ~(1 << 1 | 1 << 21)  # bits 65 and 85
    out = bytearray(data[:64] + bytes(64))
    if second >> 7 & 15 == 11:  # 16U4_ALIGN8B, 13 in PTX
        second = second & ~(15 << 7) | 13 << 7
        out[120:127] = b"bitwell"
    out[8:16] = second.to_bytes(8, "little")
    return bytes(out)


def contents(folder, buffer):
    if "bin" in buffer:
        return (folder / buffer["bin"]).read_bytes()
    return bytes(buffer.get("zeros", buffer.get("unwritten", 0)))


def joined(folder, buffers):
    """The buffers from a multiple of ALIGNMENT on, those that then meet as one; and where each is: its buffer and offset."""
    spans = []
    for b in sorted(buffers, key=lambda b: b["address"]):
        data = contents(folder, b)
        start = b["address"] // ALIGNMENT * ALIGNMENT
        if not spans or start >= spans[-1][0] + len(spans[-1][1]):
            spans.append((start, bytearray(), []))
        first, whole, parts = spans[-1]
        whole += bytes(b["address"] - first - len(whole)) + data
        parts.append((b["buffer"], b["address"] - first))
    out, where = [], {}
    for i, (start, whole, parts) in enumerate(spans):
        (folder / f"plain{i}.bin").write_bytes(whole)
        out.append({"buffer": f"plain{i}", "address": start, "bin": f"plain{i}.bin"})
        where |= {name: (f"plain{i}", offset) for name, offset in parts}
    return out, where


def plain(path, outputs):
    """Writes plain.json beside the launch: every byte of its buffers counts as written, and all outputs go to a folder."""
    folder, launch = path.parent, json.loads(path.read_text())
    if math.prod(launch.get("cluster", [1])) <= CLUSTER:
        launch.pop("non_portable_cluster", None)
    buffers = launch.get("buffers", [])
    spans = [(b["address"], b["address"] + len(contents(folder, b))) for b in buffers if "address" in b]
    if any(b["address"] % ALIGNMENT for b in buffers):
        launch["buffers"], where = joined(folder, buffers)
        for argument in launch["arguments"]:
            if "pointer" in argument:
                argument["pointer"], offset = where[argument["pointer"]]
                argument["offset"] = argument.get("offset", 0) + offset
    for i, b in enumerate(launch.get("buffers", [])):
        for key in NEWER:
            b.pop(key, None)
        if "unwritten" in b:
            b["zeros"] = b.pop("unwritten")
        b["output"] = str(outputs / f"{i}.bin")
    for v in launch.get("variables", []):
        v.pop("output", None)
    for argument in launch["arguments"]:
        if "bytes" in argument:
            data = bytes.fromhex(argument["bytes"])
            argument["bytes"] = plain_map(data, lambda at: any(first <= at < end for first, end in spans)).hex()
    to = folder / "plain.json"
    to.write_text(json.dumps(launch, indent=1))
    return to


def mended(file, which):
    """Writes plain.ptx and has plain.json name it."""
    launch = json.loads(file.read_text())
    _, pattern, by = MENDS[which]
    (file.parent / "plain.ptx").write_text(pattern.sub(by, (file.parent / launch["ptx"]).read_text()))
    file.write_text(json.dumps(launch | {"ptx": "plain.ptx"}, indent=1))


def run(bitwell, path, outputs, options=()):
    """M lane instructions, seconds and the outputs' bytes; or None, and the line that the version ended with."""
    try:
        ran = subprocess.run([bitwell, "run", str(path), "--json", "--approximate", "h200", *options], capture_output=True, text=True,
                             timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"not within {LIMIT} s"
    report = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
    if ran.returncode != 0 or not report.get("seconds"):
        said = [line.split("bitwell: ", 1)[1] for line in ran.stderr.splitlines() if "bitwell: " in line]
        told = said[0] if said else f"exit status {ran.returncode}"
        return None, re.sub(r"'[^']*/([^'/]*)':", r"'\1':", re.sub(r"^entry '[^']*': ", "", told))
    written = b"".join(file.read_bytes() for file in sorted(outputs.iterdir()))
    return (report["lane_instructions"] / 1e6, report["seconds"], written), ""


def one_thread(bitwell):
    """--threads came behind 42eadc9, whose launches have one."""
    told = subprocess.run([bitwell, "run", "--help"], capture_output=True, text=True).stdout
    return ("--threads", "1") if "--threads" in told else ()


def pairs(old, new, path, most, seconds):
    """A row's last columns, from "M lane instructions" on."""
    versions = ((old, one_thread(old)), (new, one_thread(new)))
    best, first, says = [0, 0], [None, None], ["", ""]
    with tempfile.TemporaryDirectory() as folder:
        outputs = pathlib.Path(folder)
        file = plain(path, outputs)
        changed = []
        while left := [m for m in MENDS if m not in changed and m in run(old, file, outputs, versions[0][1])[1]]:
            changed.append(left[0])
            mended(file, left[0])
        begin, turns = time.monotonic(), 0
        while turns < most or (time.monotonic() - begin < seconds and turns < 10 * most):
            for i in ((0, 1) if turns % 2 == 0 else (1, 0)):
                got, says[i] = run(versions[i][0], file, outputs, versions[i][1])
                if got is None:
                    continue
                first[i] = first[i] or got
                best[i] = max(best[i], got[0] / got[1])
            turns += 1
            if not all(best) or time.monotonic() - begin > LIMIT:
                break
    count = f"{(first[1] or first[0])[0]:.2f}" if any(first) else ""
    same = ("same" if first[0][2] == first[1][2] else "differ") if all(first) else ""
    shown = [f"{b:.1f}" if b else "" for b in best]
    return [count, *shown, f"{best[1] / best[0]:.2f}" if all(best) else "", same,
            "; ".join(MENDS[m][0] for m in changed), *(s[:120] for s in says)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="+", metavar="PROJECT=FOLDER")
    parser.add_argument("--csv", type=pathlib.Path, help="rows of these projects are written again there")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="of a launch's pairs, where these are shorter")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    rows = []
    for word_ in given.folders:
        project, folder = word_.split("=", 1)
        for path in sorted(pathlib.Path(folder).glob("**/[lL][aA][uU][nN][cC][hH].[jJ][sS][oO][nN]")):
            name = re.sub(r"/(\d+)\.[^/]*$", r"/\1", os.path.relpath(path.parent, folder))  # the recorder's have the kernel behind the number
            if given.only not in name:
                continue
            kernel = short(json.loads(path.read_text())["entry"])
            row = [project, name, kernel] + pairs(given.old, given.new, path, given.pairs, given.seconds)
            rows.append(dict(zip(FIELDS, row)))
            print(" | ".join(row[:2] + row[3:]), flush=True)
    both = [r for r in rows if r["ratio"]]
    if both:
        middle = {f: statistics.median(float(r[f]) for r in both) for f in ("before, M/s", "today, M/s", "ratio")}
        print(f"{len(both)} launches of {len(rows)} run by both; medians: " + ", ".join(f"{k} {v:.2f}" for k, v in middle.items()))
    if given.csv:
        projects = {r["project"] for r in rows}
        kept = [r for r in csv.DictReader(given.csv.open()) if r["project"] not in projects] if given.csv.exists() else []
        with given.csv.open("w", newline="") as f:
            out = csv.DictWriter(f, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(kept + rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
