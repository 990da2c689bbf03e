#!/usr/bin/env bash
# What the data of findings comes to, by a second run: `bitwell run --races --explain`. Usage: explain_test.sh BITWELL
set -u
bitwell=$(realpath "$1")
catalogue=$(realpath "$(dirname "$0")/../bugs/catalogue")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# says STATUS WORDS OPTIONS...: `bitwell run OPTIONS` exits with it and says the words.
says() {
  local status=$1 words=$2 text
  shift 2
  text=$("$bitwell" run "$@" 2>&1)
  local got=$?
  [ $got -eq "$status" ] || fail "$* exits with $got (expected $status): $text"
  case "$text" in *"$words"*) ;; *) fail "$* does not say '$words': $text" ;; esac
}

# kernel NAME BODY: two warps; warp 1 writes the word that warp 0 then reads from line 12 on, which is BODY's first.
kernel() {
  cat > "$1.ptx" <<P
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y, .param .u32 n)
{
.reg .b32 %r<16>; .reg .b64 %a<8>; .reg .pred %p<4>; .shared .align 128 .b8 word[4096];
ld.param.u64 %a0, [y]; ld.param.u32 %r9, [n]; mov.u32 %r0, %tid.x; and.b32 %r7, %r0, 31; mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a0, %a1;
mov.u32 %r8, word; shl.b32 %r6, %r0, 2; add.u32 %r6, %r8, %r6; st.shared.u32 [%r6], 1; bar.sync 0; setp.ge.u32 %p0, %r0, 32;
setp.lt.u32 %p1, %r0, 1;
@%p0 bra writes;
bra reads;
$2
writes:
st.shared.u32 [word], %r7;
done:
ret;
}
P
  cat > "$1.json" <<J
{"ptx": "$1.ptx", "entry": "k", "grid": [1], "block": [64],
 "arguments": [{"buffer": "y", "zeros": 1024, "output": "y.npy"}, {"type": "u32", "value": 0}]}
J
}

# What is read comes to outputs, to the byte.
kernel output $'reads:\nld.shared.u32 %r1, [word];\nadd.u32 %r1, %r1, 5;\nst.global.u32 [%a1+64], %r1;\nbra done;'
says 1 "error race" output.json --races
says 1 "on this run 128 bytes of 'y' come of it, the first byte 64, by PTX line 15 st.global.u32" output.json --races --explain
kernel byte $'reads:\nld.shared.u32 %r1, [word];\nand.b32 %r1, %r1, 0xFF00;\n@%p1 st.global.u32 [%a1+8], %r1;\nbra done;'
says 1 "on this run 1 byte of 'y' comes of it, byte 9, by PTX line 15" byte.json --races --explain
# Through shared memory, shuffles and an atomic.
kernel around $'reads:\nld.shared.u32 %r1, [word];\nst.shared.u32 [word+2048], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r2, [word+2048];\nshfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\n@%p1 red.global.add.u32 [%a1], %r3;\nbra done;'
says 1 "on this run 4 bytes of 'y' come of it, the first byte 0, by PTX line 18 red.global" around.json --races --explain
# By an operation.
kernel bulk $'reads:\nfence.proxy.async.shared::cta;\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%a0], [word], 32;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbra done;'
says 1 "of 'y' come of it, the first byte 0, by PTX line 14 cp.async.bulk" bulk.json --races --explain

# To a surface.
kernel surface $'reads:\nld.shared.u32 %r1, [word];\nshl.b32 %r2, %r0, 2;\nsust.b.1d.b32.trap [%a0, {%r2}], {%r1};\nbra done;'
cat > surface.json <<'J'
{"ptx": "surface.ptx", "entry": "k", "grid": [1], "block": [64], "buffers": [{"buffer": "y", "zeros": 1024, "output": "y.npy"}],
 "textures": [{"texture": "s", "over": "y", "format": "u32", "width": 256}],
 "arguments": [{"surface": "s"}, {"type": "u32", "value": 0}]}
J
says 1 "error race" surface.json --races
says 1 "can come to an output: PTX lines 13 ld.shared.u32, 15 sust" surface.json --races --explain
says 1 "on this run it is used as what is stored into a surface by PTX line 15 sust" surface.json --races --explain

