#!/usr/bin/env bash
# What --races says of CUDA's cooperative groups: nothing of what keeps to the rules; of a reduction over several warps that its last
# warp's lanes read what a shuffle alone tells them of. Usage: tiles_test.sh BITWELL NVCC
set -u
bitwell=$1 nvcc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
cat > tiles.cu <<'C'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void within(const int* in, int* out) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
}
extern "C" __global__ void meet(const int* in, int* out) {
  __shared__ int all[128];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  all[threadIdx.x] = in[threadIdx.x];
  tile.sync();
  out[threadIdx.x] = all[threadIdx.x ^ 63];
}
extern "C" __global__ void across(const int* in, int* out) {
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
}
C
"$nvcc" -arch=sm_90 -lineinfo -ptx tiles.cu || exit 1
# expect STATUS ENTRY 'part of the output'
expect() {
  printf '{"ptx": "tiles.ptx", "entry": "%s", "block": [128], "arguments": [{"buffer": "in", "generate": {"kind": "iota_u32", "bytes": 512}}, {"buffer": "out", "unwritten": 512, "output": "out.bin"}]}' "$2" > l.json
  local text
  text=$("$bitwell" run l.json --races 2>&1)
  local got=$?
  [ $got -eq "$1" ] && [[ "$text" == *"$3"* ]] && return
  echo "FAILED: $2 exits with $got (expected $1), says: ${text:0:600}"
  failures=$((failures + 1))
}
expect 0 within "0 races and the like"
expect 0 meet "0 races and the like"
expect 1 across "(reduce.h:"
# Every sum is right all the same: the first tile's is that of 0 to 63.
[ "$(od -An -tu4 -N4 out.bin | tr -d ' ')" = 2016 ] || { echo "FAILED: the sum is $(od -An -tu4 -N4 out.bin)"; failures=1; }
[ "$failures" -eq 0 ] || exit 1
echo "all held"
