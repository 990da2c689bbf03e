// The 128 bytes of a tensor map, as a GPU has them: what the driver of an H200 (580.159.04) wrote for 14,766
// sets of arguments, of which verify/device/captures/tensor_maps.txt.xz is the record.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/machine/tensor/tensor_map.h"

namespace bitwell::machine {

using TensorMapBytes = std::array<std::byte, 128>;
// Of these a copy reads the first (H200); what stands behind them may be anything.
inline constexpr size_t kMapBytesRead = 64;

// A field's bits, the lowest of the first byte being bit 0. No other bit of those that copies read was seen
// set in any map, and none may be: in maps of tiles those of im2col are not there, and the other way round.
struct TensorMapBits {
  std::string_view name;  // of the argument
  uint32_t first, width;
  uint32_t count = 1, step = 0;  // of an array, the innermost dimension first; bits from one to the next
  std::string_view holds = "";   // what of the argument; "": itself
};
enum class TensorMapMode : uint8_t { both, tile, im2col };
struct TensorMapBitsRow {
  TensorMapBits bits;
  TensorMapMode mode = TensorMapMode::both;
};
// Places of the rows below.
enum class MapBits : uint8_t {
  address,
  im2col,
  sm_100,
  rank,
  type,
  interleave,
  swizzle,
  fill,
  tf32,
  promotion,
  sm_100_store,
  stride,
  high_stride,
  dim,
  element_stride,
  box_row,
  box,
  channels,
  lower,
  upper,
  pixels,
  box_bytes,
  alignment
};
inline constexpr std::array<TensorMapBitsRow, 23> kTensorMapBits{{
    {{"globalAddress", 0, 57}},
    {{"mode", 64, 1, 1, 0, "1: im2col"}},
    {{"of sm_100", 65, 1, 1, 0, "1: types are numbered as the CuTe DSL does for sm_100a"}},
    {{"tensorRank", 68, 3, 1, 0, "less 1"}},
    {{"tensorDataType", 71, 4, 1, 0, "by the numbers of tensormap.replace; of tf32 those of f32"}},
    {{"interleave", 75, 2}},
    {{"swizzle", 77, 2}},
    {{"oobFill", 79, 1}},
    {{"tf32", 80, 1, 1, 0, "values are rounded to tf32"}},
    {{"l2Promotion", 81, 2}},
    {{"of a store for sm_100", 85, 1, 1, 0,
      "1: as the CuTe DSL has it in maps that it stores by; only where bit 65 is set"}},
    {{"globalStrides", 96, 32, 4, 32, "in 16 bytes, the low bits"}},
    {{"globalStrides", 224, 4, 4, 4, "in 16 bytes, the high bits"}},
    {{"globalDim", 256, 32, 5, 32, "less 1"}},
    {{"elementStrides", 416, 3, 5, 3, "less 1"}},
    {{"boxDim[0]", 440, 8, 1, 0, "less 1"}, TensorMapMode::tile},
    {{"boxDim[1..]", 448, 8, 4, 8, "less 1"}, TensorMapMode::tile},
    {{"channelsPerPixel", 440, 8, 1, 0, "less 1"}, TensorMapMode::im2col},
    // One of 16 bits, two of 8 or three of 5, for a rank of 3, 4 or 5.
    {{"pixelBoxLowerCorner", 448, 16, 1, 0, "two's complement"}, TensorMapMode::im2col},
    {{"pixelBoxUpperCorner", 464, 16, 1, 0, "two's complement"}, TensorMapMode::im2col},
    {{"pixelsPerColumn", 480, 10, 1, 0, "less 1"}, TensorMapMode::im2col},
    // What the copies do not read: a map that tensormap.replace has made or changed has other values.
    {{"bytes of a box", 512, 18}},
    {{"alignment in shared memory", 576, 11, 1, 0, "bytes"}},
}};

// A field of some bytes as it stands there; of an array that of dimension i.
uint64_t bits_in(std::span<const std::byte, 128> bytes, const TensorMapBits& field, uint32_t i = 0);

// Of a map that check() takes. Maps that an H200's driver refuses, because only Blackwell has their type or
// swizzle, are marked as bitwell's own: nobody has seen a GPU's bytes of them.
TensorMapBytes encode(const TensorMap& map);
// Throws InputError naming the bits or the value that no driver writes, nor the CuTe DSL. Limits are not
// checked: fields may be on their way to agree.
TensorMap decode_tensor_map(std::span<const std::byte, 128> bytes);

// What tensormap.replace changes (PTX ISA 9.7.9.28), in the order of the instruction's names.
enum class TensorMapField : uint8_t {
  global_address,
  rank,  // value: dimensions - 1
  box_dim,
  global_dim,
  global_stride,  // ordinal 0: of dimension 1
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};
inline constexpr std::array<std::string_view, 10> kTensorMapFields{
    "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
    "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};
// Changes the field's bits and no others, so that 128 zero bytes are a map whose fields are still to come, as
// for an H200. Throws InputError for an ordinal or value that the field does not have, or where the bytes are
// no map; Unsupported for what is not modelled.
void replace(TensorMapBytes& bytes, TensorMapField field, uint32_t ordinal, uint64_t value);

}  // namespace bitwell::machine
