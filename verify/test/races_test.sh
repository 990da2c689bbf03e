#!/usr/bin/env bash
# What tools read of `bitwell run --races`: exit status, JSON and SARIF. Usage: races_test.sh BITWELL
set -u
bitwell=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# exits STATUS COMMAND...: the command exits with it.
exits() {
  local status=$1 text
  shift
  text=$("$@" 2>&1)
  local got=$?
  [ $got -eq "$status" ] || fail "$* exits with $got (expected $status): $text"
}

# Two warps, one word: a race at lines 10 and 11, ordered by a barrier in the other kernel.
kernel() {
  cat <<P
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k()
{
.reg .b32 %r<4>;
.shared .align 4 .b8 word[4];
.reg .pred %p<2>;
mov.u32 %r1, 0; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [word], 1; bar.sync 0; setp.eq.u32 %p0, %r0, 32;
@%p0 st.shared.u32 [word], %r0;
$1 setp.eq.u32 %p0, %r0, 0; @%p0 ld.shared.u32 %r1, [word]; setp.eq.u32 %p1, %r1, 99; @%p1 trap;
ret;
}
P
}
kernel "" > racy.ptx
kernel "bar.sync 0;" > clean.ptx
for k in racy clean; do echo "{\"ptx\": \"$k.ptx\", \"entry\": \"k\", \"grid\": [1], \"block\": [64], \"arguments\": []}" > $k.json; done

exits 0 "$bitwell" run clean.json --races --sarif clean.sarif
exits 1 "$bitwell" run racy.json --races --sarif racy.sarif
exits 0 "$bitwell" run racy.json --races --error-on none
exits 1 "$bitwell" run racy.json --races --error-on note
exits 2 "$bitwell" run racy.json --races --error-on warning
exits 2 "$bitwell" run racy.json --sarif racy.sarif
exits 2 "$bitwell" run racy.json --explain
# What the racy load reads decides a branch; stored, it is an output.
grep -q "comes to no output, but can decide a branch" <<< "$("$bitwell" run racy.json --races --explain)" || fail "--explain of a branch"
sed 's/^ret;/.reg .b64 %a; ld.param.u64 %a, [p];\n@%p0 st.global.u32 [%a], %r1;\nret;/; s/entry k()/entry k(.param .u64 p)/' racy.ptx > used.ptx
echo '{"ptx": "used.ptx", "entry": "k", "grid": [1], "block": [64], "arguments": [{"buffer": "p", "zeros": 4}]}' > used.json
grep -q "can come to an output: PTX lines 11 .*, 13 st.global.u32" <<< "$("$bitwell" run used.json --races --explain)" || fail "--explain of an output: $("$bitwell" run used.json --races --explain 2>&1)"
"$bitwell" run racy.json --races --json > racy.out
python3 - <<'P' || fail "JSON or SARIF"
import json
assert json.load(open("clean.sarif"))["runs"][0]["results"] == []
run = json.load(open("racy.sarif"))["runs"][0]
assert [r["id"] for r in run["tool"]["driver"]["rules"]] == ["race"], run
(result,) = run["results"]
place = result["locations"][0]["physicalLocation"]
assert (result["ruleId"], result["level"]) == ("race", "error"), result
assert sorted(l["physicalLocation"]["region"]["startLine"] for l in result["locations"] + result["relatedLocations"]) == [10, 11], result
assert place["artifactLocation"]["uri"].endswith("racy.ptx") and "bar.sync" in result["message"]["text"], result
(race,) = json.load(open("racy.out"))["races"]
assert sorted((race["earlier"]["access"], race["later"]["access"])) == ["read", "write"], race
assert sorted((race["earlier"]["lane"] + 32 * race["earlier"]["warp"], race["later"]["lane"] + 32 * race["later"]["warp"])) == [0, 32], race
assert sorted(race["lines"]) == [10, 11] and race["bytes"] == 4 and race["remedy"], race
P
# Textures are read through caches that no write of the same launch reaches: one before, with a barrier between them, is
# found; one behind is a note. Surfaces may be changed in place.
image() {
  cat > "$1.ptx" <<P
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 m, .param .u64 y)
{
.reg .b32 %r<8>; .reg .b64 %a<8>;
ld.param.u64 %a0, [t]; ld.param.u64 %a1, [s]; ld.param.u64 %a2, [m]; ld.param.u64 %a3, [y]; mov.u32 %r0, %tid.x; mul.wide.u32 %a4, %r0, 4; add.u64 %a2, %a2, %a4; add.u64 %a3, %a3, %a4; shl.b32 %r1, %r0, 2;
$2
st.global.u32 [%a3], %r2;
ret;
}
P
  cat > "$1.json" <<J
{"ptx": "$1.ptx", "entry": "k", "grid": [1], "block": [32], "buffers": [{"buffer": "m", "zeros": 128}],
 "textures": [{"texture": "t", "over": "m", "format": "u32", "width": 32}, {"texture": "s", "over": "m", "format": "u32", "width": 32}],
 "arguments": [{"texture": "t"}, {"surface": "s"}, {"pointer": "m"}, {"buffer": "y", "unwritten": 128, "output": "y.npy"}]}
