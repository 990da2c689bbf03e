#!/usr/bin/env bash
# spread_test.sh BITWELL MPIRUN SPREAD_FAILURE: three processes write the bytes that one writes, and go on where a
# run was cut off; each shard of a journal may be three processes; where one of them fails, all end, and the first says why.
set -euo pipefail
bitwell=$1
mpirun=$2
failure=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ask=(study accumulate --most-k 128 --dots 64)
"$bitwell" "${ask[@]}" --csv "$folder/one.csv" > "$folder/one.txt"
"$mpirun" -n 3 --oversubscribe "$bitwell" "${ask[@]}" --csv "$folder/three.csv" > "$folder/three.txt"
cmp "$folder/one.csv" "$folder/three.csv"
cmp "$folder/one.txt" "$folder/three.txt"
head -c 20000 "$folder/one.csv" > "$folder/cut.csv"
"$mpirun" -n 2 --oversubscribe "$bitwell" "${ask[@]}" --csv "$folder/cut.csv" > /dev/null
cmp "$folder/one.csv" "$folder/cut.csv"
for shard in 2/2 1/2; do
  "$mpirun" -n 3 --oversubscribe "$bitwell" "${ask[@]}" --shard $shard --journal "$folder/journal" > /dev/null
done
[ "$(ls "$folder/journal" | wc -l)" = 2 ]
"$bitwell" merge "$folder/journal" --csv "$folder/merged.csv" > "$folder/merged.txt"
cmp "$folder/one.csv" "$folder/merged.csv"
cmp "$folder/one.txt" "$folder/merged.txt"
status=0
timeout 60 "$mpirun" -n 3 --oversubscribe "$bitwell" "${ask[@]}" --shard 3/2 --journal "$folder/journal" > /dev/null 2>&1 || status=$?
[ $status -ne 0 ] && [ $status -ne 124 ]
timeout 60 "$mpirun" -n 3 --oversubscribe "$failure" > "$folder/failure.txt" 2> /dev/null && exit 1
grep -q 'process 0: process [12]: piece [4-7] fails' "$folder/failure.txt"
