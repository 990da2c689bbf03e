#!/usr/bin/env bash
# What a run shows of itself: memory at a line, the trace, what was reserved and never touched. Usage: observe_test.sh BITWELL EXAMPLE
set -u
bitwell=$1 example=$2
kernels=$(dirname "$bitwell")/../share/bitwell/kernels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$kernels/example/tile.ptx" "$example"/*.json "$example"/*.py "$work"
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS 'part of the output' COMMAND...: the command exits with STATUS and says that, on stdout or stderr.
expect() {
  local status=$1 part=$2 text got
  shift 2
  text=$("$@" 2>&1)
  got=$?
  if [ $got -ne "$status" ] || [[ "$text" != *"$part"* ]]; then fail "$* exits with $got (expected $status), not '$part': $text"; fi
}
# The PTX line of the N-th instruction that starts so, the first without N.
line() { grep -n "^[[:space:]]*$2" "$1" | sed -n "${3:-1}p" | cut -d: -f1; }

cat > common.py <<'P'
import ast, random, struct
def array(path, code):
    data = open(path, "rb").read()
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    head = ast.literal_eval(data[10:end].decode())
    return head["descr"], head["shape"], struct.unpack(f"<{(len(data) - end) // struct.calcsize(code)}{code}", data[end:])
def save(path, code, descr, shape, values):
    head = str({"descr": descr, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values))
def word(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]
P
python3 - <<'P'
from common import *
random.seed(3)
for name, rows in (("a", 128), ("b", 64)):
    save(name + ".npy", "e", "<f2", (rows, 128), [random.randrange(-16, 17) / 4 for _ in range(rows * 128)])
P

# Memory at a line: the sums when they are first loaded, half of them before the second step.
ld=$(line tile.ptx tcgen05.ld)
mma=$(line tile.ptx tcgen05.mma)
expect 0 "tensor memory of CTA (0,0,0) at visit 1 of PTX line $ld 'tcgen05.ld.sync.aligned.32x32b.x" "$bitwell" run tile.json --dump "tmem@$ld=sums.npy" --dump "shared@$ld=bytes.npy"
expect 0 "  written: columns 0 to 63, lanes 0 to 127" "$bitwell" run tile.json --dump "tmem@$ld"
expect 0 "  ... (--dump tmem@$ld=FILE writes all of it)" "$bitwell" run tile.json --dump "tmem@$ld"
expect 0 "
  tile::a_rows at 0, 16,384 bytes
  tile::b_rows at 16,384, 8,192 bytes
  tile::full at 24,576, 8 bytes
" "$bitwell" run tile.json --dump "shared@$ld"
expect 0 "  under way: cp.async.bulk" "$bitwell" run tile.json --dump "shared@$(line tile.ptx mbarrier.try_wait)"
expect 0 "  nothing was written" "$bitwell" run tile.json --dump "tmem@$mma"
expect 0 "half.npy" "$bitwell" run tile.json --dump "tmem@$mma=half.npy" --dump "shared@$mma=stage.npy" --dump-visit 2 --dump-cta 0,0,0
expect 0 "sums.txt" "$bitwell" run tile.json --dump "tmem@$ld=sums.txt" --dump "shared@$ld=bytes.txt"
python3 - <<'P' || fail "the dumps are not a * b^T and the last 64 columns of b"
from common import *
a, b = (array(n + ".npy", "e")[2] for n in "ab")
def product(row, column, k):
    return sum(a[128 * row + i] * b[128 * column + i] for i in range(k))
for name, k in (("sums", 128), ("half", 64)):
    descr, shape, cells = array(name + ".npy", "q")
    assert descr == "<i8" and shape == (128, 512), (descr, shape)
    for row in range(128):
        for column in range(0, 512, 1 if row % 31 == 0 else 64):
            want = word(product(row, column, k)) if column < 64 else -2
            assert cells[512 * row + column] == want, (name, row, column, cells[512 * row + column], want)
