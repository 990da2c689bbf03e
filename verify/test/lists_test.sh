#!/usr/bin/env bash
# bitwell run --races of launch files with "then": launches in order on a stream, those that overlap, and what tools read of
# them; and what --exhaust, --schedules and --device do with such files. Usage: lists_test.sh BITWELL
set -u
bitwell=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# exits STATUS WORDS COMMAND...: the command exits with it and says the words.
exits() {
  local status=$1 words=$2 text
  shift 2
  text=$(timeout 100 "$@" 2>&1)
  local got=$?
  [ $got -eq "$status" ] || fail "$* exits with $got (expected $status): $text"
  case "$text" in *"$words"*) ;; *) fail "$* does not say '$words': $text" ;; esac
}
# module FILE ENTRY BODY: `a` and `b` are places of the thread in its two buffers; the body begins at line 15.
module() {
  cat > "$1" <<P
.version 9.0
.target sm_90a
.address_size 64
.visible .entry $2(.param .u64 from, .param .u64 to)
{
.reg .b64 %a, %b, %t;
.reg .b32 %r<4>;
.reg .pred %p0;
.shared .align 4 .b8 word[4];
ld.param.u64 %a, [from]; ld.param.u64 %b, [to];
mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;
mul.wide.u32 %t, %r0, 4;
add.u64 %a, %a, %t;
add.u64 %b, %b, %t;
$3
ret;
}
P
}
module produce.ptx produce $'griddepcontrol.launch_dependents;\nld.global.u32 %r1, [%a];\nst.global.u32 [%b], %r0;'
module add.ptx add $'griddepcontrol.wait;\nld.global.u32 %r1, [%a];\nst.global.u32 [%b], %r1;'
module hasty.ptx add $'\nld.global.u32 %r1, [%a];\nst.global.u32 [%b], %r1;'
module racy.ptx racy $'@%p0 st.shared.u32 [word], 1; setp.eq.u32 %p0, %r0, 32;\n@%p0 ld.shared.u32 %r1, [word];\nst.global.u32 [%b], %r0;'
# list FILE STEP...: x is produced into y, then the steps.
list() {
  local file=$1 steps="" s
  shift
  for s in "$@"; do steps="$steps${steps:+, }$s"; done
  cat > "$file" <<J
{"ptx": "produce.ptx", "entry": "produce", "block": [64],
 "buffers": [{"buffer": "x", "zeros": 256}, {"buffer": "y", "zeros": 256, "output": "y.bin"}, {"buffer": "z", "zeros": 256, "output": "z.bin"}],
 "arguments": [{"pointer": "x"}, {"pointer": "y"}], "then": [$steps]}
J
}
# launch PTX ENTRY FROM TO [MORE]
launch() { echo "{\"ptx\": \"$1\", \"entry\": \"$2\", \"block\": [64], \"arguments\": [{\"pointer\": \"$3\"}, {\"pointer\": \"$4\"}]${5:-}}"; }
early=', "programmatic_stream_serialization": true'

# One behind the other, with a wait, or without what lets it overlap: nothing is found.
list waits.json "$(launch add.ptx add y z "$early")"
list plain.json "$(launch hasty.ptx add y z)"
list copied.json "{\"copy\": {\"from\": \"y\", \"to\": \"z\"}}" "$(launch hasty.ptx add z y)" "{\"fill\": {\"buffer\": \"z\"}}" "$(launch hasty.ptx add y z)"
for l in waits plain copied; do
  exits 0 "0 races and the like" "$bitwell" run $l.json --races --error-on note
  python3 -c "print(' '.join(map(str, __import__('struct').unpack('<64I', open('z.bin', 'rb').read()))))" > z.txt
  [ "$(cat z.txt)" = "$(seq -s ' ' 0 63)" ] || fail "$l leaves $(cat z.txt)"
