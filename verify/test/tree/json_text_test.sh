#!/usr/bin/env bash
# json_text_test.sh SOURCE: JSON becomes text by strict_json::dumped alone, for the library's own dump() throws on bytes that are
# not UTF-8, and names of files and words of kernels may have such.
set -euo pipefail
cd "$1"
found=$(grep -rlE '\.dump\(' --include='*.h' --include='*.cpp' --exclude-dir=test model verify experiments)
[ "$found" = model/strict_json/write.h ] || { echo "JSON is dumped in:"; echo "$found"; echo "expected: model/strict_json/write.h"; exit 1; }
