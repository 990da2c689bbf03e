#!/usr/bin/env python3
"""The model of time beside a public sweep of stages on a B200: stage_sweep.py BITWELL RESULTS.csv [EVERY]

RESULTS.csv is cutlass_gemm_mainloop/results.csv of github.com/SemiAnalysisAI/microbench-blackwell, which is not ours
and not here: one CTA, bf16 and e4m3, tiles of M x N x K, 2 to 8 stages. A mainloop that does the same is written for
each row, and timed with two numbers of iterations; what one more takes is compared. Operands come from L2, where they
stay from one measurement to the next if half of it holds them. Prints CSV, then how far off the model is and how often
it has the right order.

The clock is not published. Where the tensor core is what binds, an iteration takes as long as its cycles, which the same
authors measured apart, take at 1.28 GHz; that clock is taken for all rows."""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

WHOLE_K = 131072
CLOCK = 1280  # MHz
MOST_SHARED = 225 << 10
ITERATIONS = 24, 56
BYTES = {"BF16": 2, "FP8_E4M3": 1}
BOX = 128  # bytes of a row, at most
STAY = 63e6  # bytes


def mainloop(m, n, width, stages, element):
    """A warp that fetches, one that multiplies, a ring between them; an iteration has `width` bytes of each row. Where
    which operand lies in the ring does not matter, as all are zeros."""
    a, b = m * width, n * width
    stage = a + b
    formats = 1 << 7 | 1 << 10 if element == 2 else 0
    descriptor = 1 << 4 | formats | n >> 3 << 17 | m >> 4 << 24  # sums are fp32
    kind = "f16" if element == 2 else "f8f6f4"
    columns = max(32, 1 << (n - 1).bit_length())
    init = "".join(f"mbarrier.init.shared.b64 [bars+{8 * i}], 1;\n" for i in range(2 * stages + 1))
    multiply = ""
    for step in range(width // 32):
        if step < 2:
            multiply += f"setp.ne.u32 %p6, {'%r5' if step == 0 else 1}, 0;\n"
        multiply += f"tcgen05.mma.cta_group::1.kind::{kind} [%r4], %d3, %d4, {descriptor}, %p6;\n"
        multiply += f"add.u64 %d3, %d3, {2 * m};\nadd.u64 %d4, %d4, {2 * n};\n"
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    fetch = ""
    for first, rows, tensor in (0, m, "%d0"), (a, n, "%d1"):
        for column in range(0, width, BOX):
            fetch += (f"add.u32 %r13, %r12, {first + rows * column};\nadd.u32 %r15, %r14, {column};\n"
                      f"{copy} [%r13], [{tensor}, {{%r15, 0}}], [%r9];\n")
    commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
    barriers = f"shl.b32 %r8, %r6, 3;\nadd.u32 %r9, %r2, %r8;\nadd.u32 %r10, %r9, {8 * stages};\n"
    following = (f"add.u32 %r6, %r6, 1;\nsetp.eq.u32 %p4, %r6, {stages};\n@%p4 xor.b32 %r7, %r7, 1;\n"
                 "@%p4 mov.u32 %r6, 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p5, %r5, %r1;\n")
    return stage, f""".version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry warm(.param .u64 a, .param .u64 b)
{{
.reg .b64 %d<2>;
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [b];
st.global.u32 [%d0], 0;
st.global.u32 [%d1], 0;
ret;
}}
.visible .entry k(.param .align 64 .b8 map_a[128], .param .align 64 .b8 map_b[128], .param .u32 iterations)
{{
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<6>;
.shared .align 8 .b8 bars[{8 * (2 * stages + 1)}];
.shared .align 4 .b32 base;
mov.b64 %d0, map_a;
cvta.param.u64 %d0, %d0;
mov.b64 %d1, map_b;
cvta.param.u64 %d1, %d1;
ld.param.u32 %r1, [iterations];
mov.u32 %r0, %tid.x;
mov.u32 %r2, bars;
mov.u32 %r3, ring;
setp.eq.u32 %p0, %r0, 0;
@!%p0 bra ready;
{init}fence.mbarrier_init.release.cluster;
ready:
setp.lt.u32 %p1, %r0, 32;
@%p1 bra allocated;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], {columns};
allocated:
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
ld.shared.b32 %r4, [base];
mov.u32 %r5, 0;
mov.u32 %r6, 0;
mov.u32 %r7, 0;
setp.eq.u32 %p2, %r0, 32;
@%p2 bra multiply;
@!%p0 bra finish;
fetch:
{barriers}xor.b32 %r11, %r7, 1;
empty: mbarrier.try_wait.parity.shared.b64 %p3, [%r10], %r11;
@!%p3 bra empty;
mbarrier.arrive.expect_tx.shared.b64 _, [%r9], {stage};
mad.lo.u32 %r12, %r6, {stage}, %r3;
mul.lo.u32 %r14, %r5, {width};
{fetch}{following}@%p5 bra fetch;
bra finish;
multiply:
{barriers}full: mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r7;
@!%p3 bra full;
tcgen05.fence::after_thread_sync;
mad.lo.u32 %r12, %r6, {stage}, %r3;
shr.u32 %r12, %r12, 4;
cvt.u64.u32 %d3, %r12;
add.u64 %d4, %d3, {a >> 4};
or.b64 %d3, %d3, {m << 16 | 8 << 32 | 1 << 46};
or.b64 %d4, %d4, {n << 16 | 8 << 32 | 1 << 46};
{multiply}{commit} [%r10];
{following}@%p5 bra multiply;
add.u32 %r10, %r2, {16 * stages};
{commit} [%r10];
over: mbarrier.try_wait.parity.shared.b64 %p3, [%r10], 0;
@!%p3 bra over;
tcgen05.fence::after_thread_sync;
finish:
bar.warp.sync -1;
setp.lt.u32 %p1, %r0, 32;
@%p1 bra out;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, {columns};
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
out: ret;
}}
"""


def nanoseconds(bitwell, folder, m, n, k, stages, element):
    """What one more iteration takes, by the model."""
    width = k * element
    stage, text = mainloop(m, n, width, stages, element)
    (folder / "mainloop.ptx").write_text(text)
    whole = WHOLE_K * element
    stays = (m + n) * whole <= STAY
    cycles = []
    for iterations in ITERATIONS:
        path = folder / "mainloop.json"
        maps = [{"tensor_map": name, "type": "u8", "dims": [whole, rows], "strides": [whole],
                 "box": [min(width, BOX), rows]} for name, rows in (("a", m), ("b", n))]
        path.write_text(json.dumps({
            "ptx": "mainloop.ptx", "entry": "warm", "grid": [1], "block": [1],
            "arguments": [{"buffer": name, "zeros": whole * rows if stays or name[0] != "_" else 4}
                          for name, rows in (("a" if stays else "_a", m), ("b" if stays else "_b", n))],
            "buffers": [] if stays else [{"buffer": "a", "zeros": whole * m}, {"buffer": "b", "zeros": whole * n}],
            "then": [{"entry": "k", "grid": [1], "block": [64], "dynamic_shared_bytes": stages * stage,
                      "arguments": maps + [{"type": "u32", "value": iterations}]}]}))
        out = subprocess.run([bitwell, "time", path, "--device", f"b200@{CLOCK}", "--ptx-alone", "--json"], check=True,
                             capture_output=True, text=True).stdout
        cycles.append(json.loads(out)["launches"][1]["cycles"])
    return (cycles[1] - cycles[0]) / (ITERATIONS[1] - ITERATIONS[0]) * 1000 / CLOCK


def order(rows, same):
    """Pairs that are alike in `same` and differ by more than a tenth: how many stand in the right order, of how many."""
    right = pairs = 0
    for i, (a, measured, modelled) in enumerate(rows):
        for b, other, other_modelled in rows[i + 1:]:
            if same(a) == same(b) and max(measured, other) >= 1.1 * min(measured, other):
                pairs += 1
                right += (measured < other) == (modelled < other_modelled)
    return f"{right} of {pairs}"


def tell(name, rows):
    errors = sorted(abs(modelled / measured - 1) for _, measured, modelled in rows)
    print(f"# {name}, {len(rows)} rows: median {statistics.median(errors):.0%}, mean {statistics.mean(errors):.0%}, "
          f"90th percentile {errors[len(errors) * 9 // 10]:.0%}; right order of stages",
          order(rows, lambda s: (s[:3], s[4])), "and of tiles' columns", order(rows, lambda s: (s[0], s[2:])))


def main():
    bitwell, results = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1  # only each so manyth row
    rows = []
    print("M,N,K,stages,element,measured ns an iteration,modelled")
    with tempfile.TemporaryDirectory() as folder, open(results) as f:
        for row in list(csv.DictReader(line for line in f if not line.startswith("#")))[::every]:
            m, n, k, stages = (int(row[c]) for c in ("TILE_M", "TILE_N", "TILE_K", "STAGES"))
            shape = m, n, k, stages, BYTES[row["dtype"]]
            if stages == 0 or (m + n) * k * stages * shape[4] > MOST_SHARED:
                continue
            measured = float(row["time_ms"]) * 1e6 / (WHOLE_K / k)
            modelled = nanoseconds(bitwell, pathlib.Path(folder), *shape)
            rows.append((shape, measured, modelled))
            print(*shape[:4], row["dtype"], f"{measured:.0f}", f"{modelled:.0f}", sep=",", flush=True)
    tell("all", rows)
    for name, element in BYTES.items():
        tell(name, [r for r in rows if r[0][4] == element])


if __name__ == "__main__":
    main()
