#!/usr/bin/env bash
# ptxas_test.sh UNLUCKY PTXAS: ptxas takes every text that `unlucky` gives a GPU of sm_90a, and makes no wgmma wait for each before the
# next because of delays.
set -euo pipefail
unlucky=$1
ptxas=$2
command -v "$ptxas" >/dev/null || { echo "skipped: no ptxas"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$unlucky" --ptx "$folder"
export ptxas
find "$folder" -name '*.ptx' -print0 |
  xargs -0 -P "$(nproc)" -I{} bash -c '"$ptxas" -arch=sm_90a -o /dev/null "$1" >"$1.said" 2>&1 || echo "$1" >>"$1.refused"' _ {}
failures=0
for said in "$folder"/*.said; do
  text=${said%.said}
  if [ -e "$text.refused" ] || { [[ $text == *.delayed.ptx ]] && grep -q serialized "$said"; }; then
    echo "$(basename "$text"): $(head -3 "$said")"
    failures=$((failures + 1))
  fi
done
echo "$(find "$folder" -name '*.ptx' | wc -l) texts, $failures refused or serialized"
[ $failures -eq 0 ]