# What decides or addresses is not followed further.
kernel branch $'reads:\nld.shared.u32 %r1, [word];\nsetp.eq.u32 %p2, %r1, 77;\n@%p2 bra done;\nbra done;'
says 1 "it is used as a guard predicate by PTX line 15" branch.json --races --explain
kernel address $'reads:\nld.shared.u32 %r1, [word];\nadd.u32 %r1, %r1, %r8;\nld.shared.u8 %r2, [%r1];\nbra done;'
says 1 "it is used as an address by PTX line 15" address.json --races --explain
kernel tensor $'reads:\nld.shared.u32 %r1, [word];\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r1,%r1}, {%r1}, {%r9,%r9,%r9,%r9};\nst.global.u32 [%a1], %r2;\nbra done;'
says 1 "it is used as a matrix operand by PTX line 14" tensor.json --races --explain

# Nothing can come of it: silent, but counted. A path that was not taken: a note; --strict: an error.
kernel padding $'reads:\nld.shared.u32 %r1, [word];\nadd.u32 %r2, %r1, 5;\nbra done;'
says 0 "0 races and the like" padding.json --races
says 0 "1 finding of values that come to no output, no branch and no address: --explain lists it" padding.json --races
says 0 "nothing race at byte" padding.json --races --explain --error-on note
says 0 "1 finding of values" padding.json --races --strict
kernel untaken $'reads:\nld.shared.u32 %r1, [word];\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 st.global.u32 [%a1], %r1;\nbra done;'
says 0 "note race" untaken.json --races
says 0 "on this run it comes to no output, no branch and no address" untaken.json --races
says 0 "can come to an output: PTX lines 13 ld.shared.u32" untaken.json --races --explain
says 1 "note race" untaken.json --races --error-on note
says 1 "error race" untaken.json --races --strict

# A launch that names no output: all that is stored may be one, so that what decides is the PTX alone.
for k in output padding; do sed 's/"zeros": 1024, "output": "y.npy"/"unwritten": 1024/' $k.json > $k-unnamed.json; done
says 1 "error race" output-unnamed.json --races
says 0 "1 finding of values" padding-unnamed.json --races

# The bytes of one read alone, and not those of the next: one is silent, one an error.
kernel twice $'reads:\nld.shared.u32 %r1, [word];\nld.shared.u32 %r2, [word];\nst.global.u32 [%a1], %r2;\nbra done;'
says 1 "1 races and the like" twice.json --races
says 1 "1 finding of values" twice.json --races

# Of two writes what stands there then.
kernel writes $'reads:\nst.shared.u32 [word], 3;\nbar.sync 1, 32;\nld.shared.u32 %r1, [word];\n@%p1 st.global.u32 [%a1], %r1;\nbra done;'
says 1 "error race" writes.json --races
sed 's/^st.shared.u32 \[word\], %r7;/st.global.u32 [%a0], %r7;/; s/^st.shared.u32 \[word\], 3;/st.global.u32 [%a0], %r0;/' writes.ptx > global.ptx
sed 's/writes/global/' writes.json > global.json
says 1 "on this run 4 bytes of 'y' come of it, the first byte 0" global.json --races --explain

# The read that came first: of a loop the last round before the write, whose sum is stored.
cat > war.ptx <<'P'
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y, .param .u32 n)
{
.reg .b32 %r<16>; .reg .b64 %a<8>; .reg .pred %p<4>; .shared .align 128 .b8 word[4096];
ld.param.u64 %a0, [y]; mov.u32 %r0, %tid.x; mov.u32 %r8, word; shl.b32 %r6, %r0, 2; add.u32 %r6, %r8, %r6; st.shared.u32 [%r6], 1;
setp.ge.u32 %p0, %r0, 32; setp.eq.u32 %p1, %r0, 0; mov.u32 %r3, 0; bar.sync 0;
again:
@!%p0 ld.shared.u32 %r1, [word];
setp.eq.u32 %p2, %r3, 0;
@%p2 bar.sync 0;
@!%p0 mul.wide.u32 %a2, %r3, 16;
@!%p0 add.u64 %a2, %a0, %a2;
@%p1 st.global.u32 [%a2], %r1;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p2, %r3, 3;
@%p2 bra again;
@%p0 st.shared.u32 [word], 2;
ret;
}
P
sed 's/output.ptx/war.ptx/' output.json > war.json
says 1 "on this run 4 bytes of 'y' come of it, the first byte 32, by PTX line 15" war.json --races --explain

