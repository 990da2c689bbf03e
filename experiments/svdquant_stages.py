#!/usr/bin/env python3
"""What svdquant's stages cost on a B200, by the model: svdquant_stages.py BITWELL KERNELS [--all]

"Implementing SVDQuant W4A4 on Blackwell" (ultism/svdquant-kernels at 7885f31, docs/gpu.md) timed its kernel by pairs of
CTAs, tiles of 256x128, with 0 to 3 LoRA stages, each with as many main stages as then fit, and before and after the
mend of its budget. KERNELS is this repository's folder of that name: svdquant is built with just these stages, as that
kernel is made: one warp fetches, a tile's LoRA operands first; sums of one tile alone; the first LoRA step behind the
first main one. One of its LoRA stages is two of ours, which have 64 elements of the rank.

Prints what was published, what the model says, and what the end waited for; then its five shapes before and after the
mend, with what the launches through Python cost. --all: every CTA of the first table is run, so that it is known which
copies are the first of their bytes (a minute each; else a second)."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

M, N, K, RANK = 4352, 3072, 3840, 128
PAIRS = 74
ROWS, STAGE_K, ATOM, STEP = 128, 256, 512, 64
# Name, main and LoRA stages as published, us of its bench (the launch by Python is in them) and of ncu, the kernel alone.
# As ncu has it the clock differs from row to row of its tables, so these are two on one card.
GIVEN = [("no LoRA", 7, 0, 51.82, None), ("1 LoRA stage", 5, 1, 86.36, None), ("2 LoRA stages", 4, 2, 62.58, 32.13),
         ("3 LoRA stages", 2, 3, 73.10, None), ("2, budget not mended", 2, 2, None, 46.69)]
# m, n, k, rank; main stages before and after the mend; published TFLOP/s before (a B300) and after (a B200).
SHAPES = [(256, 3072, 3840, 128, 2, 4, 35, 108), (4352, 3072, 3840, 128, 2, 4, 566, 1685),
          (4352, 15360, 3840, 128, 2, 4, 1881, 2648), (4352, 3840, 15360, 128, 2, 4, 1864, 2735),
          (4352, 3072, 10240, 32, 6, 6, 1530, 2645)]


def up(a, b):
    return -(-a // b)


def ours(lora, rank):
    """LoRA stages of ours for so many of theirs, which hold the whole rank."""
    return max(lora * up(rank, 64), 1)


def build(kernels, folder):
    copy = folder / "kernels"
    shutil.copytree(kernels, copy)
    stages = {(main, ours(lora, RANK)) for _, main, lora, _, _ in GIVEN}
    stages |= {(s, ours(2, rank)) for _, _, _, rank, before, after, _, _ in SHAPES for s in (before, after)}
    (copy / "svdquant" / "variants.inc").write_text("".join(
        f"SVDQUANT(stages_{main}_{lora}, 2, alone, early, scaled_sum, 0, {lora}, {main}, none)\n"
        for main, lora in stages))
    for main, lora in stages:
        subprocess.run(["nvcc", "-std=c++17", "-ptx", "-lineinfo", "-arch=sm_100a", "--expt-relaxed-constexpr",
                        f"-DNAME=stages_{main}_{lora}", f"-I{copy}", "-o", folder / f"stages_{main}_{lora}.ptx",
                        copy / "svdquant" / "svdquant.cu"], check=True)


def operand(buffer, rows, k, box):
    codes = {"tensor_map": buffer, "type": "u4x16_align8b", "dims": [k, rows, 1], "strides": [k // 2, k // 2 * rows],
             "box": [STAGE_K, box, 1], "swizzle": "128b"}
    atoms = up(rows, ROWS)
    scales = {"tensor_map": "sf" + buffer, "type": "u16", "dims": [ATOM // 2, k // STEP, atoms, 1],
              "strides": [ATOM, ATOM * k // STEP, ATOM * k // STEP * atoms], "box": [ATOM // 2, STAGE_K // STEP, 1, 1]}
    return codes, scales


def launch(main, lora, m=M, n=N, k=K, rank=RANK):
    a, sfa = operand("a", m, k, ROWS)
    b, sfb = operand("b", n, k, ROWS // 2)
    of_rank = lambda buffer, rows, box: {"tensor_map": buffer, "type": "f16", "dims": [rank, rows], "strides": [2 * rank],
                                         "box": [64, box], "swizzle": "128b"}
    # As kernels/svdquant/launch.h has it.
    stages = ours(lora, rank)
    shared = main * 28672 + stages * (ROWS + ROWS // 2) * 64 * 2 + (2 * main + 2 * stages + 4) * 8 + 1024
    sizes = {"a": m * k // 2, "b": n * k // 2, "sfa": up(m, ROWS) * k // STEP * ATOM, "sfb": up(n, ROWS) * k // STEP * ATOM,
             "down": 2 * m * rank, "up": 2 * n * rank, "wcscale": 2 * n, "bias": 2 * n}
    name = f"stages_{main}_{stages}"
    pairs = min(PAIRS, up(m, 2 * ROWS) * up(n, ROWS))
    return {"ptx": f"{name}.ptx", "entry": name, "grid": [2 * pairs], "block": [224],
            "cluster": [2], "dynamic_shared_bytes": shared,
            "buffers": [{"buffer": k, "zeros": v} for k, v in sizes.items()] + [{"buffer": "y", "unwritten": 2 * m * n}],
            "arguments": [a, b, sfa, sfb, of_rank("down", m, ROWS), of_rank("up", n, ROWS // 2),
                          *({"pointer": p} for p in ("wcscale", "bias", "y")),
                          *({"type": "s32", "value": v} for v in (m, n, k, rank if lora else 0))]}


def timed(bitwell, folder, made, *options):
    (folder / "one.json").write_text(json.dumps(made))
    out = subprocess.run([bitwell, "time", folder / "one.json", "--device", "b200", "--ptx-alone", "--json", *options],
                         capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(out.stderr)
    return json.loads(out.stdout)["launches"][0]


def way(one):
    """What the end waited for, by role and cause, in shares."""
    parts = {}
    for part in one["path"]:
        key = f"{part['who']}: {part['what']}"
        parts[key] = parts.get(key, 0) + part["cycles"]
    whole = sum(parts.values())
    return sorted(((cycles / whole, key) for key, cycles in parts.items()), reverse=True)


def main():
    bitwell, kernels = sys.argv[1:3]
    options = sys.argv[3:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(pathlib.Path(kernels), folder)
        print("what,main stages,LoRA stages,published bench us,published kernel us,modelled us,tensor cores busy")
        for what, main_stages, lora, bench, kernel in GIVEN:
            one = timed(bitwell, folder, launch(main_stages, lora), *options)
            print(what, main_stages, lora, bench or "", kernel or "", f"{one['us']:.1f}", f"{one['shares']['tensor']:.2f}",
                  sep=",", flush=True)
            for share, key in way(one)[:6]:
                print(f"#   {share:.0%} {key}")
        # A launch that the host needs longer for than the kernel takes lasts as long as the host: which is what the
        # first shape shows, whose kernel takes some 10 us.
        print("shape,main stages before,after,published us before,after,ratio,modelled us before,after,"
              "with the host's launch before,after,ratio")
        host = None
        for m, n, k, rank, before, after, slow, fast in SHAPES:
            published = [2 * m * n * k / tflops / 1e6 for tflops in (slow, fast)]
            host = host or published
            us = [timed(bitwell, folder, launch(s, 2, m, n, k, rank))["us"] for s in (before, after)]
            seen = [max(h, u) for h, u in zip(host, us)]
            print(f"{m}x{n}x{k} rank {rank},{before},{after},{published[0]:.1f},{published[1]:.1f},"
                  f"{published[0] / published[1]:.2f},{us[0]:.1f},{us[1]:.1f},{seen[0]:.1f},{seen[1]:.1f},"
                  f"{seen[0] / seen[1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
