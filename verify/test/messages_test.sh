#!/usr/bin/env bash
# What messages say to a reader: CUDA lines of inlined functions, groups of findings, remedies, verdicts, faults as data,
# how far off an output is, and `bitwell judge`. Usage: messages_test.sh BITWELL
set -u
bitwell=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS WORDS COMMAND...: the command exits with it and says the words, on stdout or stderr.
expect() {
  local status=$1 words=$2 text got
  shift 2
  text=$("$@" 2>&1)
  got=$?
  [ $got -eq "$status" ] || fail "$* exits with $got (expected $status): $text"
  [[ "$text" == *"$words"* ]] || fail "$* does not say '$words': $text"
}

# A kernel that calls a helper in another file, as nvcc -lineinfo writes it: the helper's store is inlined at kernel.cu:4.
cat > helper.cuh <<'C'
// a helper
__device__ __forceinline__ void put(float* to, int i, float v) {
  to[i] = v;
}
C
cat > kernel.cu <<'C'
#include "helper.cuh"
template <int N> __global__ void scale(float* y) {
  int i = threadIdx.x;
  put(y, i + N, 2.0f);
}
C
cat > kernel.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry _Z5scaleILi3EEvPf(.param .u64 y)
{
.reg .b32 %r<4>;
.reg .b64 %q<4>;
.loc 1 3 3
ld.param.u64 %q0, [y];
mov.u32 %r0, %tid.x;
mul.wide.u32 %q1, %r0, 4;
add.u64 %q0, %q0, %q1;
mov.b32 %r1, 0f40000000;
.loc 1 4 3
.loc 2 3 3, function_name $L__info_string0, inlined_at 1 4 3
st.global.b32 [%q0+12], %r1;
.loc 1 5 1
ret;
}
.file 1 "kernel.cu"
.file 2 "helper.cuh"
.section .debug_str
{
$L__info_string0:
.b8 112
}
P
touch -d '1 hour ago' helper.cuh kernel.cu
echo '{"ptx": "kernel.ptx", "entry": "scale", "grid": [1], "block": [32], "arguments": [{"buffer": "y", "unwritten": 128, "output": "y.npy"}]}' > kernel.json
expect 1 "PTX line 16 (helper.cuh:3, from kernel.cu:4), CTA (0,0,0), thread (29,0,0): out-of-bounds write" "$bitwell" run kernel.json
expect 1 "
  helper.cuh:3 | to[i] = v;
  kernel.cu:4 | put(y, i + N, 2.0f);" "$bitwell" run kernel.json
touch kernel.cu
expect 1 "kernel.cu:4 | put(y, i + N, 2.0f);   (the file is newer than the PTX)" "$bitwell" run kernel.json
touch -d '1 hour ago' kernel.cu
rm helper.cuh
[[ "$("$bitwell" run kernel.json 2>&1)" == *"helper.cuh:3 |"* ]] && fail "a file that is not there is shown"
expect 2 "the nearest that it names is kernel.cu:5" "$bitwell" run kernel.json --dump shared@kernel.cu:9
expect 2 "it names lines of helper.cuh, kernel.cu" "$bitwell" run kernel.json --dump shared@other.cu:9
expect 1 "at visit 1 of PTX line 16 'st.global.b32' (helper.cuh:3, from kernel.cu:4)" "$bitwell" run kernel.json --dump shared@kernel.cu:4
# The same as data.
"$bitwell" run kernel.json --json > fault.json 2> /dev/null
[ $? = 1 ] || fail "a fault with --json is no failure"
"$bitwell" run kernel.json --trace trace.json > /dev/null 2>&1
python3 - <<'P' || fail "the fault as data"
import json
f = json.load(open("fault.json"))["fault"]
assert f["kind"] == "access" and f["ptx_line"] == 16, f
assert (f["source"], f["inlined_at"]) == ("helper.cuh:3", ["kernel.cu:4"]), f
assert f["cta"] == [0, 0, 0] and f["thread"] == [29, 0, 0], f
assert f["access"]["kind"] == "write" and f["access"]["bytes"] == 4 and f["access"]["buffer"] == "y", f
P