# Columns of tensor memory that are written over when the load's registers have been used, but without wait::ld: a note,
# an error under --strict; before that an error. Notes are explained too.
planted() { sed -e '/\/\/+/{/\/\/+.*'"$2"'/!d}' -e '/\/\/-.*'"$2"'/d' "$catalogue/$1.ptx" > "$2.ptx"
  echo "{\"ptx\": \"$2.ptx\", \"entry\": \"kernel\", \"grid\": [1], \"block\": [128], \"arguments\": [{\"buffer\": \"in\", \"zeros\": 4}, {\"buffer\": \"out\", \"zeros\": 512, \"output\": \"out.npy\"}]}" > "$2.json"; }
planted tmem_used stored-over-once-used
planted tmem_used stored-over-half-used
says 0 "when its registers have been used, but without tcgen05.wait::ld" stored-over-once-used.json
says 1 "when its registers have been used, but without tcgen05.wait::ld" stored-over-once-used.json --strict
says 0 "note tcgen05-wait-used" stored-over-once-used.json --races
says 0 "on this run 512 bytes of 'out' come of it, the first byte 0" stored-over-once-used.json --races --explain
says 1 "tcgen05.wait::ld is missing" stored-over-half-used.json
# A note of the race check alone: --strict makes it an error.
planted tmem_used_handover handed-back-once-used
sed -i 's/"block": .128./"block": [160]/; s/"zeros": 512/"zeros": 640/' handed-back-once-used.json
says 0 "note tcgen05-wait-used" handed-back-once-used.json --races
says 1 "error tcgen05-wait-used" handed-back-once-used.json --races --strict
# An operation reads: what goes into an MMA is tried with other bits.
planted mma_refill second-proxy-fence-missing
says 1 "bytes of 'out' come out otherwise, the first byte" second-proxy-fence-missing.json --races --explain

# Lanes that exchange by volatile accesses and lockstep alone: a note, under --strict an error.
planted volatile_lockstep lockstep-for-a-barrier
sed -i 's/"block": .128./"block": [32]/; s/"zeros": 4}/"zeros": 128}/; s/"zeros": 512/"zeros": 128/' lockstep-for-a-barrier.json
says 0 "note warp-lockstep" lockstep-for-a-barrier.json --races
says 1 "error warp-lockstep" lockstep-for-a-barrier.json --races --strict

# For machines.
"$bitwell" run output.json --races --explain --json > output.out
"$bitwell" run padding.json --races --json --sarif padding.sarif > padding.out
"$bitwell" run padding.json --races --explain --json > listed.out
"$bitwell" run untaken.json --races --json --sarif untaken.sarif > untaken.out
python3 - <<'P' || fail "JSON or SARIF"
import json
(race,) = json.load(open("output.out"))["races"]
run = race["on_this_run"]
assert run["outputs"] == [{"buffer": "y", "bytes": 128, "first_byte": 64, "ptx_line": 15}], run
assert run["uses"] == [] and run["places"] == run["of"] == race["count"], run
padding, listed = json.load(open("padding.out")), json.load(open("listed.out"))
assert padding["races"] == [] and padding["silent_races"] == 1, padding
assert [r["level"] for r in listed["races"]] == ["nothing"] and listed["races"][0]["reaches"]["end"] == "nothing", listed
assert json.load(open("padding.sarif"))["runs"][0]["results"] == []
(note,) = json.load(open("untaken.out"))["races"]
assert note["level"] == "note" and note["on_this_run"]["outputs"] == [], note
assert [r["level"] for r in json.load(open("untaken.sarif"))["runs"][0]["results"]] == ["note"]
P
exit $((failures != 0))
