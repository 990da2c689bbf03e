#!/usr/bin/env bash
# A room sees the rooms that rooms.cmake lets it use, and no other; cmake refuses a line that uses what stands below it.
# Usage: rooms_test.sh CXX SOURCE BUILD
set -u
cxx=$1 source=$2 build=$3 failures=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

# sees ROOM... HEADER: whether the include folders of those rooms have the header
sees() {
  local header=${*: -1} flags=()
  for room in "${@:1:$#-1}"; do flags+=("-I$build/include/bitwell_$room"); done
  echo "#include \"$header\"" | (cd "$work" && "$cxx" -std=c++20 "${flags[@]}" -x c++ -fsyntax-only -) 2> "$work/said"
}
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

sees number model/number/exact.h || fail "model/number does not see itself: $(cat "$work/said")"
sees machine number layout model/machine/memory/memory.h || fail "model/machine does not see what it uses: $(cat "$work/said")"
sees machine number layout model/run/launch.h && fail "model/machine sees model/run"
sees hazard form ptx machine number layout model/run/launch.h && fail "model/hazard sees model/run"
sees oracle verify/suite/suite.h && fail "the oracle sees the suites"
sees oracle model/number/exact.h && fail "the oracle sees the model"

cp "$source/rooms.cmake" "$work"
{ sed -n '/^function(bitwell_room/,/^endfunction/p' "$source/CMakeLists.txt"; echo 'include(rooms.cmake)'; } > "$work/list.cmake"
(cd "$work" && cmake -P list.cmake) || fail "the list as it is"
sed -i 's/^bitwell_room(number .*/bitwell_room(number model\/number USES run)/' "$work/rooms.cmake"
(cd "$work" && cmake -P list.cmake) 2> "$work/said" && fail "model/number may use model/run"
grep -q 'number uses run, which no line above it names' "$work/said" || fail "what cmake says: $(cat "$work/said")"
echo "$failures failures"
exit $((failures > 0))
