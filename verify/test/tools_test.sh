#!/usr/bin/env bash
# Files that tools read: SARIF with what its schema and code review ask for, JUnit of `bitwell verify`.
# Usage: tools_test.sh BITWELL KERNELS
set -u
bitwell=$(realpath "$1")
kernels=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
exits() {
  local status=$1 text
  shift
  text=$("$@" 2>&1)
  local got=$?
  [ $got -eq "$status" ] || fail "$* exits with $got (expected $status): $text"
}

# Two races: lines 7 and 9 of "my kernels/tile.cu", and 11 of a header elsewhere behind line 7; a third access
# has no CUDA line.
mkdir "my kernels" elsewhere
touch "my kernels/tile.cu"
cat > "my kernels/racy.ptx" <<P
.version 8.7
.target sm_90a
.address_size 64
.file 1 "$work/my kernels/tile.cu"
.file 2 "/usr/include/sum of%all.cuh"
.file 3 "tile.cu"
.visible .entry k()
{
.reg .b32 %r<4>;
.shared .align 4 .b8 word[4];
.shared .align 4 .b8 other[4];
.reg .pred %p<3>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, 0;
setp.eq.u32 %p0, %r0, 0;
setp.eq.u32 %p1, %r0, 32;
.loc 1 7 1
@%p0 st.shared.u32 [word], 1;
.loc 1 9 1
@%p1 ld.shared.u32 %r1, [word];
bar.sync 0;
.loc 2 11 1
@%p0 st.shared.u32 [other], 1;
.loc 3 12 1
@%p1 st.shared.u32 [other], 2;
setp.eq.u32 %p2, %r1, 1;
@%p2 exit;
ret;
}
P
echo '{"ptx": "racy.ptx", "entry": "k", "grid": [1], "block": [64], "arguments": []}' > "my kernels/racy.json"
exits 1 "$bitwell" run "my kernels/racy.json" --races --sarif racy.sarif
grep -v '^\.loc' "my kernels/racy.ptx" > bare.ptx
sed 's/racy/bare/' "my kernels/racy.json" > bare.json
exits 1 "$bitwell" run bare.json --races --sarif bare.sarif
mkdir below
exits 1 env -C below "$bitwell" run ../bare.json --races --sarif ../outside.sarif
python3 "$here/check_sarif.py" racy.sarif bare.sarif outside.sarif || fail "SARIF"
python3 - "$work" <<'P' || fail "places of SARIF"
import json, sys
def places(name):
    out = []
    for result in json.load(open(name))["runs"][0]["results"]:
        both = result["locations"] + result["relatedLocations"]
        out.append(sorted((p["physicalLocation"]["artifactLocation"]["uri"], p["physicalLocation"]["region"]["startLine"]) for p in both))
    return out
assert places("racy.sarif") == [[("my%20kernels/tile.cu", 7), ("my%20kernels/tile.cu", 9)],
                                [("file:///usr/include/sum%20of%25all.cuh", 11), ("my%20kernels/tile.cu", 12)]], places("racy.sarif")
assert [u for both in places("bare.sarif") for u, line in both] == ["bare.ptx"] * 4, places("bare.sarif")
assert all(u == "file://" + sys.argv[1] + "/bare.ptx" for both in places("outside.sarif") for u, line in both), places("outside.sarif")
results = json.load(open("racy.sarif"))["runs"][0]["results"]
assert len({r["partialFingerprints"]["instructions/v2"] for r in results}) == 2, results
P

# JUnit of `bitwell verify`: a test a row, and the text of one that fails.
exits 0 "$bitwell" verify gemv --kernel naive --junit held.xml
cp -r "$kernels" mine
sed -i 's/cvt\.rn\.f16\.f32/cvt.rz.f16.f32/' mine/gemv/naive.sm_90a.ptx
exits 1 "$bitwell" verify gemv --kernel naive --kernels mine --replay replay --junit failed.xml
exits 2 "$bitwell" verify gemv --kernel naive --junit nowhere/held.xml
python3 - <<'P' || fail "JUnit of verify"
import xml.etree.ElementTree as tree
def read(name):
    suite = next(tree.parse(name).getroot().iter("testsuite"))
    cases = list(suite.iter("testcase"))
    assert suite.get("name") == "bitwell verify gemv" and int(suite.get("tests")) == len(cases), suite.attrib
    assert int(suite.get("failures")) == sum(c.find("failure") is not None for c in cases), suite.attrib
    assert abs(float(suite.get("time")) - sum(float(c.get("time")) for c in cases)) < 0.01, suite.attrib
    return {c.get("classname"): c for c in cases if c.get("name") == "gemv_naive"}, cases
held, cases = read("held.xml")
assert sorted(held) == ["sm_100a", "sm_90a"] and len(cases) == 2, cases
assert all(c.find("failure") is None for c in cases)
failed, _ = read("failed.xml")
assert failed["sm_100a"].find("failure") is None
failure = failed["sm_90a"].find("failure")
assert failure.get("type") == "verdict" and failure.get("message") in failure.text and "replay it: bitwell run" in failure.text, failure.text
P
exit $((failures != 0))