done
# Without its wait: both accesses, each with its launch, entry, file and line.
list hasty.json "$(launch hasty.ptx add y z "$early")"
exits 1 "error grid-wait" "$bitwell" run hasty.json --races
exits 1 "launch 1 of 2, 'produce': write, PTX line 17 of produce.ptx st.global.u32, by CTA (0,0,0), warp 0, thread (0,0,0)" "$bitwell" run hasty.json --races
exits 1 "launch 2 of 2, 'add': read, PTX line 16 of hasty.ptx ld.global.u32, by CTA (0,0,0), warp 0, thread (0,0,0)" "$bitwell" run hasty.json --races
exits 1 "would order them: griddepcontrol.wait" "$bitwell" run hasty.json --races
exits 1 "can come to an output: PTX lines 16 ld.global.u32, 17 st.global.u32" "$bitwell" run hasty.json --races --explain
for how in "--strict" "--schedule random --seed 3" "--once" "--schedule eager"; do
  # shellcheck disable=SC2086  # options
  exits 1 "error grid-wait" "$bitwell" run hasty.json --races $how
done
exits 0 "error grid-wait" "$bitwell" run hasty.json --races --error-on none
# What the launch before reads is written too early.
list overwrites.json "$(launch hasty.ptx add z x "$early")"
exits 1 "launch 1 of 2, 'produce': read, PTX line 16 of produce.ptx ld.global.u32" "$bitwell" run overwrites.json --races
exits 1 "launch 2 of 2, 'add': write, PTX line 17 of hasty.ptx st.global.u32" "$bitwell" run overwrites.json --races
# A launch between that does not wait: what the wait of the third says of the first an H200 keeps, and no manual.
module lets.ptx lets "griddepcontrol.launch_dependents;"
list between.json "$(launch lets.ptx lets x z "$early")" "$(launch add.ptx add y z "$early")"
exits 0 "note grid-between" "$bitwell" run between.json --races
exits 1 "launch 3 of 3, 'add': read, PTX line 16 of add.ptx" "$bitwell" run between.json --races --error-on note
exits 0 "same under 8 schedules" "$bitwell" run between.json --schedules 8
# A race within one launch of the list, which comes twice: one finding, of both.
list racy.json "$(launch racy.ptx racy x z)" "$(launch add.ptx add y z)" "$(launch racy.ptx racy x z)"
exits 1 "in launch 2 of 4, 'racy'; likewise in launch 4" "$bitwell" run racy.json --races
[ "$("$bitwell" run racy.json --races | grep -c "^error")" = 1 ] || fail "the race of two launches is not one finding: $("$bitwell" run racy.json --races)"

# Baselines: what is known of all entries of the list, and what is gone.
"$bitwell" run racy.json --races --write-baseline racy.known > /dev/null
exits 0 "1 finding known, by racy.known" "$bitwell" run racy.json --races --baseline racy.known
exits 1 "" "$bitwell" run hasty.json --races --write-baseline hasty.known
exits 0 "1 finding known, by hasty.known" "$bitwell" run hasty.json --races --baseline hasty.known
exits 0 "stale: hasty.known has 1 finding more" "$bitwell" run waits.json --races --baseline hasty.known
cp racy.known both.known
"$bitwell" run hasty.json --races --write-baseline both.known > /dev/null
exits 0 "1 finding known" "$bitwell" run racy.json --races --baseline both.known
exits 0 "1 finding known" "$bitwell" run hasty.json --races --baseline both.known
# A fault in a launch behind the first is told after what was found before it.
module faulty.ptx faulty "trap;"
list faulty.json "$(launch hasty.ptx add y z "$early")" "$(launch faulty.ptx faulty x z)"
exits 1 "error grid-wait" "$bitwell" run faulty.json --races
exits 1 "in launch 3 of 3, 'faulty' of faulty.ptx" "$bitwell" run faulty.json --races
exits 1 "in launch 3 of 3, 'faulty' of faulty.ptx" "$bitwell" run faulty.json
list faulty_early.json "$(launch hasty.ptx add y z)" "$(launch faulty.ptx faulty x z "$early")"
exits 1 "in launch 2 of 3, 'add' of hasty.ptx, or 3 of 3, 'faulty' of faulty.ptx" "$bitwell" run faulty_early.json