for name, first in (("bytes", 64), ("stage", 64)):
    descr, shape, cells = array(name + ".npy", "h")
    assert descr == "<i2" and shape[0] == len(cells) >= 24 * 1024 + 20, (descr, shape)
    where = [i for i in range(0, len(cells) - 8192 + 1, 1024)
             if all(cells[i + 128 * r + (16 * (c // 8 ^ r % 8) + c % 8 * 2)] == struct.pack("<e", b[128 * r + first + c])[0]
                    for r in range(64) for c in range(64))]
    assert len(where) == 1, where
    assert -1 in cells[24 * 1024:] and all(0 <= v for v in cells[:24 * 1024])
lines = open("sums.txt").read().splitlines()
at = next(i for i, l in enumerate(lines) if l.startswith("lane   5 column   8:"))
assert lines[at].split(":")[1].split() == [f"{word(product(5, c, 128)):08x}" for c in range(8, 16)], lines[at]
assert sum(l.startswith("lane") for l in lines) == 128 * 8 and "column  64" not in "".join(lines)
assert any(l.startswith(" 24592:") and l.endswith(" --\n") for l in open("bytes.txt"))
P
expect 0 "sums.txt" "$bitwell" run tile.json --dump "tmem@$ld=sums.txt" --dump "shared@$ld=bytes.txt" --dump-as f32
expect 0 "half.txt" "$bitwell" run tile.json --dump "shared@$ld=half.txt" --dump "tmem@$ld=words.txt" --dump-as f16
python3 - <<'P' || fail "dumps in numbers show others"
from common import *
a, b = (array(n + ".npy", "e")[2] for n in "ab")
def numbers(path, start):
    return next(l for l in open(path) if l.startswith(start)).split(":")[1].split()
assert [float(v) for v in numbers("sums.txt", "lane   5 column   8:")] == [sum(a[640 + i] * b[128 * c + i] for i in range(128)) for c in range(8, 16)]
assert [float(v) for v in numbers("half.txt", "     0:")] == list(a[64:72])  # the second step's first row of a
assert numbers("bytes.txt", " 24592:") == ["0", "-", "-", "-"]
assert len(numbers("words.txt", "lane   5 column   8:")) == 16
P
expect 2 "--dump-as 'e2m1' is not one of hex, " "$bitwell" run tile.json --dump "tmem@$ld" --dump-as e2m1
expect 0 '"dump": "tmem@' "$bitwell" run tile.json --dump "tmem@$ld" --json
source=$("$bitwell" run tile.json --dump "tmem@$ld" | grep -o '([a-z0-9]*\.cuh:[0-9]*, from tile.cu' | tail -1 | tr -d '(' | cut -d, -f1)
expect 0 "(${source}, from tile.cu:" "$bitwell" run tile.json --dump "tmem@$source"
expect 2 "takes tmem@LINE or shared@LINE, and =FILE behind it; got 'registers@3'" "$bitwell" run tile.json --dump registers@3
expect 2 "got 'tmem@$ld='" "$bitwell" run tile.json --dump "tmem@$ld="
expect 2 "no instruction of the kernel stands at PTX line $((ld - 1)) of 'tile.ptx'; the nearest stand at" "$bitwell" run tile.json --dump "tmem@$((ld - 1))"
expect 2 "and $ld ('tcgen05.ld" "$bitwell" run tile.json --dump "tmem@$((ld - 1))"
expect 2 "'tile.cu:1' is neither a line of the PTX nor a CUDA line that it names; the nearest that it names is tile.cu:" "$bitwell" run tile.json --dump tmem@tile.cu:1
expect 2 "takes X,Y,Z of a CTA of the grid of 1 x 1 x 1; got '0,0,1'" "$bitwell" run tile.json --dump "tmem@$ld" --dump-cta 0,0,1
expect 2 "got '0,0,0,0'" "$bitwell" run tile.json --dump "tmem@$ld" --dump-cta 0,0,0,0
expect 2 "a warp of CTA (0,0,0) came there 4 times, --dump-visit is 5" "$bitwell" run tile.json --dump "tmem@$ld" --dump-visit 5
for other in --unchecked "--schedules 2"; do # shellcheck disable=SC2086
  expect 2 "excludes" "$bitwell" run tile.json --dump "tmem@$ld" $other
done
expect 2 "--dump-visit requires --dump" "$bitwell" run tile.json --dump-visit 2
cp d.npy kept.npy
expect 2 "another output of this command" "$bitwell" run tile.json --dump "tmem@$ld=d.npy"
expect 2 "would replace 'tile.ptx', which this command reads" "$bitwell" run tile.json --dump "tmem@$ld=tile.ptx"
cmp -s d.npy kept.npy || fail "a dump that is refused replaces an output"
# Up to a fault, and of a kernel for a target without tensor memory.
sed 's/"unwritten": 32768, "output": "d.npy", "dtype": "f4", "shape": \[128, 64\]/"unwritten": 1024/' tile.json > short.json
expect 1 "out-of-bounds write" "$bitwell" run short.json --dump "tmem@$ld=fault.npy"
cmp -s fault.npy sums.npy || fail "a fault leaves no dump, or another"
expect 1 "a warp never came there before the fault" "$bitwell" run short.json --dump "tmem@$(line tile.ptx tcgen05.dealloc)"
cp "$kernels"/hang/wrong_initial_phase.{json,ptx} .
wait=$(line wrong_initial_phase.ptx mbarrier.try_wait)
expect 1 "shared memory of CTA (0,0,0) at visit 1 of PTX line $wait" "$bitwell" run wrong_initial_phase.json --dump "shared@$wait"
expect 2 "sm_90a has no tensor memory" "$bitwell" run wrong_initial_phase.json --dump "tmem@$wait"

# The trace of one CTA: every operation of the tensor unit from its issue to its end, and what it waited for.
expect 0 "events -> trace.json" "$bitwell" run tile.json --trace trace.json
cat > trace.py <<'P'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
ctas = {pid: name for (pid, tid), name in names.items() if tid is None}
def spans(name, cta=None):  # (begin, end, CTA, PTX line), in the order of issue
    begun = {e["id"]: e for e in events if e["ph"] == "b" and e["name"] == name}
    ended = {e["id"]: e for e in events if e["ph"] == "e" and e["name"] == name}
    assert begun.keys() == ended.keys(), (name, begun.keys() ^ ended.keys())
    out = [(b["ts"], ended[i]["ts"], ctas[b["pid"]], b["args"]["PTX line"]) for i, b in begun.items()]
    assert all(b <= e for b, e, _, _ in out) and all(ended[i]["pid"] == b["pid"] for i, b in begun.items())
    return [s for s in out if cta in (None, s[2])]
P
cat > one.py <<'P'
from trace import *
assert ctas == {1: "CTA (0,0,0)"}, ctas
copies, mmas, commits, loads = (spans(n) for n in ("cp.async.bulk.tensor", "tcgen05.mma", "tcgen05.commit", "tcgen05.ld"))
per_warp = sum(l.strip().startswith("tcgen05.ld") for l in open("tile.ptx"))  # unrolled
assert [len(x) for x in (copies, mmas, commits, loads)] == [4, 8, 2, 4 * per_warp], [len(x) for x in (copies, mmas, commits, loads)]
assert not [e for e in events if e["ph"] in "be" and e["name"].startswith("operation")]
for step in (0, 1):  # the copies of a step end before its MMAs begin, those before their commit's end
    mine = mmas[4 * step:4 * step + 4]
    assert max(e for _, e, _, _ in copies[2 * step:2 * step + 2]) <= mine[0][0]
    assert all(mine[i][0] < mine[i + 1][0] for i in range(3)) and mine[3][0] < commits[step][0]
    assert max(e for _, e, _, _ in mine) <= commits[step][1]
assert commits[0][1] <= mmas[4][0] and commits[1][1] <= min(b for b, _, _, _ in loads)
assert all(b < e for b, e, _, _ in loads) and len({line for _, _, _, line in mmas}) == 4
mma = next(e for e in events if e["ph"] == "b" and e["name"] == "tcgen05.mma")
assert mma["args"]["instruction"] == "tcgen05.mma.cta_group::1.kind::f16" and "cuh:" in mma["args"]["CUDA line"], mma
P
python3 one.py trace.json || fail "the trace of one CTA"

# Of a pair, on one time line: both fetch, the first multiplies for both, both load.
cat > pair.ptx <<'P'
.version 9.0
.target sm_100a
.address_size 64
.visible .entry pair(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p<4>; .reg .b16 %h; .reg .b32 %r<16>; .reg .b64 %a<8>;
  .shared .align 1024 .b8 tile[20480];
  .shared .align 8 .b64 full; .shared .align 8 .b64 done; .shared .align 4 .b32 base;
  mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
  mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0;
  mov.u32 %r2, full; mov.u32 %r3, done; mov.u32 %r4, tile; mov.u32 %r5, 0;
  @%p0 bra ready;
  mbarrier.init.shared.b64 [full], 1; mbarrier.init.shared.b64 [done], 1;
  fence.mbarrier_init.release.cluster;
ready:
  tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [base], 64;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  ld.shared.b32 %r6, [base];
  @%p0 bra finish;
  @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 40960;
  mov.b64 %a0, map; cvta.param.u64 %a0, %a0;
  mapa.shared::cluster.u32 %r7, %r2, 0;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r4], [%a0, {%r5, %r5}], [%r7];
  @%p1 bra finish;
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
  @!%p2 bra wait;
  shr.u32 %r8, %r4, 4; cvt.u64.u32 %a1, %r8; mov.b64 %a2, 0x4000404000010000;
  or.b64 %a1, %a1, %a2; add.s64 %a3, %a1, 1024; mov.u32 %r9, 0x10100010; mov.u16 %h, 3;
  tcgen05.mma.cta_group::2.kind::f16 [%r6], %a1, %a3, %r9, 0;
  tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r3], %h;
finish:
  bar.warp.sync -1;
again:
  mbarrier.try_wait.parity.shared.b64 %p3, [done], 0;
  @!%p3 bra again;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r6];
  tcgen05.wait::ld.sync.aligned;
  ld.param.u64 %a4, [out]; shl.b32 %r11, %r1, 7; shl.b32 %r12, %r0, 2; add.u32 %r11, %r11, %r12;
  cvt.u64.u32 %a5, %r11; add.u64 %a4, %a4, %a5; st.global.b32 [%a4], %r10;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r6, 64;
  ret;
}
P
cat > pair.json <<'J'
{"ptx": "pair.ptx", "entry": "pair", "grid": [2], "block": [32], "cluster": [2],
 "buffers": [{"buffer": "x", "zeros": 20480}],
 "arguments": [{"tensor_map": "x", "type": "f16", "dims": [64, 160], "strides": [128], "box": [64, 160], "swizzle": "128b"},
               {"buffer": "out", "unwritten": 256, "output": "out.npy"}]}
