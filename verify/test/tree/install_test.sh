#!/usr/bin/env bash
# The installed package serves another CMake project. Usage: install_test.sh BUILD_FOLDER
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "FAILED: line $LINENO: $BASH_COMMAND"' ERR
cmake --install "$build" --prefix "$work/prefix" >/dev/null
mkdir "$work/user"
cat > "$work/user/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.25)
project(user C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(bitwell REQUIRED)
add_executable(user main.cpp)
target_link_libraries(user bitwell::compile)
add_executable(example example.cpp)
target_link_libraries(example bitwell::session)
add_executable(host host.c)
target_link_libraries(host bitwell::tensor_map)
C
cat > "$work/user/main.cpp" <<'C'
#include "model/isa/compile/compile.h"
#include "model/number/decode.h"
#include "model/ptx/parse.h"
int main() {
  const auto module = bitwell::ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n");
  const bool six = bitwell::number::decode(bitwell::number::e2m1, 7).significand == 3;
  return bitwell::isa::entries(module).size() == 1 && six ? 0 : 1;
}
C
cat > "$work/user/host.c" <<'C'
#include <bitwell/tensor_map.h>
int main(void) {
  const uint64_t dims[1] = {256};
  const uint32_t box[1] = {256}, steps[1] = {1};
  bitwell_tensor_map map;
  return bitwell_tensor_map_encode_tiled(&map, BITWELL_TENSOR_MAP_DATA_TYPE_UINT8, 1, 0, dims, 0, box, steps,
                                         BITWELL_TENSOR_MAP_INTERLEAVE_NONE, BITWELL_TENSOR_MAP_SWIZZLE_NONE,
                                         BITWELL_TENSOR_MAP_L2_PROMOTION_NONE, BITWELL_TENSOR_MAP_OOB_FILL_NONE);
}
C
cp "$(dirname "$0")/../../session/example.cpp" "$work/user"
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/user/build" >/dev/null
"$work/user/build/user"
"$(dirname "$0")/../session/example_test.sh" "$work/user/build/example"
"$work/user/build/host"
cc -I"$work/prefix/include" -o "$work/host" "$work/user/host.c" -L"$work/prefix/lib" -lbitwell_tensor_map -Wl,-rpath,"$work/prefix/lib"
"$work/host"
grep -q "device: NVIDIA H200 .* holds" <<< "$("$work/prefix/bin/bitwell" verify gemv --rung naive --arch sm_90a)"
grep -q "^## warp-race" <<< "$("$work/prefix/bin/bitwell" help races)"
echo "installed, found, linked, run"
