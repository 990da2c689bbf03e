"""bitwell's decode and round against ml_dtypes and gfloat. Known disagreements are listed by name; a stale one fails.

Usage: compare_formats.py BITWELL ROUNDING_TOOL
"""
import json
import subprocess
import sys

try:
    import gfloat
    import gfloat.formats as gf
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing} (run .ci/test, which installs what it compares with)")
    sys.exit(77)

FORMATS = ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "f16", "bf16"]
ML = {"e2m1": ml_dtypes.float4_e2m1fn, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
      "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
      "e3m4": ml_dtypes.float8_e3m4}  # decoded only: gfloat has none
GF = {"e2m1": gf.format_info_ocp_e2m1, "e2m3": gf.format_info_ocp_e2m3, "e3m2": gf.format_info_ocp_e3m2,
      "e4m3": gf.format_info_ocp_e4m3, "e5m2": gf.format_info_ocp_e5m2, "f16": gf.format_info_binary16,
      "bf16": gf.format_info_bfloat16}
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "f16": 65504.0, "bf16": float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)}

# name -> does it explain (format, value, theirs, ours)?
KNOWN = {
    "ml_dtypes overflows to infinity or NaN where .satfinite keeps the largest":
        lambda who, f, x, theirs, ours: who == "ml_dtypes" and f in LARGEST and abs(x) > LARGEST[f],
    "ml_dtypes gives a NaN of its own, or a zero where the format has none":
        lambda who, f, x, theirs, ours: who == "ml_dtypes" and x != x,
    "gfloat gives a NaN of its own":
        lambda who, f, x, theirs, ours: who == "gfloat" and x != x,
}
seen = {name: 0 for name in KNOWN}
failures = []


def disagree(who, f, x, theirs, ours):
    for name, explains in KNOWN.items():
        if explains(who, f, x, theirs, ours):
            seen[name] += 1
            return
    failures.append(f"{who} {f} of {x!r} ({np.float32(x).view(np.uint32):08x}): {ours:#x}, theirs {theirs:#x}")


def inputs():
    """Around every code of every format: the value, its neighbours, the midpoints; specials; random bits."""
    points = []
    for f in FORMATS:
        bits = {"e2m1": 4, "e2m3": 6, "e3m2": 6, "e4m3": 8, "e5m2": 8}.get(f, 16)
        step = 1 if bits <= 8 else 61
        codes = np.arange(0, 1 << bits, step)
        values = codes.astype(np.uint16 if bits == 16 else np.uint8).view(ML[f]).astype(np.float64)
        values = np.sort(values[np.isfinite(values)])
        middles = (values[1:] + values[:-1]) / 2
        points.append(np.concatenate([values, middles, values * 1.25, np.nextafter(middles.astype(np.float32), np.float32(0))]))
    random = np.random.default_rng(9).integers(0, 1 << 32, 4000, dtype=np.uint32).view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 3e38], np.float32)
    with np.errstate(over="ignore"):
        return np.concatenate([p.astype(np.float32) for p in points] + [random, special])


def main():
    bitwell, tool = sys.argv[1:3]
    # Decode: all codes of all formats up to 8 bits.
    for row in json.loads(subprocess.check_output([bitwell, "formats", "--json"])):
        if row["name"] not in ML or row["bits"] > 8:
            continue
        for code, text in enumerate(row["values"]):
            ours = float(text.replace("Inf", "inf").replace("NaN", "nan"))
            peers = [("ml_dtypes", float(np.array([code], np.uint8).view(ML[row["name"]])[0]))]
            if row["name"] in GF:
                peers.append(("gfloat", gfloat.decode_float(GF[row["name"]], code).fval))
            for who, theirs in peers:
                if not (ours == theirs or (ours != ours and theirs != theirs)):
                    failures.append(f"{who} decodes {row['name']} {code:#x} as {theirs}, bitwell as {ours}")
    x = inputs()
    text = "\n".join(f"{v:08x}" for v in x.view(np.uint32))
    lines = subprocess.run([tool], input=text, capture_output=True, text=True, check=True).stdout.split("\n")
    ours = np.array([[int(w, 16) for w in line.split()] for line in lines if line])
    for column, f in enumerate(FORMATS):
        with np.errstate(all="ignore"):
            cast = x.astype(ML[f])
        theirs = cast.view(np.uint16 if cast.dtype.itemsize == 2 else np.uint8).astype(np.int64)
        mask = (1 << {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(f, 8 * cast.dtype.itemsize)) - 1
        for i in np.nonzero((theirs & mask) != ours[:, column])[0]:
            disagree("ml_dtypes", f, float(x[i]), int(theirs[i] & mask), int(ours[i, column]))
        for i in range(0, len(x), 3):
            v = float(x[i])
            if v != v and f in ("e2m1", "e2m3", "e3m2"):
                continue  # gfloat refuses NaN where the format has none; bitwell follows cvt
            theirs_g = gfloat.encode_float(GF[f], gfloat.round_float(GF[f], v, sat=True))
            if theirs_g != ours[i, column]:
                disagree("gfloat", f, v, theirs_g, int(ours[i, column]))
    for name, count in seen.items():
        print(f"{count:6d} times: {name}")
        if count == 0:
            failures.append(f"the known disagreement '{name}' is stale")
    for line in failures[:20]:
        print("FAILED:", line)
    print(f"{len(x)} values, {len(FORMATS)} formats, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
