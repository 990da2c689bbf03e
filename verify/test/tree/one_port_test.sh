#!/usr/bin/env bash
# one_port_test.sh SOURCE: the bytes of memory are touched where they are kept (machine), where a launch sets them up, and by
# the port and its lanes, which tell observers; nowhere else in model/.
set -euo pipefail
cd "$1/model"
expected="machine/claim/before.cpp machine/mbarrier.cpp machine/memory/memory.cpp machine/memory/memory.h machine/memory/pages.cpp run/access.cpp run/chain.cpp run/launch.cpp run/port.cpp run/port.h run/row_access.h run/strip.cpp run/watch/follow.cpp"
found=$(grep -rlE 'raw_(bytes|defined)\(' --include=*.h --include=*.cpp . | sed 's,^\./,,' | sort | tr '\n' ' ')
[ "$found" = "$expected " ] || { echo "raw bytes of memory are touched in: $found"; echo "expected: $expected"; exit 1; }
