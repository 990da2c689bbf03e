#!/usr/bin/env bash
# The benchmarks' CSV has a row for each and a column for each counter, also where their counters differ.
# Usage: bench_csv_test.sh BITWELL_BENCH
set -euo pipefail
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
options=(--benchmark_min_time=0.001 '--benchmark_filter=^(bitwell/E2M1 to fp16, plain|saxpy loop, checked)$')
"$bench" "${options[@]}" --benchmark_format=csv > "$folder/shown.csv" 2> "$folder/err"
"$bench" "${options[@]}" --benchmark_out="$folder/written.csv" --benchmark_out_format=csv > "$folder/console" 2> "$folder/err"
for file in shown written; do
  python3 - "$folder/$file.csv" << 'P'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["name"] for r in rows] == ["bitwell/E2M1 to fp16, plain", "saxpy loop, checked"], rows
conversions, saxpy = rows
assert float(conversions["elements/s"]) > 0 and conversions["lane-inst/s"] == "", conversions
assert float(saxpy["lane-inst/s"]) > 0 and float(saxpy["peak MiB"]) > 0 and saxpy["elements/s"] == "", saxpy
assert all(None not in r and int(r["iterations"]) > 0 and float(r["cpu_time"]) > 0 for r in rows), rows
P
done
grep -q '^saxpy loop, checked ' "$folder/console"
