#!/usr/bin/env bash
# exports_test.sh NAMES LIBRARY: the library has every one of the names, and if it has versions, of that which programs ask for; one
# that it lacks would end their start.
set -euo pipefail
have=$(nm -D --defined-only "$2" | sed -n 's/.* [TWA] \([^@]*\)\(@@libcudart.so.13\)\?$/\1/p' | sort)
missing=$(comm -23 <(grep -v '^#' "$1" | sort -u) <(echo "$have"))
[ -z "$missing" ] || { echo "the library lacks: $missing"; exit 1; }
case $2 in *cudart*)
  [ "$(nm -D --defined-only "$2" | grep -c '@@libcudart.so.13$')" -gt 500 ] || { echo "few of its names have a version"; exit 1; } ;;
esac
