#!/usr/bin/env bash
# linkage_test.sh BITWELL BUILD: what loops for one instruction set share with the rest of the program (library templates, which
# the linker keeps once) must run on every host: no instruction of AVX in it.
set -euo pipefail
bitwell=$1
build=$2
command -v objdump >/dev/null || { echo "skipped: no objdump"; exit 77; }
shared=$(find "$build/model" -path '*lanes*avx*' -name '*.o' -exec nm {} + | awk '$2 ~ /^[WVu]$/ && $3 !~ /^DW/ {print $3}' | sort -u)
[ -n "$shared" ] || { echo "nothing is shared"; exit 0; }
failures=0
while read -r symbol; do
  code=$(objdump -d --disassemble="$symbol" "$bitwell" | grep -E '^ +[0-9a-f]+:') || continue
  if bad=$(grep -m1 -E '%[yz]mm|[[:space:]]v[a-z0-9]+ ' <<<"$code"); then
    echo "$(c++filt "$symbol" | cut -c1-120): $bad"
    failures=$((failures + 1))
  fi
done <<<"$shared"
echo "$(wc -l <<<"$shared") shared, $failures with AVX"
[ $failures -eq 0 ]