J
expect 0 "events -> pair.json.trace" "$bitwell" run pair.json --trace pair.json.trace
cat > two.py <<'P'
from trace import *
assert sorted(ctas.values()) == ["CTA (0,0,0)", "CTA (1,0,0)"], ctas
first, second = "CTA (0,0,0)", "CTA (1,0,0)"
count = {n: (len(spans(n, first)), len(spans(n, second))) for n in ("cp.async.bulk.tensor", "tcgen05.mma", "tcgen05.commit", "tcgen05.ld")}
assert list(count.values()) == [(1, 1), (1, 0), (1, 0), (1, 1)], count
assert max(e for _, e, _, _ in spans("cp.async.bulk.tensor")) <= spans("tcgen05.mma")[0][0]
assert spans("tcgen05.mma")[0][1] <= spans("tcgen05.commit")[0][1] <= min(b for b, _, _, _ in spans("tcgen05.ld"))
done = [e for e in events if e["ph"] == "i" and "done" in e["name"]]
assert {ctas[e["pid"]] for e in done} == {first, second} and {e["ts"] for e in done} == {spans("tcgen05.commit")[0][1]}, done
P
python3 two.py pair.json.trace || fail "the trace of a pair"

# What `bitwell layout` draws is what runs: each cell holds what the layout says of its thread and register, or row and byte.
cat > cells.py <<'P'
import json, subprocess, sys
from common import *
bitwell = sys.argv[1]
def cells(name, *options):  # coordinates, the first fastest, and their cells
    j = json.loads(subprocess.run([bitwell, "layout", name, *options, "--json"], check=True, capture_output=True).stdout)
    for i, cell in enumerate(j["cells"]):
        at = {}
        for axis in j["axes"]:
            at[axis["name"]], i = i % axis["extent"], i // axis["extent"]
        yield at, cell
