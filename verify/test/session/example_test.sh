#!/usr/bin/env bash
# example_test.sh EXAMPLE: the example of verify/session says what its kernel does wrong, and what comes of it.
set -euo pipefail
fail() { echo "$1"; echo "$said"; exit 1; }
status=0
said=$("$1") || status=$?
[ $status = 1 ] || fail "exit status $status"
for words in "lane instructions, to its end" "error warp-race" "PTX line 18 st.shared.u32" "PTX line 20 ld.shared.u32" \
             "can come to an output" "bytes of 'to' come of it" "the first word that it left is 1"; do
  grep -qF -- "$words" <<< "$said" || fail "it does not say: $words"
done
