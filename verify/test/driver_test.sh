#!/usr/bin/env bash
# The tensor maps that C makes: the launch file's, byte for byte, with the driver's refusals.
# Usage: driver_test.sh BITWELL LIBRARY INCLUDE CUDA_INCLUDE
set -u
bitwell=$1 library=$2 include=$3 cuda=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
link=("$library" "-Wl,-rpath,$(dirname "$library")")
strict=(-Wall -Wextra -Wpedantic -Werror -I"$include")

# map TYPE RANK ADDRESS DIMS STRIDES BOX STEPS INTERLEAVE SWIZZLE PROMOTION FILL [FILE]: lists with commas, - for NULL.
cat > map.c <<'C'
#include <bitwell/tensor_map.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t wide[8];
static uint32_t narrow[2][8];
static const uint64_t* list(const char* text) {
  if (strcmp(text, "-") == 0) return NULL;
  for (int i = 0; i < 8 && *text != 0; ++i) {
    char* end;
    wide[i] = strtoull(text, &end, 0);
    text = *end == ',' ? end + 1 : end;
  }
  return wide;
}
static const uint32_t* list32(const char* text, int n) {
  if (list(text) == NULL) return NULL;
  for (int i = 0; i < 8; ++i) narrow[n][i] = (uint32_t)wide[i];
  return narrow[n];
}

int main(int argc, char** argv) {
  bitwell_tensor_map map;
  memset(&map, 0xEE, sizeof map);
  if (strcmp(argv[1], "im2col") == 0) {
    const int corner[3] = {0, 0, 0};
    const uint64_t sizes[5] = {64, 8, 8, 8, 1};
    const uint64_t steps[4] = {128, 1024, 8192, 65536};
    const uint32_t ones[5] = {1, 1, 1, 1, 1};
    const bitwell_result r = bitwell_tensor_map_encode_im2col(
        &map, BITWELL_TENSOR_MAP_DATA_TYPE_FLOAT16, 5, &map, sizes, steps, corner, corner, (uint32_t)atoi(argv[2]), 64, ones,
        BITWELL_TENSOR_MAP_INTERLEAVE_NONE, BITWELL_TENSOR_MAP_SWIZZLE_NONE, BITWELL_TENSOR_MAP_L2_PROMOTION_NONE,
        BITWELL_TENSOR_MAP_OOB_FILL_NONE);
    printf("%d %s\n", (int)r, bitwell_tensor_map_message());
    return 0;
  }
  uint64_t dims[8], strides[8];
  const uint64_t* d = list(argv[4]);
  if (d != NULL) d = memcpy(dims, d, sizeof dims);
  const uint64_t* s = list(argv[5]);
  if (s != NULL) s = memcpy(strides, s, sizeof strides);
  const uint32_t *box = list32(argv[6], 0), *steps = list32(argv[7], 1);
  const bitwell_result r = bitwell_tensor_map_encode_tiled(
      argc > 13 ? (bitwell_tensor_map*)((char*)&map + 16) : &map, (bitwell_tensor_map_data_type)atoi(argv[1]),
      (uint32_t)atoi(argv[2]), (void*)(uintptr_t)strtoull(argv[3], NULL, 0), d, s, box, steps,
      (bitwell_tensor_map_interleave)atoi(argv[8]), (bitwell_tensor_map_swizzle)atoi(argv[9]),
      (bitwell_tensor_map_l2_promotion)atoi(argv[10]), (bitwell_tensor_map_oob_fill)atoi(argv[11]));
  printf("%d %s\n", (int)r, bitwell_tensor_map_message());
  if (r != BITWELL_SUCCESS) {
    for (size_t i = 0; i < sizeof map; ++i)
      if (((unsigned char*)&map)[i] != 0xEE) puts("and it wrote the map");
    return 0;
  }
  if (argc <= 12) return 0;
  FILE* f = fopen(argv[12], "wb");
  return fwrite(&map, 1, sizeof map, f) == 128 && fclose(f) == 0 ? 0 : 1;
}
C
for standard in c99 c11 c17; do
  cc -std=$standard "${strict[@]}" -o map map.c "${link[@]}" || fail "it does not compile as $standard"
