#!/usr/bin/env python3
"""What svdquant's stages cost on a B200, by the model: svdquant_stages.py BITWELL KERNELS

"Implementing SVDQuant W4A4 on Blackwell" (ultism/svdquant-kernels, docs/gpu.md) timed its kernel by pairs of CTAs, tiles
of 256x128, with 0 to 3 LoRA stages, each with as many main stages as then fit, and before and after the mend of its
budget. KERNELS is this repository's folder of that name: svdquant is built with just these stages (one of the published
LoRA stages is two of ours, which have 64 elements of the rank), its MMAs of two kinds unordered as there, and timed at
the same shape. Prints what was published, what the model says, and what the end waited for."""
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
GIVEN = [("no LoRA", 7, 0, 51.82, None), ("1 LoRA stage", 5, 1, 86.36, None), ("2 LoRA stages", 4, 2, 62.58, 32.13),
         ("3 LoRA stages", 2, 3, 73.10, None), ("2, budget not mended", 2, 2, None, 46.69)]


def up(a, b):
    return -(-a // b)


def build(kernels, folder):
    copy = folder / "kernels"
    shutil.copytree(kernels, copy)
    lines = [f"SVDQUANT(stages_{main}_{lora}, 2, fixed, unordered, scaled_sum, 0, {max(2 * lora, 1)}, {main}, none)\n"
             for _, main, lora, _, _ in GIVEN]
    (copy / "svdquant" / "variants.inc").write_text("".join(lines))
    for _, main, lora, _, _ in GIVEN:
        subprocess.run(["nvcc", "-std=c++17", "-ptx", "-lineinfo", "-arch=sm_100a", "--expt-relaxed-constexpr",
                        f"-DNAME=stages_{main}_{lora}", f"-I{copy}", "-o", folder / f"stages_{main}_{lora}.ptx",
                        copy / "svdquant" / "svdquant.cu"], check=True)


def operand(buffer, rows, box):
    codes = {"tensor_map": buffer, "type": "u4x16_align8b", "dims": [K, rows, 1], "strides": [K // 2, K // 2 * rows],
             "box": [STAGE_K, box, 1], "swizzle": "128b"}
    atoms = up(rows, ROWS)
    scales = {"tensor_map": "sf" + buffer, "type": "u16", "dims": [ATOM // 2, K // STEP, atoms, 1],
              "strides": [ATOM, ATOM * K // STEP, ATOM * K // STEP * atoms], "box": [ATOM // 2, STAGE_K // STEP, 1, 1]}
    return codes, scales


def launch(main, lora):
    stages = max(2 * lora, 1)
    a, sfa = operand("a", M, ROWS)
    b, sfb = operand("b", N, ROWS // 2)
    of_rank = lambda buffer, rows, box: {"tensor_map": buffer, "type": "f16", "dims": [RANK, rows], "strides": [2 * RANK],
                                         "box": [64, box], "swizzle": "128b"}
    accumulators = 2
    shared = main * 28672 + stages * (ROWS + ROWS // 2) * 64 * 2 + (2 * main + 2 * stages + 2 + 2 * accumulators) * 8 + 1024
    sizes = {"a": M * K // 2, "b": N * K // 2, "sfa": up(M, ROWS) * K // STEP * ATOM, "sfb": up(N, ROWS) * K // STEP * ATOM,
             "down": 2 * M * RANK, "up": 2 * N * RANK, "wcscale": 2 * N, "bias": 2 * N}
    return {"ptx": f"stages_{main}_{lora}.ptx", "entry": f"stages_{main}_{lora}", "grid": [2 * PAIRS], "block": [224],
            "cluster": [2], "dynamic_shared_bytes": shared,
            "buffers": [{"buffer": k, "zeros": v} for k, v in sizes.items()] + [{"buffer": "y", "unwritten": 2 * M * N}],
            "arguments": [a, b, sfa, sfb, of_rank("down", M, ROWS), of_rank("up", N, ROWS // 2),
                          *({"pointer": p} for p in ("wcscale", "bias", "y")),
                          *({"type": "s32", "value": v} for v in (M, N, K, RANK if lora else 0))]}


def main():
    bitwell, kernels = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(pathlib.Path(kernels), folder)
        print("what,main stages,LoRA stages,published bench us,published kernel us,modelled us,tensor cores busy")
        for what, main_stages, lora, bench, kernel in GIVEN:
            (folder / "one.json").write_text(json.dumps(launch(main_stages, lora)))
            out = subprocess.run([bitwell, "time", folder / "one.json", "--device", "b200", "--json"], capture_output=True,
                                 text=True)
            if out.returncode != 0:
                sys.exit(out.stderr)
            one = json.loads(out.stdout)["launches"][0]
            print(what, main_stages, lora, bench or "", kernel or "", f"{one['us']:.1f}", f"{one['shares']['tensor']:.2f}",
                  sep=",", flush=True)
            for part in one["path"][:6]:
                print("#   ", {k: (round(v, 3) if isinstance(v, float) else v) for k, v in part.items()})


if __name__ == "__main__":
    main()
