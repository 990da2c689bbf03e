#!/usr/bin/env python3
"""The model of time beside NVFP4 GEMMs on a B200 at a locked clock: nvfp4_gemms.py BITWELL KERNELS RESULTS.csv [EVERY [FIRST]]

RESULTS.csv is results/dsv3_nvfp4.csv of github.com/hbarclay/gemm-model, which is not ours and not here: CUTLASS's
persistent NVFP4 kernel in CuTe DSL by pairs of CTAs, tiles of 256 x 64 to 256, clusters of 2x1 and 2x2, 40 shapes, fp32
out, at 1.3 GHz. KERNELS is this repository's folder of that name: its dense kernel is built with as many columns and
the same clusters, and timed at that clock. Only each EVERYth shape from the FIRSTth on, if that is said. Prints CSV, then how far off the
model is, how often it has the right order, and the same of a closed form."""
import csv
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

DEVICE = "b200@1300"
SMS = 148
ROWS, STAGE_K, ATOM, STEP = 128, 256, 512, 64
MOST_SHARED = 232448
# Of their timings, which go through Python: what the authors' own model takes a launch to cost, us.
LAUNCH = 8000 / 1300
OUR_LAUNCH = 0.77  # as the table of a B200 has it


def up(a, b):
    return -(-a // b)


def name(n, cluster_n):
    return f"gemm_n{n}_2x{cluster_n}"


def build(kernels, folder):
    """The dense kernel with each tile and cluster: its own list of variants is another one here."""
    if (kernels / f"{name(64, 1)}.ptx").exists():  # somebody has done so
        for ptx in kernels.glob("*.ptx"):
            shutil.copy(ptx, folder)
        return
    copy = folder / "kernels"
    shutil.copytree(kernels, copy)
    shapes = [(n, c) for n in (64, 128, 192, 256) for c in (1, 2)]
    (copy / "dense" / "variants.inc").write_text("".join(
        f"DENSE({name(n, c)}, {n}, 2, f32, fixed, tma, 2, {c}, 1, early, shifted, apart, codes)\n" for n, c in shapes))
    for n, c in shapes:
        subprocess.run(["nvcc", "-std=c++17", "-ptx", "-arch=sm_100a", "--expt-relaxed-constexpr",
                        f"-DNAME={name(n, c)}", f"-I{copy}", "-o",
                        folder / f"{name(n, c)}.ptx", copy / "dense" / "dense.cu"], check=True)


def shared_bytes(n):
    """As kernels/dense/launch.h has it."""
    stage = ROWS * STAGE_K // 2 + n // 2 * STAGE_K // 2 + (1 + up(n, 128)) * STAGE_K // STEP * ATOM
    for stages in range(8, 0, -1):
        used = stages * stage + 4 * 2 * 32 * 128 + (2 * stages + 16) * 8 + 1024
        if used <= MOST_SHARED:
            return used


def operand(buffer, rows, k, box, atoms):
    codes = {"tensor_map": buffer, "type": "u4x16_align8b", "dims": [k, rows, 1], "strides": [k // 2, k // 2 * rows],
             "box": [STAGE_K, box, 1], "swizzle": "128b"}
    scales = {"tensor_map": "sf" + buffer, "type": "u16", "dims": [ATOM // 2, up(k, STEP), atoms, 1],
              "strides": [ATOM, ATOM * up(k, STEP), ATOM * up(k, STEP) * atoms],
              "box": [ATOM // 2, STAGE_K // STEP, 1, 1]}
    return codes, scales


def launch(m, n, k, tile_n, cluster_n):
    a, sfa = operand("a", m, k, ROWS // cluster_n, up(m, ROWS))
    b, sfb = operand("b", n, k, tile_n // 2, up(n, ROWS))
    scale_bytes = lambda rows: up(rows, ROWS) * up(k, STEP) * ATOM
    tiles = up(m, 2 * ROWS) * up(n, cluster_n * tile_n)
    clusters = min(tiles, SMS // (2 * cluster_n))
    return {"ptx": name(tile_n, cluster_n) + ".ptx", "entry": name(tile_n, cluster_n),
            "grid": [2 * clusters, cluster_n], "block": [192], "cluster": [2, cluster_n],
            "dynamic_shared_bytes": shared_bytes(tile_n),
            "buffers": [{"buffer": "a", "zeros": m * k // 2}, {"buffer": "b", "zeros": n * k // 2},
                        {"buffer": "sfa", "zeros": scale_bytes(m)}, {"buffer": "sfb", "zeros": scale_bytes(n)},
                        {"buffer": "d", "unwritten": 4 * m * n}],
            "arguments": [a, b, sfa, sfb,
                          {"tensor_map": "d", "type": "f32", "dims": [n, m, 1], "strides": [4 * n, 4 * n * m],
                           "box": [32, 32, 1], "swizzle": "128b"},
                          {"pointer": "d"}, {"buffer": "c", "zeros": 16},
                          {"buffer": "alpha", "npy": "one.npy"}, {"buffer": "beta", "zeros": 4},
                          *({"type": "s32", "value": v} for v in (m, n, k, 1))]}


def closed_form(m, n, k, tile_n, cluster_n):
    """Whole waves of tiles at the tensor core's rate, or all bytes from DRAM, whichever is longer."""
    clusters = SMS // (2 * cluster_n)
    waves = up(up(m, 2 * ROWS) * up(n, cluster_n * tile_n), clusters)
    product = {64: 43, 128: 64, 192: 96, 256: 128}[tile_n]
    moved = (m * k + n * k) * 9 / 16 + 4 * m * n
    return LAUNCH + max(waves * up(k, STEP) * product / 1300, moved / 7.26e6)


def tell(title, rows, column):
    errors = sorted(abs(r[column] / r[2] - 1) for r in rows)
    right = pairs = 0
    for i, a in enumerate(rows):
        for b in rows[i + 1:]:
            if a[0] == b[0] and max(a[2], b[2]) >= 1.1 * min(a[2], b[2]):
                pairs += 1
                right += (a[2] < b[2]) == (a[column] < b[column])
    print(f"# {title}, {len(rows)} rows: median {statistics.median(errors):.0%}, mean {statistics.mean(errors):.0%}, "
          f"90th percentile {errors[len(errors) * 9 // 10]:.0%}; right order of tiles and clusters in {right} of {pairs} "
          f"pairs, {right / max(pairs, 1):.2f}")


def main():
    bitwell, kernels, results = sys.argv[1:4]
    every = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    with open(results) as f:
        given = list(csv.DictReader(f))
    shapes = list(dict.fromkeys((r["m"], r["n"], r["k"]) for r in given))[first::every]
    rows = []
    print("m,n,k,columns of a tile,CTAs of a cluster along n,measured us,modelled us,closed form us,bound by")
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        build(pathlib.Path(kernels), folder)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
        header += b" " * (117 - len(header)) + b"\n"
        (folder / "one.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0\0\x80?")
        for r in given:
            if (r["m"], r["n"], r["k"]) not in shapes:
                continue
            # As the authors' script fills them up.
            m, n, k = (up(int(r[c]), 32) * 32 for c in "mnk")
            tile_n, cluster_n = int(r["cta_n"]), int(r["cluster_n"])
            (folder / "gemm.json").write_text(json.dumps(launch(m, n, k, tile_n, cluster_n)))
            out = subprocess.run([bitwell, "time", folder / "gemm.json", "--device", DEVICE, "--ptx-alone", "--json"],
                                 capture_output=True, text=True)
            if out.returncode != 0:
                sys.exit(out.stderr)
            one = json.loads(out.stdout)["launches"][0]
            rows.append(((m, n, k), (tile_n, cluster_n), float(r["runtime_us"]), one["us"] - OUR_LAUNCH + LAUNCH,
                         closed_form(m, n, k, tile_n, cluster_n)))
            print(m, n, k, tile_n, cluster_n, *(f"{v:.1f}" for v in rows[-1][2:]), one["bound_by"], sep=",", flush=True)
    tell("the model", rows, 3)
    tell("the closed form", rows, 4)


if __name__ == "__main__":
    main()
