#!/usr/bin/env bash
# Findings that are known, that CI servers read, and that terminals show in colour. Usage: findings_test.sh BITWELL
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
  text=$("$@" 2>&1)
  local got=$?
  [ $got -eq "$status" ] || fail "$* exits with $got (expected $status): $text"
  case "$text" in *"$words"*) ;; *) fail "$* does not say '$words': $text" ;; esac
}

# kernel LINES_BEFORE BARRIER: two warps, one word, and a race where no barrier is given.
kernel() {
  cat <<P
.version 8.7
.target sm_90a
.address_size 64
$1
.visible .entry k()
{
.reg .b32 %r<4>;
.shared .align 4 .b8 word[4];
.reg .pred %p<2>;
mov.u32 %r1, 0;
mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [word], 1; bar.sync 0; setp.eq.u32 %p0, %r0, 32;
@%p0 st.shared.u32 [word], %r0;
${2:-}
setp.eq.u32 %p0, %r0, 0;
@%p0 ld.shared.u32 %r1, [word];
setp.eq.u32 %p1, %r1, 99;
@%p1 trap;
${3:-}
ret;
}
P
}
kernel "" "" > racy.ptx
kernel $'// one\n// two\n// three' "" > moved.ptx
kernel "" "bar.sync 0;" > clean.ptx
kernel "" "" "@%p0 st.shared.u32 [word], 3;" > worse.ptx
for k in racy moved clean worse; do
  echo "{\"ptx\": \"$k.ptx\", \"entry\": \"k\", \"grid\": [1], \"block\": [64], \"arguments\": []}" > $k.json
done

exits 1 "error race" "$bitwell" run racy.json --races --write-baseline known.json
exits 0 "1 finding known, by known.json" "$bitwell" run racy.json --races --baseline known.json
exits 0 "1 finding known" "$bitwell" run moved.json --races --baseline known.json --error-on note
exits 0 "stale: known.json has 1 finding more" "$bitwell" run clean.json --races --baseline known.json
exits 1 "error race" "$bitwell" run worse.json --races --baseline known.json
# What other entries have stays, and a baseline that nothing is left of is empty.
sed 's/\bk\b/other/' known.json | sed 's/"entry": "k"/"entry": "other"/' > both.json
"$bitwell" run racy.json --races --write-baseline both.json > /dev/null
[ "$(grep -c '"entry"' both.json)" = 2 ] || fail "another entry's findings are gone: $(cat both.json)"
exits 0 "" "$bitwell" run clean.json --races --write-baseline known_now.json
grep -q '"findings": \[\]' known_now.json || fail "a clean kernel's baseline is not empty"

# A baseline that is none: one error that names the file, status 2, and nothing is run.
bad() {
  echo "$2" > bad.json
  exits 2 "$1" "$bitwell" run racy.json --races --baseline bad.json
}
head='"format": "bitwell-baseline", "version": 1'
entry='"kind": "race", "entry": "k", "text": "t"'
bad "bad.json" "{"
bad '"format" must be' "[]"
bad '"format" must be' '{"version": 1}'
bad '"version" must be 1' '{"format": "bitwell-baseline", "version": 2}'
bad '"findings" must be a list' "{$head}"
bad 'finding 0 is no object' "{$head, \"findings\": [3]}"
bad '"fingerprint" must be there' "{$head, \"findings\": [{$entry}]}"
bad "must be 16 digits" "{$head, \"findings\": [{\"fingerprint\": \"12\", $entry}]}"
bad "'line' is none of" "{$head, \"findings\": [{\"fingerprint\": \"0123456789abcdef\", $entry, \"line\": 3}]}"
bad '"findings" must be a whole number' "{$head, \"findings\": [{\"fingerprint\": \"0123456789abcdef\", $entry, \"findings\": 0}]}"
exits 2 "nowhere.json" "$bitwell" run racy.json --races --baseline nowhere.json
exits 2 "--races" "$bitwell" run racy.json --baseline known.json
exits 2 "bad.json" "$bitwell" run racy.json --races --write-baseline bad.json
[ "$(cat bad.json)" = "{$head, \"findings\": [{\"fingerprint\": \"0123456789abcdef\", $entry, \"findings\": 0}]}" ] ||
  fail "a file that is no baseline was written over"

# What tools read.
"$bitwell" run racy.json --races --junit racy.xml --sarif racy.sarif > /dev/null
"$bitwell" run racy.json --races --baseline known.json --junit known.xml --sarif known.sarif --json > known.out
"$bitwell" run clean.json --races --baseline known.json --junit clean.xml --json > clean.out
kernel "" "trap;" > faulty.ptx
sed 's/racy/faulty/' racy.json > faulty.json
exits 1 "trap" "$bitwell" run faulty.json --junit faulty.xml
python3 - <<'P' || fail "JUnit, SARIF or JSON"
import json, xml.etree.ElementTree as tree
def cases(name): return list(tree.parse(name).getroot().iter("testcase"))
racy = cases("racy.xml")
assert [c.get("classname") for c in racy] == ["k", "k"], racy
assert [c.find("failure") is not None for c in racy] == [False, True]
assert racy[1].find("failure").get("type") == "race" and "bar.sync" in racy[1].find("failure").text
suite = next(tree.parse("racy.xml").getroot().iter("testsuite"))
assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0"), suite.attrib
assert [c.find("skipped") is not None for c in cases("known.xml")] == [False, True]
assert all(c.find("failure") is None and c.find("skipped") is None for c in cases("clean.xml"))
assert cases("faulty.xml")[0].find("failure").get("type") == "fault"
(new,) = json.load(open("racy.sarif"))["runs"][0]["results"]
(old,) = json.load(open("known.sarif"))["runs"][0]["results"]
assert new["suppressions"] == [] and old["suppressions"] == [{"kind": "external"}], (new, old)
assert new["partialFingerprints"] == old["partialFingerprints"]
assert "racy" not in json.dumps(new["partialFingerprints"]) and "in k;" in json.dumps(new["partialFingerprints"])
known, clean = json.load(open("known.out")), json.load(open("clean.out"))
assert known["races"] == [] and known["known_races"] == 1 and known["stale"] == [], known
assert clean["known_races"] == 0 and clean["stale"][0]["findings"] == 1, clean
P

# Colour on a terminal, not in a pipe, and not where NO_COLOR says no.
on_terminal() { TERM=xterm script -qec "$bitwell run racy.json --races" /dev/null; }
if command -v script > /dev/null; then
  grep -q $'\033\[[0-9;]*31m.*error race' <<< "$(on_terminal)" || fail "no colour on a terminal"
  grep -q $'\033\[[0-9;]*m' <<< "$(NO_COLOR=1 on_terminal)" && fail "colour in spite of NO_COLOR"
  grep -q $'\033\[[0-9;]*31m' <<< "$(NO_COLOR='' on_terminal)" || fail "an empty NO_COLOR takes colour away"
fi
grep -q $'\033' <<< "$("$bitwell" run racy.json --races)" && fail "colour in a pipe"
exit $((failures != 0))
