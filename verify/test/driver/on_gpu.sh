#!/usr/bin/env bash
# On a machine with a GPU, by hand: on_gpu.sh BITWELL PROGRAMS CONFORMANCE OUT. BITWELL is the executable with its lib/ beside its bin/;
# PROGRAMS has agree and astray, once with the runtime linked in (.static) and once with it shared.
# What it looks at: the driver's conformance, on the GPU's driver and behind the library that keeps launches; every byte of agree's
# outputs on both; launches that were kept in front of the GPU, run again here. The launches stay in OUT.
bitwell=$1 programs=$2 conformance=$3 out=$4
libraries=$(dirname "$bitwell")/../lib/bitwell
status=0
tell() { if [ "$1" = 0 ]; then echo "held: $2"; else echo "NOT: $2"; status=1; fi; }
mkdir -p "$out"

"$conformance" libcuda.so.1 >"$out/conformance" 2>&1
tell $? "conformance on the GPU's driver: $(tail -1 "$out/conformance")"
grep '^NOT' "$out/conformance"
"$bitwell" exec --gpu --record "$out/asked" --record-count 3 -- "$conformance" "$libraries/record/libcuda.so.1" >"$out/behind" 2>&1
tell $(grep -q ' held, 0 not$' "$out/behind"; echo $?) "conformance behind the library that keeps: $(grep ' held, ' "$out/behind")"
grep '^NOT' "$out/behind"

for linked in static shared; do
  "$programs/agree.$linked" "$out/gpu.$linked" >/dev/null
  tell $? "agree.$linked on the GPU"
done
"$bitwell" exec -- "$programs/agree.shared" "$out/here.shared" >/dev/null 2>"$out/here.said"
tell $? "agree.shared on bitwell: $(tail -1 "$out/here.said")"
cmp "$out/gpu.static" "$out/here.shared" && cmp "$out/gpu.shared" "$out/here.shared"
tell $? "$(stat -c %s "$out/here.shared") bytes of outputs are the same"

for linked in static shared; do
  "$bitwell" exec --gpu --record "$out/right.$linked" --record-after -- "$programs/agree.$linked" "$out/again" >/dev/null 2>"$out/said.$linked"
  tell $? "agree.$linked, kept: $(tail -1 "$out/said.$linked")"
  cmp "$out/gpu.static" "$out/again"
  tell $? "it computes what it did unwatched"
  ran=0
  for launch in "$out/right.$linked"/*/launch.json; do
    "$bitwell" run "$launch" >"$out/told" 2>&1 || { tell 1 "$launch"; head -20 "$out/told"; }
    grep -q 'all .* as expected\|as expected' "$out/told" && ran=$((ran + 1))
  done
  tell $([ $ran -gt 7 ]; echo $?) "$ran launches run again leave what the GPU left"
  for case in near far; do
    "$bitwell" exec --gpu --record "$out/$case.$linked" -- "$programs/astray.$linked" $case >"$out/said" 2>&1
    echo "astray.$linked $case: $? $(tr '\n' ';' <"$out/said")"
    "$bitwell" run "$out/$case.$linked/0001/launch.json" >"$out/told" 2>&1
    tell $([ $? = 1 ] && grep -q 'astray.cu:9' "$out/told"; echo $?) "run again: $(head -1 "$out/told")"
  done
done
exit $status
