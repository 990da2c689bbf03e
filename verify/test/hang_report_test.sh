#!/usr/bin/env bash
# What a deadlock's report shows of many waiters: one of each place first, so that whoever waits alone is seen.
# Usage: hang_report_test.sh BITWELL
set -u
bitwell=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# Consumers wait for `full`, where warp PRODUCER would arrive if it did not wait at a barrier of its own; the last warp waits
# at a third. In a cluster each CTA does so.
hang() { # hang WARPS PRODUCER CTAS: what the report says
  cat > hang.ptx <<P
.version 9.0
.target sm_90a
.address_size 64
.visible .entry hang() {
.shared .align 8 .b64 full;
.reg .pred %p<4>; .reg .b32 %r<8>;
mov.u32 %r0, full; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;
setp.eq.u32 %p0, %r1, 0;
@%p0 mbarrier.init.shared.b64 [%r0], 32;
bar.sync 0;
setp.eq.u32 %p1, %r2, $2;
@%p1 bra PRODUCER;
setp.eq.u32 %p2, %r2, $(($1 - 1));
@%p2 bra LAST;
W: mbarrier.try_wait.parity.shared.b64 %p3, [%r0], 0;
@!%p3 bra W;
ret;
PRODUCER: bar.sync 2, 64;
mbarrier.arrive.shared.b64 _, [%r0];
ret;
LAST: bar.sync 3, 64;
ret;
}
P
  echo '{"ptx": "hang.ptx", "entry": "hang", "grid": ['"$3"'], "cluster": ['"$3"'], "block": ['$((32 * $1))']}' > hang.json
  "$bitwell" run hang.json 2>&1
}
for warps in 3 9 12 32; do
  for producer in 0 1 $((warps - 2)); do
    for ctas in 1 2 8; do
      text=$(hang $warps $producer $ctas)
      shown=$(grep -c ', waits at PTX line' <<< "$text")
      places=$((3 * ctas)) all=$((warps * ctas))
      wanted=$((places > 8 ? places : 8))
      wanted=$((wanted < all ? wanted : all))
      [ "$shown" = $wanted ] || fail "$warps warps in $ctas CTAs: $shown waiters, not $wanted: $text"
      of_producers=$(grep -c "warp $producer, .* on barrier 2: 32 threads arrived of 64" <<< "$text")
      of_last=$(grep -c "on barrier 3: 32 threads arrived of 64" <<< "$text")
      if [ "$of_producers" != "$ctas" ] || [ "$of_last" != "$ctas" ]; then fail "$warps warps in $ctas CTAs, producer $producer: $text"; fi
      [ "$all" -le $wanted ] || grep -q "and $((all - wanted)) more" <<< "$text" || fail "no word of those left out: $text"
    done
  done
done

echo "$failures failures"
[ $failures -eq 0 ]
