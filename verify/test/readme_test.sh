#!/usr/bin/env bash
# The example on README.md's first screen says what it shows. Usage: readme_test.sh BITWELL NVCC README
set -euo pipefail
bitwell=$1 nvcc=$2 readme=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The indented lines after the first line that starts with these words.
block() { awk -v start="$1" 'index($0, start) == 1 {after = 1; next} after && /^    / {print substr($0, 5); inside = 1; next} inside {exit}' "$readme"; }
expect() { # expect TEXT: the launch says this
  local said
  said=$(cd "$work" && "$nvcc" -arch=sm_90a -lineinfo -ptx scale.cu && "$bitwell" run scale.json 2>&1) || true
  [[ "$said" == *"$1"* ]] || { echo "FAILED: README.md shows '$1', bitwell says '$said'"; exit 1; }
}

block '**What it says about a kernel of yours.**' > "$work/scale.cu"
block '`scale.json`, the launch' > "$work/scale.json"
shown=$(grep -m 1 '^    bitwell: fault: .*(scale.cu:' "$readme")
expect "${shown#*PTX line * }"  # another nvcc than 13.0 may give the instruction another line
sed -i 's/<=/</' "$work/scale.cu"
expect 'all checks on'
echo "README.md's example says what it shows"