def dumped(body, shared):  # tensor memory of 128 threads when they free it
    open("k.ptx", "w").write(""".version 9.0
.target sm_100a
.address_size 64
.visible .entry k()
{
.reg .pred %p<4>; .reg .b32 %r<8>, %v<64>; .reg .b64 %a<4>;
.shared .align 1024 .b8 bytes[4096]; .shared .align 8 .b64 bar; .shared .align 4 .b32 base;
mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r0, 0;
@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 512;
@%p1 mbarrier.init.shared.b64 [bar], 1;
bar.sync 0;
ld.shared.b32 %r2, [base]; shl.b32 %r3, %r1, 21; add.u32 %r3, %r2, %r3;
""" + body + """
bar.sync 0;
@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 512;
ret;
}
""")
    open("k.json", "w").write('{"ptx": "k.ptx", "entry": "k", "grid": [1], "block": [128], "arguments": []}')
    line = next(i for i, l in enumerate(open("k.ptx"), 1) if "tcgen05.dealloc" in l)
    subprocess.run([bitwell, "run", "k.json", "--dump", f"tmem@{line}=k.npy"], check=True, capture_output=True)
    return array("k.npy", "q")[2]
for shape, num, registers in (("32x32b", 8, 8), ("16x64b", 4, 4), ("16x128b", 4, 8), ("16x256b", 4, 16), ("16x32bx2", 4, 4)):
    for pack in ("none", "16b"):
        body = "".join(f"shl.b32 %r4, %r0, 5; add.u32 %v{r}, %r4, {2 * r}; shl.b32 %r4, %v{r}, 16; or.b32 %v{r}, %v{r}, %r4; add.u32 %v{r}, %v{r}, 65536;\n"
                       for r in range(registers))
        body += f"tcgen05.st.sync.aligned.{shape}.x{num}{'.unpack::16b' if pack == '16b' else ''}.b32 [%r3], "
        body += ("17, " if shape == "16x32bx2" else "") + "{" + ", ".join(f"%v{r}" for r in range(registers)) + "};\ntcgen05.wait::st.sync.aligned;"
        held, seen = dumped(body, 0), set()
        for warp in range(4):
            for at, cell in cells("tmem-st", "--shape", shape, "--num", f"x{num}", "--pack", pack, "--split", "17", "--warp", str(warp)):
                low = (32 * warp + at["thread"]) << 5 | 2 * at["register"]
                want = low | at["half"] if pack == "16b" else low + 1 << 16 | low
                place = 512 * cell["lane"] + cell["column"]
                assert held[place] == want, (shape, pack, warp, at, cell, held[place], want)
                seen.add(place)
        assert all((v >= 0) == (i in seen) for i, v in enumerate(held)), (shape, pack)
