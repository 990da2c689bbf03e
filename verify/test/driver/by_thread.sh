#!/usr/bin/env bash
# by_thread.sh LIBCUDART: of the names with _ptsz, for which NULL is the thread's own stream, those alone are other names of a function
# that has a body which are given no stream.
set -euo pipefail
same=$(nm -D --defined-only "$1" | sed -n 's/^\(\S*\) T \(.*\)@@.*/\2 \1/p' | sort |
  awk '{ at[$1] = $2 } END { for (n in at) if (n ~ /_ptsz$/ && at[n] == at[substr(n, 1, length(n) - 5)]) print n }' | sort | tr '\n' ' ')
wanted='cuGraphInstantiateWithParams_ptsz '
[ "$same" = "$wanted" ] || { echo "other names of a function: $same, not $wanted (verify/driver/names/by_thread.inc)"; exit 1; }
