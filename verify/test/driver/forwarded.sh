#!/usr/bin/env bash
# The driver's conformance through the library that keeps launches, with bitwell as the GPU behind it, and a launch that was kept
# run again: forwarded.sh CONFORMANCE LIBCUDA RECORD BITWELL
conformance=$1 driver=$2 record=$3 bitwell=$4
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder" && mkdir kept || exit 1
"$bitwell" exec --gpu --error-exitcode 0 --driver "$driver" --record kept/all --record-after -- "$conformance" "$record" >said 2>errors || { cat said errors; exit 1; }
grep -q ' held, 0 not$' said || { cat said; exit 1; }
# Launches that are made again to be timed leave what one leaves: scale also over what it reads, count in a variable.
for entry in scale count; do
  "$bitwell" exec --gpu --error-exitcode 0 --driver "$driver" --record "kept/$entry" --record-time --record-count 4 -k "kernel_name=$entry" -- "$conformance" "$record" >said 2>errors || { cat said errors; exit 1; }
  grep -q ' held, 0 not$' said || { cat said; exit 1; }
  for launch in "kept/$entry"/0*/launch.json; do
    "$bitwell" time "$launch" >told 2>&1 && grep -q '  measured: .* between two events' told || { echo "$launch"; cat told; exit 1; }
  done
done
status=0
for launch in kept/all/*/launch.json; do
  entry=$(sed -n 's/.*"entry": "\(.*\)".*/\1/p' "$launch")
  "$bitwell" run "$launch" >told 2>&1
  is=$? should=0
  [ "$entry" != overrun ] || should=1
  [ $is = $should ] || { echo "$launch, $entry: $is"; cat told; status=1; }
done
[ "$(ls -d kept/all/0* | wc -l)" -gt 10 ] || { echo "few are kept"; status=1; }
exit $status