# Two warps, a word that one writes in an inlined helper and the other reads, by two instructions of one line each.
race() { # race BETWEEN
  cat <<P
.version 9.0
.target sm_90a
.address_size 64
.visible .entry _Z4swapPf(.param .u64 y)
{
.reg .pred %p<2>;
.reg .b32 %r<6>;
.reg .b64 %q<3>;
.shared .align 4 .b8 _ZZ4swapPfE4tile[256];
ld.param.u64 %q0, [y];
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, _ZZ4swapPfE4tile;
add.u32 %r2, %r2, %r1;
st.shared.b32 [%r2], 0;
bar.sync 0;
.loc 1 4 3
.loc 2 3 3, function_name \$L__info_string0, inlined_at 1 4 3
st.shared.b16 [%r2], 1;
st.shared.b16 [%r2+2], 1;
$1
.loc 1 6 3
xor.b32 %r3, %r1, 128;
mov.u32 %r4, _ZZ4swapPfE4tile;
add.u32 %r3, %r3, %r4;
ld.shared.b32 %r5, [%r3];
mul.wide.u32 %q1, %r0, 4;
add.u64 %q0, %q0, %q1;
st.global.b32 [%q0], %r5;
ret;
}
.file 1 "kernel.cu"
.file 2 "helper.cuh"
.section .debug_str
{
\$L__info_string0:
.b8 112
}
P
}
race "" > racy.ptx
race "bar.sync 0;" > right.ptx
race "bar.warp.sync -1;" > warp.ptx
for k in racy right warp; do
  echo "{\"ptx\": \"$k.ptx\", \"entry\": \"swap\", \"grid\": [1], \"block\": [64], \"arguments\": [{\"buffer\": \"y\", \"unwritten\": 256, \"output\": \"y.npy\", \"dtype\": \"u4\"}]}" > $k.json
done
expect 1 "error race at byte 0 ('swap(float*)::tile' + 0)" "$bitwell" run racy.json --races
expect 1 "write, PTX line 19 (helper.cuh:3, from kernel.cu:4) st.shared.b16" "$bitwell" run racy.json --races
expect 1 "  read, PTX line 26 (kernel.cu:6) ld.shared.b32" "$bitwell" run racy.json --races
expect 1 "    kernel.cu:4 | put(y, i + N, 2.0f);
  would order them: " "$bitwell" run racy.json --races
expect 1 "  2 pairs of instructions of these lines, 128 times in all; --all shows each" "$bitwell" run racy.json --races
expect 1 "would order them: __syncthreads (bar.sync) that both reach, between them" "$bitwell" run racy.json --races
[ "$("$bitwell" run racy.json --races | grep -c 'error race')" = 1 ] || fail "one mistake is not one finding"
[ "$("$bitwell" run racy.json --races --all | grep -c 'error race')" = 4 ] || fail "--all does not show each"
[ "$("$bitwell" run racy.json --races | tail -1)" = "FAILED: 1 race" ] || fail "the verdict is not the last line"
[ "$("$bitwell" run right.json --races | tail -1)" = "held: 0 races" ] || fail "the verdict is not the last line"
"$bitwell" run racy.json --races --json --junit racy.xml --sarif racy.sarif > racy.out
python3 - <<'P' || fail "JSON, JUnit or SARIF of a race"
import json, xml.etree.ElementTree as tree
found = json.load(open("racy.out"))["races"]
assert len(found) == 4 and {f["group"] for f in found} == {0}, found
assert found[0]["later"]["source"] == "helper.cuh:3" and found[0]["later"]["inlined_at"] == ["kernel.cu:4"], found
cases = [c for c in tree.parse("racy.xml").getroot().iter("testcase")]
assert [c.get("classname") for c in cases] == ["swap(float*)"] * 2, [c.attrib for c in cases]
assert sum(c.find("failure") is not None for c in cases) == 1
results = json.load(open("racy.sarif"))["runs"][0]["results"]
assert len(results) == 1 and results[0]["occurrenceCount"] == 128, results
def place(p):
    return p["physicalLocation"]["artifactLocation"]["uri"], p["physicalLocation"]["region"]["startLine"]
assert place(results[0]["locations"][0]) == ("kernel.cu", 4), results
assert [place(p) for p in results[0]["relatedLocations"]] == [("kernel.cu", 6), ("helper.cuh", 3)], results
assert "_Z" not in results[0]["message"]["text"], results
P

# judge: one report, one status.
expect 1 "FAILED: 1 race, 8 schedules " "$bitwell" judge racy.json
expect 0 "held: 0 races, 8 schedules agree" "$bitwell" judge right.json
expect 1 "FAILED: a fault" "$bitwell" judge kernel.json
sed 's/ret;/ld.param.u64 %q0, [y]; sust.p.1d.b32.trap [%q0, {%r0}], %r0; ret;/' right.ptx > odd.ptx
sed 's/right/odd/' right.json > odd.json
expect 3 "FAILED: the PTX cannot be run" "$bitwell" judge odd.json
"$bitwell" judge racy.json --json --junit judge.xml --sarif judge.sarif > judge.out
python3 - <<'P' || fail "what judge writes"
import json, xml.etree.ElementTree as tree
j = json.load(open("judge.out"))
assert j["held"] is False and j["verdict"].startswith("FAILED: 1 race"), j["verdict"]
assert j["check"]["findings"] == [] and len(j["run"]["races"]) == 4 and j["schedules"]["schedules"] == 8, j
names = [c.get("name") for c in tree.parse("judge.xml").getroot().iter("testcase")]
assert names[:2] == ["everything is supported", "runs to its end"] and names[-1] == "the same under every schedule", names
assert len(json.load(open("judge.sarif"))["runs"][0]["results"]) == 1
P

