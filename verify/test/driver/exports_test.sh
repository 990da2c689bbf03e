#!/usr/bin/env bash
# exports_test.sh NAMES LIBRARY: the library has every one of the names, of the version that programs ask for; one that it
# lacks would end their start.
set -euo pipefail
have=$(nm -D --defined-only "$2" | sed -n 's/.* [TWA] \(.*\)@@libcudart.so.13$/\1/p' | sort)
missing=$(comm -23 <(grep -v '^#' "$1" | sort) <(echo "$have"))
[ -z "$missing" ] || { echo "the library lacks: $missing"; exit 1; }
[ "$(wc -l <<< "$have")" -gt 500 ] || { echo "it has only $(wc -l <<< "$have") names"; exit 1; }
