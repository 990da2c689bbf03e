#!/usr/bin/env python3
"""The model of time beside a public sweep of stages on a B200: stage_sweep.py BITWELL RESULTS.csv

RESULTS.csv is cutlass_gemm_mainloop/results.csv of github.com/SemiAnalysisAI/microbench-blackwell, which is not ours
and not here: one CTA, bf16, tiles of M x N x K, 2 to 8 stages. A mainloop that does the same is written for each row,
and timed with two numbers of iterations; what one more takes is compared. Operands come from L2, where they stay from
one measurement to the next. Prints CSV, then how far off the model is and how often it has the right order."""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

WHOLE_K = 131072
CLOCK = 1.845  # GHz, as the table of a B200 has it
MOST_SHARED = 225 << 10
ITERATIONS = 24, 56


def mainloop(m, n, k, stages):
    """A warp that fetches, one that multiplies, a ring between them. The operands lie as cores of 8 rows of 16 bytes."""
    a, b = 2 * m * k, 2 * n * k
    stage = a + b
    descriptor = 1 << 4 | 1 << 7 | 1 << 10 | n >> 3 << 17 | m >> 4 << 24  # sums fp32, operands bf16
    columns = max(32, 1 << (n - 1).bit_length())
    init = "".join(f"mbarrier.init.shared.b64 [bars+{8 * i}], 1;\n" for i in range(2 * stages + 1))
    multiply = ""
    for step in range(k // 16):
        if step < 2:
            multiply += f"setp.ne.u32 %p6, {'%r5' if step == 0 else 1}, 0;\n"
        multiply += f"tcgen05.mma.cta_group::1.kind::f16 [%r4], %d3, %d4, {descriptor}, %p6;\n"
        multiply += f"add.u64 %d3, %d3, {2 * m};\nadd.u64 %d4, %d4, {2 * n};\n"
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
    barriers = f"shl.b32 %r8, %r6, 3;\nadd.u32 %r9, %r2, %r8;\nadd.u32 %r10, %r9, {8 * stages};\n"
    following = (f"add.u32 %r6, %r6, 1;\nsetp.eq.u32 %p4, %r6, {stages};\n@%p4 xor.b32 %r7, %r7, 1;\n"
                 "@%p4 mov.u32 %r6, 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p5, %r5, %r1;\n")
    return stage, f""".version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry k(.param .u64 operands, .param .u32 iterations)
{{
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<6>;
.shared .align 8 .b8 bars[{8 * (2 * stages + 1)}];
.shared .align 4 .b32 base;
ld.param.u64 %d0, [operands];
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
add.u32 %r13, %r12, {a};
and.b32 %r14, %r5, 7;
mul.wide.u32 %d1, %r14, {stage};
add.u64 %d1, %d0, %d1;
{copy} [%r12], [%d1], {a}, [%r9];
add.u64 %d2, %d1, {a};
{copy} [%r13], [%d2], {b}, [%r9];
{following}@%p5 bra fetch;
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


def nanoseconds(bitwell, folder, m, n, k, stages):
    """What one more iteration takes, by the model."""
    stage, text = mainloop(m, n, k, stages)
    (folder / "mainloop.ptx").write_text(text)
    cycles = []
    for iterations in ITERATIONS:
        path = folder / "mainloop.json"
        path.write_text(json.dumps({
            "ptx": "mainloop.ptx", "entry": "k", "grid": [1], "block": [64], "dynamic_shared_bytes": stages * stage,
            "arguments": [{"buffer": "operands", "zeros": 8 * stage}, {"type": "u32", "value": iterations}]}))
        out = subprocess.run([bitwell, "time", path, "--json"], check=True, capture_output=True, text=True).stdout
        cycles.append(json.loads(out)["launches"][0]["cycles"])
    return (cycles[1] - cycles[0]) / (ITERATIONS[1] - ITERATIONS[0]) / CLOCK


def order(rows, same):
    """Pairs that are alike in `same` and differ by more than a tenth: how many stand in the right order, of how many."""
    right = pairs = 0
    for i, (a, measured, modelled) in enumerate(rows):
        for b, other, other_modelled in rows[i + 1:]:
            if same(a) == same(b) and max(measured, other) >= 1.1 * min(measured, other):
                pairs += 1
                right += (measured < other) == (modelled < other_modelled)
    return f"{right} of {pairs}"


def main():
    bitwell, results = sys.argv[1:]
    rows = []
    print("M,N,K,stages,measured ns an iteration,modelled")
    with tempfile.TemporaryDirectory() as folder, open(results) as f:
        for row in csv.DictReader(line for line in f if not line.startswith("#")):
            m, n, k, stages = shape = tuple(int(row[c]) for c in ("TILE_M", "TILE_N", "TILE_K", "STAGES"))
            if row["dtype"] != "BF16" or stages == 0 or 2 * (m + n) * k * stages > MOST_SHARED:
                continue
            measured = float(row["time_ms"]) * 1e6 / (WHOLE_K / k)
            modelled = nanoseconds(bitwell, pathlib.Path(folder), *shape)
            rows.append((shape, measured, modelled))
            print(*shape, f"{measured:.0f}", f"{modelled:.0f}", sep=",", flush=True)
    errors = sorted(abs(modelled / measured - 1) for _, measured, modelled in rows)
    print(f"# {len(rows)} rows: median {statistics.median(errors):.0%}, mean {statistics.mean(errors):.0%}, "
          f"90th percentile {errors[len(errors) * 9 // 10]:.0%}")
    print("# right order of stages:", order(rows, lambda s: s[:3]))
    print("# right order of tiles' columns:", order(rows, lambda s: (s[0], s[2], s[3])))


if __name__ == "__main__":
    main()