# A deadlock as data.
cat > stuck.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
.reg .pred %p;
.reg .b32 %r;
mov.u32 %r, %tid.x;
setp.lt.u32 %p, %r, 32;
@%p bra L;
bar.sync 1, 64;
ret;
L:
bar.sync 2, 64;
ret;
}
P
echo '{"ptx": "stuck.ptx", "entry": "k", "grid": [1], "block": [64], "arguments": []}' > stuck.json
"$bitwell" run stuck.json --json > stuck.out 2> /dev/null
python3 - <<'P' || fail "a deadlock as data: $(cat stuck.out)"
import json
f = json.load(open("stuck.out"))["fault"]
assert f["kind"] == "deadlock" and len(f["waiters"]) == 2, f
assert {w["ptx_line"] for w in f["waiters"]} == {11, 14}, f
assert all(w["threads"] == 32 and w["instruction"] == "bar.sync" and "arrived of 64" in w["waits"] for w in f["waiters"]), f
P

# Sums that ptxas may fuse, and those that it may not.
sums() { # sums PRODUCT SUM OPERAND
  cat <<P
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y)
{
.reg .f32 %f<6>;
.reg .b64 %q;
ld.param.u64 %q, [y];
ld.global.f32 %f1, [%q];
$1 %f2, %f1, %f1;
mov.f32 %f3, %f2;
.loc 1 4 3
$2 %f4, $3, %f1;
$2 %f5, %f4, $3;
st.global.f32 [%q], %f5;
ret;
}
.file 1 "kernel.cu"
P
}
sums mul.f32 add.f32 %f3 > fused.ptx
expect 0 "of the product of PTX line 10, neither with a rounding modifier: ptxas may fuse them; 2 such sums on this line" "$bitwell" check fused.ptx
expect 0 "2 sums of a product that ptxas may fuse: to keep them apart, nvcc -fmad=false" "$bitwell" check fused.ptx
sums mul.rn.f32 add.f32 %f3 > apart.ptx
expect 0 "every bit is fixed by the PTX" "$bitwell" check apart.ptx
sums mul.f32 add.rn.f32 %f3 > apart.ptx
expect 0 "every bit is fixed by the PTX" "$bitwell" check apart.ptx
sums mul.f32 add.f32 %f1 > apart.ptx
expect 0 "every bit is fixed by the PTX" "$bitwell" check apart.ptx

# How far off: y = (1, 2, ... 8) / 8 + what an f16 holds of a reference in f64.
cat > copy.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y)
{
.reg .b32 %r<2>; .reg .b16 %h; .reg .b64 %q<3>;
ld.param.u64 %q0, [x]; ld.param.u64 %q1, [y];
mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 2;
add.u64 %q0, %q0, %q2; add.u64 %q1, %q1, %q2;
ld.global.b16 %h, [%q0]; st.global.b16 [%q1], %h;
ret;
}
P
python3 - <<'P'
import struct
def save(path, code, values):
    head = str({"descr": "<f" + str(struct.calcsize(code)), "fortran_order": False, "shape": (len(values),)}).ljust(117) + "\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values))
half = lambda v: struct.unpack("<e", struct.pack("<e", v))[0]
want = [1 / 3 + i for i in range(32)]
got = [half(v) for v in want]
got[7] += 2 ** -8 * 8          # 8 ULP of [4, 8), two of the largest
want[9], got[9] = 0.0, 2.0 ** -20
save("x.npy", "e", got)
save("want.npy", "d", want)
P
copied() { echo "{\"ptx\": \"copy.ptx\", \"entry\": \"copy\", \"grid\": [1], \"block\": [32], \"arguments\": [{\"buffer\": \"x\", \"npy\": \"x.npy\"}, {\"buffer\": \"y\", \"unwritten\": 64, \"dtype\": \"f2\", \"expected\": \"want.npy\", \"tolerance\": $1}]}" > copied.json; }
copied '{"ulp": 1}'
text=$("$bitwell" run copied.json 2>&1)
[[ "$text" == *"30 are the expected number rounded to f2; off by 8 to 15 ULP: 1, 16 to 31 ULP: 1; 1 of these by less than the last place of the largest expected number"* ]] || fail "classes: $text"
[[ "$text" == *"    largest error 0.02"*" at [7], relative 0.00"* ]] || fail "largest error: $text"
[[ "$(echo "$text" | tail -1)" == "FAILED: 2 wrong elements" ]] || fail "the verdict: $text"
copied '{"atol": 0.05}'
expect 0 "% of the tolerance, at [7]" "$bitwell" run copied.json
expect 0 "held: 0 wrong elements" "$bitwell" run copied.json
exit $((failures != 0))