J
}
fetch='tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%a0, {%r0}];'
load='suld.b.1d.b32.trap {%r2}, [%a1, {%r1}];'
store='sust.b.1d.b32.trap [%a1, {%r1}], {%r0};'
image fetched-behind "st.global.u32 [%a2], %r0; bar.sync 0;
$fetch"
image changed-behind "$fetch
st.global.u32 [%a2], %r0;"
image in-place "$load
$store"
exits 1 "$bitwell" run fetched-behind.json --races
grep -q "^error non-coherent at" <<< "$("$bitwell" run fetched-behind.json --races)" || fail "a fetch behind a write is not found"
exits 0 "$bitwell" run changed-behind.json --races
grep -q "^note non-coherent-war at" <<< "$("$bitwell" run changed-behind.json --races)" || fail "no note of a write behind a fetch"
grep -q "^note\|^error" <<< "$("$bitwell" run in-place.json --races)" && fail "a surface changed in place is found"

# A flag between CTAs: the remedy names the side on which the release, the acquire or the scope is missing.
flag() {
  cat > "$1.ptx" <<P
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 w, .param .u64 y)
{
.reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p<4>;
ld.param.u64 %a0, [w]; ld.param.u64 %a1, [y]; mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra reads;
st.global.u32 [%a0], 42; $2 ret;
reads:
$3 setp.eq.u32 %p1, %r1, 0; @%p1 bra reads;
ld.global.u32 %r2, [%a0]; st.global.u32 [%a1], %r2; ret;
}
P
  echo "{\"ptx\": \"$1.ptx\", \"entry\": \"k\", \"grid\": [2], \"block\": [1], \"arguments\": [{\"buffer\": \"w\", \"zeros\": 8}, {\"buffer\": \"y\", \"zeros\": 4, \"output\": \"y.npy\"}]}" > "$1.json"
}
# says NAME KIND SIDE: an error of that kind, whose remedy is on the side of the first or the second.
says() {
  local text
  text=$("$bitwell" run "$1.json" --races 2>&1)
  case "$text" in *"error $2 "*"on the side of the $3"*) ;; *) fail "$1: no $2 on the side of the $3: $text" ;; esac
}
released='st.release.gpu.global.u32 [%a0+4], 1;' relaxed='st.relaxed.gpu.global.u32 [%a0+4], 1;'
acquired='ld.acquire.gpu.global.u32 %r1, [%a0+4];' seen='ld.relaxed.gpu.global.u32 %r1, [%a0+4];'
flag both "$released" "$acquired"
exits 0 "$bitwell" run both.json --races
flag unreleased "$relaxed" "$acquired"
says unreleased release first
flag unacquired "$released" "$seen"
says unacquired release second
flag narrow-release "fence.acq_rel.cta; $relaxed" "$acquired"
says narrow-release scope first
flag narrow-acquire "$released" "ld.acquire.cta.global.u32 %r1, [%a0+4];"
says narrow-acquire scope second
grep -q '"remedy": *"an acquire at the load' <<< "$("$bitwell" run unacquired.json --races --json)" || fail "the remedy of one side in JSON"

exit $((failures != 0))