done

# A kernel that copies its map, and the address of the buffer under it.
cat > bytes.ptx <<'P'
.version 9.0
.target sm_100a
.address_size 64
.visible .entry bytes(.param .align 64 .b8 map[128], .param .u64 x, .param .u64 out)
{
  .reg .b64 %a<32>;
  ld.param.u64 %a0, [x]; ld.param.u64 %a1, [out]; st.global.u64 [%a1+128], %a0;
P
for i in $(seq 0 15); do echo "  ld.param.u64 %a2, [map+$((8 * i))]; st.global.u64 [%a1+$((8 * i))], %a2;"; done >> bytes.ptx
printf '  ret;\n}\n' >> bytes.ptx
launch() { # launch MAP: bytes.json with that map over x
  echo "{\"ptx\": \"bytes.ptx\", \"entry\": \"bytes\", \"grid\": [1], \"block\": [1],
 \"buffers\": [{\"buffer\": \"x\", \"zeros\": 1048576}],
 \"arguments\": [{\"tensor_map\": \"x\", $1}, {\"pointer\": \"x\"}, {\"buffer\": \"out\", \"unwritten\": 136, \"output\": \"out.bin\"}]}" > bytes.json
}
# same OFFSET TYPE,its number DIMS STRIDES BOX STEPS SWIZZLE,its number FILL,its number: one map, made both ways and both from the file
same() {
  local fields="\"type\": \"${2%,*}\", \"dims\": [$3], \"box\": [$5], \"element_strides\": [$6], \"swizzle\": \"${7%,*}\", \"fill\": \"${8%,*}\""
  local commas=${3//[^,]/}
  [ "$4" = - ] || fields="$fields, \"strides\": [$4]"
  launch "\"offset\": $1, $fields"
  "$bitwell" run bytes.json > said.txt || fail "the launch file's map of $*: $(cat said.txt)"
  local address
  address=$(($(od -An -tu8 -j128 out.bin) + $1))
  ./map "${2#*,}" $((${#commas} + 1)) $address "$3" "$4" "$5" "$6" 0 "${7#*,}" 3 "${8#*,}" c.map > said.txt
  [ "$(cat said.txt)" = "0 " ] || fail "$*: $(cat said.txt)"
  cmp -s -n 128 c.map out.bin || fail "C makes other bytes than the launch file: $*"
  launch "\"offset\": $1, \"encoded\": \"c.map\""
  mv out.bin kept.bin
  "$bitwell" run bytes.json > said.txt || fail "the encoded map of $*: $(cat said.txt)"
  cmp -s kept.bin out.bin || fail "a launch with C's map gets other bytes: $*"
}
same 0 u8,0 256 - 64 1 none,0 zero,0
same 256 f16,6 128,64 256 64,64 1,1 128b,3 nan,1
same 0 f32,7 33,9,5 144,1296 8,4,5 1,2,8 32b,1 zero,0
same 32 u4x16_align8b,13 128,16,4 64,1024 128,8,1 1,1,1 64b,2 zero,0
same 64 u4x16_align16b,14 256,8 128 128,8 1,1 128b,3 zero,0
same 0 bf16,9 64,8,4,2,3 128,1024,4096,8192 64,8,4,2,3 1,1,1,1,1 128b_atom_32b,4 nan,1
same 4096 tf32,11 4294967296,2 16 4,2 1,1 none,0 nan,1

# The bytes of an H200's driver (verify/device/captures/tensor_maps.txt.xz), from C, from a launch's digits and its fields.
h200=0000e061857f0000106304002000000000000000000000000000000000000000ff0000003f0000000000000000000000000000000000003f0700000000000000
h200=${h200}00040000000000000004000000000000$(printf '%096d' 0)
./map 6 2 0x7F8561E00000 256,64 512 64,8 1,1 0 3 2 0 h200.map > said.txt
[ "$(od -An -v -tx1 h200.map | tr -d ' \n')" = "$h200" ] || fail "C makes other bytes than an H200's driver"
launch '"type": "f16", "dims": [256, 64], "strides": [512], "box": [64, 8], "swizzle": "128b", "l2_promotion": "128b"'
"$bitwell" run bytes.json > said.txt || fail "a promotion: $(cat said.txt)"
mv out.bin kept.bin
launch "\"bytes\": \"$h200\""
"$bitwell" run bytes.json > said.txt || fail "an H200's bytes: $(cat said.txt)"
cmp -s kept.bin out.bin || fail "a launch with an H200's bytes gets other bytes than one with their fields"
[ "$(od -An -v -tx1 -j8 -N120 out.bin | tr -d ' \n')" = "${h200:16}" ] || fail "a launch's map has other bytes than an H200's"

# What bytes say, for people.
"$bitwell" descriptor tensor-map h200.map > said.txt || fail "the fields of a map: $(cat said.txt)"
for part in "globalAddress *0x7f8561e00000" "globalDim *256, 64$" "globalStrides *512$" "boxDim *64, 8$" "swizzle *128b$" "l2Promotion *128b$" \
  "boxDim\[0\] *440-447 *0x3f" "h200.map: legal"; do
  grep -q "$part" said.txt || fail "the fields of a map are without '$part': $(cat said.txt)"
done
head -c 127 h200.map > short.map
grep -q "'short.map' has 127 bytes, a tensor map has 128" <<< "$("$bitwell" descriptor tensor-map short.map 2>&1)" || fail "127 bytes are a map"
./map 6 3 4096 256,64,8 512,32768 8,8,1 1,1,1 1 0 2 0 interleaved.map > said.txt
[ "$(cat said.txt)" = "0 " ] || fail "an interleaved map: $(cat said.txt)"
"$bitwell" descriptor tensor-map interleaved.map > said.txt 2> why.txt
[ $? -eq 3 ] && grep -q "interleave *16b" said.txt && grep -q "tensor maps with interleave 16b" why.txt || fail "an interleaved map: $(cat said.txt why.txt)"

# What the driver refuses, and says so; a map that is refused stays as it was.
refused() { # refused RESULT 'MESSAGE' ARGUMENTS OF map...
  local result=$1 said=$2 text
  shift 2
  text=$(./map "$@")
  [[ "$text" == "$result "*"$said"* && "$text" != *wrote* ]] || fail "map $* gives '$text', not '$result $said'"
}
good=(6 2 4096 128,64 256 64,64 1,1 0 3 0 0)
but() { # but INDEX=VALUE...: the good arguments with these in their place
  arguments=("${good[@]}")
  for change; do arguments[${change%%=*}]=${change#*=}; done
}
check() { # check RESULT MESSAGE INDEX=VALUE...
  local result=$1 said=$2
  shift 2
  but "$@"
  refused "$result" "$said" "${arguments[@]}"
}
[ "$(./map "${good[@]}")" = "0 " ] || fail "the map that the refusals change is refused itself: $(./map "${good[@]}")"
check 1 "tensorDataType is 16, it must be 0 to 15" 0=16
check 1 "tensorRank is 0, it must be 1 to 5" 1=0
check 1 "tensorRank is 6, it must be 1 to 5" 1=6
check 1 "globalAddress is 4104, it must be a multiple of 16" 2=4104
check 1 "globalAddress is 4112, it must be a multiple of 32" 0=14 2=4112 3=128,64 5=128,64
check 1 "globalDim is NULL" 3=-
check 1 "globalDim[1] is 0, it must be 1 to 2^32" 3=128,0
check 1 "globalDim[0] is 4294967297, it must be 1 to 2^32" 3=4294967297,64
check 1 "globalDim[0] is 127, it must be even" 0=13 3=127,64 5=32,64
check 1 "globalDim[0] is 64, it must be a multiple of 128" 0=14 3=64,64 5=128,64
check 1 "globalStrides is NULL" 4=-
check 1 "globalStrides[0] is 264, it must be a multiple of 16" 4=264
check 1 "globalStrides[0] is 1099511627776, it must be below 2^40" 4=1099511627776
check 1 "boxDim is NULL" 5=-
check 1 "boxDim[0] is 0, it must be 1 to 256" 5=0,64
check 1 "boxDim[1] is 257, it must be 1 to 256" 5=64,257
check 1 "boxDim[0] in bytes is 24, it must be a multiple of 16" 5=12,64
check 1 "boxDim[0] in bytes is 256, it must be at most 128 with this swizzle" 5=128,64
check 1 "boxDim[0] in bytes is 128, it must be at most 64 with this swizzle" 9=0 8=2
check 1 "elementStrides is NULL" 6=-
check 1 "elementStrides[1] is 0, it must be 1 to 8" 6=1,0
check 1 "elementStrides[0] is 9, it must be 1 to 8" 6=9,1
check 1 "interleave is 3, it must be 0 to 2" 7=3
check 1 "tensorRank is 2, it must be 3 to 5 where elements are interleaved" 7=1 8=0
check 1 "swizzle is 7, it must be 0 to 6" 8=7
check 1 "l2Promotion is 4, it must be 0 to 3" 9=4
check 1 "oobFill is 2, it must be 0 to 1" 10=2
check 1 "oobFill NaN needs a floating-point type, not u16" 0=1 10=1
refused 1 "it must be a multiple of 64" "${good[@]}" kept.map unaligned
[ "$(./map im2col 64)" = "0 " ] || fail "im2col: $(./map im2col 64)"
[ "$(./map im2col 264)" = "1 tensor map: channelsPerPixel is 264, it must be 1 to 256" ] || fail "im2col: $(./map im2col 264)"

# Files of other bytes, and fields that do not go with one.
launch '"encoded": "bytes.ptx"'
grep -q "'bytes.ptx' has .* bytes, a tensor map has 128" <<< "$("$bitwell" run bytes.json 2>&1)" || fail "other bytes are taken as a map"
head -c 128 /dev/zero > zero.map
launch '"encoded": "zero.map"'
"$bitwell" run bytes.json > /dev/null 2>&1 && fail "zeros are taken as a map"
launch '"encoded": "c.map", "offset": 0, "bytes": "00"'
grep -q "needs exactly one of encoded, bytes" <<< "$("$bitwell" run bytes.json 2>&1)" || fail "a map is taken from two places"
head -c 128 c.map > changed.map
printf '\001' | dd of=changed.map bs=1 seek=61 conv=notrunc 2> dd.txt
launch '"encoded": "changed.map"'
grep -q "'changed.map': tensor map: bit 488 (byte 61) is set" <<< "$("$bitwell" run bytes.json 2>&1)" || fail "an unknown bit is taken"
launch '"encoded": "c.map", "box": [64]'
grep -q "unknown field 'box'" <<< "$("$bitwell" run bytes.json 2>&1)" || fail "an encoded map takes other fields"

# With the driver's header before it, the functions are of the driver's types: one name changed, a host program compiles.
cat > same.cpp <<'C'
#include <cuda.h>

#include <bitwell/tensor_map.h>
#include <type_traits>
static_assert(std::is_same_v<decltype(&cuTensorMapEncodeTiled), decltype(&bitwell_tensor_map_encode_tiled)>);
static_assert(std::is_same_v<decltype(&cuTensorMapEncodeIm2col), decltype(&bitwell_tensor_map_encode_im2col)>);
#define cuTensorMapEncodeTiled bitwell_tensor_map_encode_tiled
int main() {
  CUtensorMap map;
  const cuuint64_t dims[2] = {128, 64}, strides[1] = {256};
  const cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};
  const CUresult r = cuTensorMapEncodeTiled(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(4096), dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return r == CUDA_SUCCESS ? 0 : 1;
}
C
c++ -std=c++17 -Wall -Wextra -Werror -I"$include" -isystem "$cuda" -o same same.cpp "${link[@]}" && ./same || fail "it is not the driver's function in another name"
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort | tr '\n' ' ')
[ "$exported" = "bitwell_tensor_map_encode_im2col bitwell_tensor_map_encode_tiled bitwell_tensor_map_message " ] || fail "the library shows $exported"

[ $failures -eq 0 ] && echo "C makes the simulator's tensor maps"
exit $failures
