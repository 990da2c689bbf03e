#!/usr/bin/env bash
# bitwell run --exhaust, and the schedules that it names. Usage: exhaust_test.sh BITWELL
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

# kernel BODY: %a0 is the buffer, %r1 the number of the warp, %p0 whether that is 0.
kernel() {
  cat <<P
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pout)
{
.reg .b32 %r<4>; .reg .b64 %a0; .reg .pred %p<3>;
ld.param.u64 %a0, [pout];
mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; setp.eq.u32 %p0, %r1, 0;
$1
ret;
}
P
}
launch() {
  kernel "$2" > "$1.ptx"
  echo "{\"ptx\": \"$1.ptx\", \"entry\": \"k\", \"grid\": [1], \"block\": [64],
    \"arguments\": [{\"buffer\": \"y\", \"zeros\": 8, \"output\": \"$1.bin\"}]}" > "$1.json"
}
launch one "st.global.u32 [%a0], 7;"
launch two "st.global.u32 [%a0], %r1;"
launch lost "ld.volatile.global.u32 %r2, [%a0]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%a0], %r2;"
launch deadlock "@!%p0 bra b;
a: atom.global.cas.b32 %r2, [%a0], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra a;
ret;
b: ld.volatile.global.u32 %r2, [%a0]; setp.ne.u32 %p1, %r2, 0; @%p1 trap;"

exits 0 "2 schedules run to an end, 0 given up as nothing new, 6 turns at most: complete" "$bitwell" run one.json --exhaust
[ "$(od -An -tx4 one.bin)" = " 00000007 00000000" ] || fail "the output is not there"
exits 1 "end 2 of 2" "$bitwell" run two.json --exhaust
[ ! -e two.bin ] || fail "an output that hangs on the order was written"
exits 0 "stopped at --most" "$bitwell" run one.json --exhaust --most 1
# Each end comes again by the schedule that is printed for it.
"$bitwell" run two.json --exhaust --json > two.out
"$bitwell" run two.json --exhaust | sed -n 's/ *replay: bitwell//p' > replays
[ "$(wc -l < replays)" = 2 ] || fail "two ends have $(wc -l < replays) replays"
while read -r options; do
  # shellcheck disable=SC2086
  "$bitwell" $options > /dev/null || fail "no replay: $options"
  od -An -tx4 two.bin
done < replays | sort -u > values
[ "$(wc -l < values)" = 2 ] || fail "two replays leave $(cat values)"
exits 1 "trap" "$bitwell" run deadlock.json --exhaust
"$bitwell" run deadlock.json --exhaust | sed -n 's/.*replay: bitwell//p' | while read -r options; do
  # shellcheck disable=SC2086
  "$bitwell" $options 2>&1 | grep -o "trap\|deadlock" | head -1
done | sort -u | tr '\n' ' ' > ends
[ "$(cat ends)" = "deadlock trap " ] || fail "faults replay as: $(cat ends)"
python3 - <<'P' || fail "JSON"
import json
two = json.load(open("two.out"))
assert two["complete"] and two["runs"] == 2 and len(two["ends"]) == 2, two
assert all(e["fault"] is None and "--schedule order:" in e["replay"] for e in two["ends"]), two
P

exits 2 "is no CLUSTER:WARP" "$bitwell" run one.json --schedule order:1
exits 2 "which cannot go on then" "$bitwell" run one.json --schedule order:0:5
exits 2 "must be 1 to 64" "$bitwell" run one.json --schedule pct:0
exits 2 "none of lazy" "$bitwell" run one.json --schedule fast
exits 2 "--exhaust" "$bitwell" run one.json --exhaust --schedule eager
exits 2 "--exhaust" "$bitwell" run one.json --most 5
exits 0 "a bug of depth 2 shows with a chance of at least 1 in" "$bitwell" run one.json --schedule pct:2 --seed 5
shown=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  "$bitwell" run lost.json --schedule pct --seed $seed > /dev/null
  [ "$(od -An -tu4 lost.bin | tr -s ' ')" = " 1 0" ] && shown=$((shown + 1))
done
[ $shown -ge 1 ] || fail "20 seeds of pct never lost an update"
exits 0 "complete" "$bitwell" verify gemv --exhaust --kernel naive
exit $((failures != 0))