# --approximate is for every launch of the list; what nobody vouches for is told with its file.
module rough.ptx rough $'lg2.approx.f32 %r1, %r0;\nst.global.u32 [%b], %r1;'
sed -i 's/sm_90a/sm_100a/' rough.ptx
list rough.json "$(launch rough.ptx rough y z)" "$(launch rough.ptx rough y x)"
exits 3 "lg2.approx.f32" "$bitwell" run rough.json --strict
exits 0 "approximate: PTX line 15 of rough.ptx: 'lg2.approx.f32' has an error bound, not bits; the nearest value was taken" "$bitwell" run rough.json --approximate nearest
exits 0 "\"line 15 of rough.ptx: 'lg2.approx.f32' has an error bound, not bits\"" "$bitwell" run rough.json --json
[ "$("$bitwell" run rough.json | grep -c "approximate: ")" = 1 ] || fail "what two launches of one entry have is told twice"

# Notes say which launch it was; a dump is of the first launch, whatever stands at that line in another's file.
module noted.ptx noted $'{ .shared .align 8 .b64 bar; mbarrier.init.shared.b64 [bar], 64; }\nst.global.u32 [%b], %r0;'
list noted.json "$(launch noted.ptx noted x z)"
exits 0 ", in launch 2 of 2, 'noted' of noted.ptx" "$bitwell" run noted.json
exits 0 "at visit 2 of PTX line 15 of produce.ptx 'griddepcontrol.launch_dependents'" "$bitwell" run noted.json --dump shared@15 --dump-visit 2
exits 2 "came there 2 times, --dump-visit is 3" "$bitwell" run noted.json --dump shared@15 --dump-visit 3

# What tools read.
"$bitwell" run hasty.json --races --json --sarif hasty.sarif --junit hasty.xml > hasty.out
"$bitwell" run racy.json --races --json --sarif racy.sarif --junit racy.xml > racy.out
python3 - <<'P' || fail "JSON, SARIF or JUnit"
import json, xml.etree.ElementTree as tree
(race,) = json.load(open("hasty.out"))["races"]
assert race["kind"] == "grid-wait" and race["launches"] == [2] and race["count"] == 64, race
assert (race["earlier"]["launch"], race["earlier"]["entry"], race["earlier"]["ptx_line"]) == (1, "produce", 17), race
assert (race["later"]["launch"], race["later"]["entry"], race["later"]["ptx_line"]) == (2, "add", 16), race
assert race["earlier"]["ptx"].endswith("produce.ptx") and race["later"]["ptx"].endswith("hasty.ptx"), race
(result,) = json.load(open("hasty.sarif"))["runs"][0]["results"]
def place(l): return l["physicalLocation"]["artifactLocation"]["uri"].split("/")[-1], l["physicalLocation"]["region"]["startLine"]
assert [place(l) for l in result["locations"]] == [("hasty.ptx", 16)], result
assert [place(l) for l in result["relatedLocations"]] == [("produce.ptx", 17)], result
assert result["relatedLocations"][0]["message"]["text"].startswith("launch 1 of 2, 'produce': PTX line 17"), result
assert "in produce, then in add;" in json.dumps(result["partialFingerprints"]), result
cases = list(tree.parse("hasty.xml").getroot().iter("testcase"))
assert [c.get("classname") for c in cases] == ["produce", "add"], cases
assert "launch 1 of 2" in cases[1].find("failure").text
(race,) = json.load(open("racy.out"))["races"]
assert race["launches"] == [2, 4] and race["earlier"]["launch"] == race["later"]["launch"] == 2, race
P

# Schedules: of a list as of a launch; what is for one launch says what to do.
exits 0 "same under 8 schedules" "$bitwell" run waits.json --schedules 8
exits 1 "'z' differs" "$bitwell" run hasty.json --schedules 8
exits 2 "--exhaust is for one launch, not for what comes under \"then\": a file for each launch takes it" "$bitwell" run waits.json --exhaust
exits 2 "--schedule pct is for one launch" "$bitwell" run waits.json --schedule pct
[ -e /dev/nvidia0 ] || exits 2 "--device: no GPU to run on: " "$bitwell" run waits.json --device
exit $((failures != 0))