fill = "".join(f"add.u32 %r4, %r0, {128 * i}; shl.b32 %r5, %r4, 2; mov.u32 %r6, bytes; add.u32 %r5, %r5, %r6; st.shared.b32 [%r5], %r4;\n" for i in range(8))
for shape in ("128x256b", "128x128b", "4x256b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"):
    body = fill + f"""fence.proxy.async.shared::cta; bar.sync 0;
mov.u32 %r6, bytes; shr.u32 %r6, %r6, 4; cvt.u64.u32 %a0, %r6; or.b64 %a0, %a0, {2048 >> 4 << 16 | 128 >> 4 << 32 | 1 << 46};
@%p1 tcgen05.cp.cta_group::1.{shape} [%r2], %a0;
mov.u32 %r6, bar;
@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r6];
wait:
mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
@!%p2 bra wait;"""
    held, seen = dumped(body, 4096), set()
    for at, cell in cells("tmem-cp", "--shape", shape):
        want = (at["byte"] // 16 * 2048 + at["row"] * 16 + at["byte"] % 16) // 4
        place = 512 * cell["lane"] + cell["column"]
        assert cell["byte"] == at["byte"] % 4 and held[place] == want, (shape, at, cell, held[place], want)
        seen.add(place)
    assert all((v >= 0) == (i in seen) for i, v in enumerate(held)), shape
P
python3 cells.py "$bitwell" || fail "a layout that is drawn is not the one that runs"

# A list: the product twice, with a copy and a fill between.
expect 0 "first -> first.npy" "$bitwell" run twice.json
cmp -s first.npy d.npy || fail "the copy is not the first product"
sed 's/{"copy": {"from"/{"memcpy": {"from"/' twice.json > wrong.json
expect 2 'then, step 0 needs one of copy, fill, entry' "$bitwell" run wrong.json

# What was reserved and never touched. The example fills its tiles, and 12 bytes behind its last variable are the linker's.
expect 0 "  shared memory: 24,608 bytes reserved, 24,596 touched; never: 24,596 to 24,607
  tensor memory: 64 columns allocated, 64 touched
" "$bitwell" run tile.json -v
said=$("$bitwell" run tile.json)
[[ "$said" == *touched* || "$said" == *"a device holds"* ]] && fail "padding and residency are told though they say nothing: $said"
cat > waste.ptx <<'P'
.version 9.0
.target sm_100a
.address_size 64
.visible .entry waste(.param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %a<2>;
  .shared .align 1024 .b8 bytes[3072]; .shared .align 8 .b64 bar; .shared .align 4 .b32 base;
  mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, %ctaid.x;
  @%p0 mbarrier.init.shared.b64 [bar], 1;
  @%p0 mbarrier.inval.shared.b64 [bar];
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;
  ld.shared.b32 %r2, [base]; mul.lo.u32 %r3, %r1, 8; add.u32 %r3, %r2, %r3;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%r3+16], {%r0, %r0};
  tcgen05.wait::st.sync.aligned;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
  shl.b32 %r4, %r0, 2; shl.b32 %r5, %r1, 10; add.u32 %r4, %r4, %r5; mov.u32 %r6, bytes; add.u32 %r4, %r4, %r6;
  st.shared.b32 [%r4+512], %r0;
  ld.param.u64 %a0, [out];
  @%p0 st.global.b32 [%a0], %r1;
  ret;
}
P
echo '{"ptx": "waste.ptx", "entry": "waste", "grid": [2], "block": [32], "arguments": [{"buffer": "out", "unwritten": 4}]}' > waste.json
expect 0 "  shared memory: 3,088 bytes reserved, 268 touched; never: 0 to 511, 640 to 1,535, 1,664 to 3,071, 3,084 to 3,087
    never touched of 'bytes': 2,816 of 3,072 bytes
  tensor memory: 64 columns allocated, 4 touched; never: 0 to 15, 18 to 23, 26 to 63" "$bitwell" run waste.json
