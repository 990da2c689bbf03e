#!/usr/bin/env bash
# prove_test.sh BITWELL PTXAS: the questions for a B200 are text that ptxas takes, and the command tells what it does.
set -euo pipefail
bitwell=$1
ptxas=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "prove_test: $*" >&2; exit 1; }

grep -q '^tensor products  *sm_100a ' <<< "$("$bitwell" prove --list)" || fail "--list names no tensor products"
"$bitwell" prove --part nonsense --list 2>"$folder/err" && fail "an unknown part is taken"
grep -q "no part 'nonsense'; there are 'instructions'" "$folder/err" || fail "an unknown part is not named"
"$bitwell" prove --accept "$folder/none" 2>"$folder/err" && fail "--accept goes without --by"
grep -q -- '--by NAME' "$folder/err" || fail "--by is not asked for"
"$bitwell" prove --part 'tensor memory' --rehearse sm_100a --out "$folder/r.json" >"$folder/out" 2>/dev/null
grep -q '^tensor memory  *sm_100a .* 0  *0$' "$folder/out" || fail "a rehearsal does not agree with itself"
[ -s "$folder/r.json" ] || fail "a rehearsal leaves no file"
"$bitwell" prove --accept "$folder/r.json" --by me 2>"$folder/err" && fail "a rehearsal is taken for evidence"
grep -q 'is a rehearsal' "$folder/err" || fail "a rehearsal is not named"
if ! command -v nvidia-smi >/dev/null; then
  "$bitwell" prove 2>"$folder/err" && fail "prove goes without a GPU"
  grep -q 'no GPU to ask' "$folder/err" || fail "the missing GPU is not named"
fi
# A rehearsal of the questions for an RTX Blackwell card agrees with itself too.
"$bitwell" prove --part 'warp products' ordering kernels --rehearse sm_120a --out "$folder/rtx.json" >"$folder/out" 2>/dev/null
grep -q '^warp products  *sm_120a .* 0  *0$' "$folder/out" || fail "a rehearsal for sm_120a does not agree with itself"
"$bitwell" prove --part 'tensor memory' 'tensor products' 'warp products' --ptx "$folder/ptx" >/dev/null
ls "$folder"/ptx/*.ptx | wc -l
for target in sm_100a sm_120a; do
  grep -lZ "^\.target $target" "$folder"/ptx/*.ptx |
    xargs -0 -n 1 -P "$(nproc)" "$ptxas" -arch="$target" -o /dev/null || fail "ptxas refuses a question for $target"
done