expect 0 '"touched": 268' "$bitwell" run waste.json --json
expect 0 '"allocated": 64,' "$bitwell" run waste.json --json
expect 0 "  tensor memory: 64 columns allocated, 4 touched" "$bitwell" run waste.json --unchecked
! grep -q "shared memory: " <<< "$("$bitwell" run waste.json --unchecked)" || fail "a run without checks counts bytes of shared memory"
sed 's/st.shared.b32 \[%r4+512\], %r0;/@!%p0 st.shared.b32 [%r4+512], %r0;/; s/@%p0 mbarrier.inv/@!%p0 mbarrier.inv/' waste.ptx > less.ptx
sed 's/waste.ptx/less.ptx/' waste.json > less.json
sed -i 's/@!%p0 mbarrier.inv.*//' less.ptx
expect 0 "260 touched; never: 0 to 515, 640 to 1,539, 1,664 to 3,071, 3,084 to 3,087" "$bitwell" run less.json
expect 0 '"tensor_memory":{"allocated":64,"never":[[0,15],[18,23],[26,63]],"touched":4}' bash -c '"$0" run waste.json --json | tr -d " \n"' "$bitwell"
# Static and dynamic variables, and bytes between them that are nobody's.
cat > dynamic.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 buffers[];
.visible .entry parts()
{
  .reg .b32 %r<4>;
  .shared .align 16 .b8 first[512];
  .shared .align 16 .b8 unused[256];
  .shared .align 4 .b32 word;
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
  mov.u32 %r2, first; add.u32 %r2, %r2, %r1; st.shared.b32 [%r2], %r0;
  mov.u32 %r2, buffers; add.u32 %r2, %r2, %r1; st.shared.b32 [%r2+64], %r0;
  mov.u32 %r3, unused; st.shared.b32 [word], %r3;
  ret;
}
.visible .entry none() { ret; }
P
echo '{"ptx": "dynamic.ptx", "entry": "parts", "grid": [1], "block": [32], "dynamic_shared_bytes": 1024, "arguments": []}' > dynamic.json
expect 0 "  shared memory: 1,808 bytes reserved, 260 touched; never: 128 to 767, 772 to 847, 976 to 1,807
    never touched of 'first': 384 of 512 bytes; of 'unused': 256 of 256 bytes; of dynamic 'buffers': 896 of 1,024 bytes" "$bitwell" run dynamic.json
dynamic() { "$bitwell" run dynamic.json --json | tr -d " \n"; }
expect 0 '"shared_memory":{"never":[[128,767],[772,847],[976,1807]],"reserved":1808,"touched":260,"variables":[{"dynamic":false,"name":"first","offset":0,"reserved":512,"touched":128},' dynamic
expect 0 '{"dynamic":true,"name":"buffers","offset":784,"reserved":1024,"touched":128}' dynamic
sed -i 's/"parts"/"none"/; s/"arguments"/"then": [{"ptx": "dynamic.ptx", "entry": "none", "grid": [1], "block": [32], "arguments": []}], "arguments"/' dynamic.json
expect 0 "  shared memory of the first launch: 1,024 bytes reserved, 0 touched; never: 0 to 1,023" "$bitwell" run dynamic.json

# What 16-bit arithmetic loses: thread t adds t * 64 to 65472, and 0.25 to that.
cat > sums.ptx <<'P'
.version 8.7
.target sm_90a
.address_size 64
.visible .entry sums(.param .u64 out) {
  .reg .b32 %r0;
  .reg .b16 %h<4>;
  .reg .b64 %a<2>;
  mov.u32 %r0, %tid.x; mul.lo.u32 %r0, %r0, 64;
  cvt.rn.f16.u32 %h0, %r0;
  mov.b16 %h1, 0x7BFE; mov.b16 %h2, 0x3400;
  add.rn.f16 %h0, %h0, %h1;
  add.rn.f16 %h3, %h0, %h2;
  ld.param.u64 %a0, [out];
  mul.wide.u32 %a1, %r0, 2;
  add.u64 %a0, %a0, %a1;
  st.global.b16 [%a0], %h3;
  ret;
}
P
echo '{"ptx": "sums.ptx", "entry": "sums", "grid": [1], "block": [4], "arguments": [{"buffer": "out", "zeros": 512}]}' > sums.json
expect 0 "numeric: PTX line $(line sums.ptx add.rn), CTA (0,0,0), thread (1,0,0): add.rn.f16: 3 of 4 results are infinite, of finite operands, the first 64 + 65472 = inf" "$bitwell" run sums.json --numeric
expect 0 "thread (0,0,0): add.rn.f16: 1 of 1 results are what the larger term alone gives, the first 65472 + 0.25 = 65472" "$bitwell" run sums.json --numeric
expect 0 '"overflowed":{"count":3' bash -c '"$0" run sums.json --numeric --json | tr -d " \n"' "$bitwell"
! grep -q numeric <<< "$("$bitwell" run sums.json)" || fail "16-bit arithmetic is watched though nobody asked"
sed 's/64;/0;/; s/0x3400/0x5000/' sums.ptx > fine.ptx
sed 's/sums.ptx/fine.ptx/' sums.json > fine.json
expect 0 "numeric: no 16-bit result overflowed, and no 16-bit sum lost a term" "$bitwell" run fine.json --numeric
expect 2 "--numeric" "$bitwell" run sums.json --numeric --schedules 3
expect 0 "add.rn.f16: 1 of 1 results lose more than 0 bits of the smaller term, up to 1, the first 65472 + 0.25 = 65472" "$bitwell" run sums.json --numeric --numeric-bound 0
expect 0 '"lost_bits":{"bound":0,"count":1' bash -c '"$0" run sums.json --numeric --numeric-bound 0 --json | tr -d " \n"' "$bitwell"
expect 0 "and no 16-bit sum lost a term, or more than 3 bits of one" "$bitwell" run fine.json --numeric --numeric-bound 3
expect 2 "--numeric" "$bitwell" run sums.json --numeric-bound 3
# A matrix product says where in D: one thread adds 16 to 65504 in two rows.
cat > products.ptx <<'P'
.version 8.7
.target sm_90a
.address_size 64
.visible .entry products(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<8>;
  .reg .b64 %a<2>;
  mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 31; selp.b32 %r1, 0x7BFF0000, 0, %p;
  mov.b32 %r2, 0x3C003C00;
  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r3, %r4}, {%r2, %r2, %r2, %r2}, {%r2, %r2}, {%r1, %r1};
  ld.param.u64 %a0, [out];
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a0, %a0, %a1;
  st.global.b32 [%a0], %r3;
  ret;
}
P
sed 's/sums/products/g; s/"block": \[4\]/"block": [32]/' sums.json > products.json
expect 0 "2 of 128 results are infinite, of finite operands, the first products of 16 and 65504 = inf, in row 7, column 7 of D" "$bitwell" run products.json --numeric
# What a run that is made again to follow a race, or to measure its turns, adds is not counted again.
cat > raced.ptx <<'P'
.version 8.7
.target sm_90a
.address_size 64
.visible .entry raced(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b16 %h<4>; .reg .b64 %a<2>; .shared .align 4 .b8 word[256];
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, word; add.u32 %r3, %r2, %r1;
  st.shared.u32 [%r3], %r0;
  ld.shared.u32 %r2, [word];
  mov.b16 %h0, 0x7800; mov.b16 %h1, 0x3C00; add.rn.f16 %h2, %h0, %h1;
  ld.param.u64 %a0, [out]; mul.wide.u32 %a1, %r1, 2; add.u64 %a0, %a0, %a1;
  st.global.b32 [%a0], %r2; st.global.b16 [%a0+4], %h2;
  ret;
}
P
sed 's/sums/raced/g; s/"block": \[4\]/"block": [64]/' sums.json > raced.json
expect 1 "add.rn.f16: 64 of 64 results are what the larger term alone gives" "$bitwell" run raced.json --numeric --races
expect 0 "3 of 4 results are infinite, of finite operands" "$bitwell" run sums.json --numeric --schedule pct
expect 0 '"column":7,' bash -c '"$0" run products.json --numeric --json | tr -d " \n"' "$bitwell"

[ $failures -eq 0 ] && echo "a run shows what it is asked for"
exit $failures
