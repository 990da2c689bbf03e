// Tensor maps (CUtensorMap): what cuTensorMapEncodeTiled or Im2col is given, and its limits. The 128 bytes
// that they make of it stand in tensor_map_bytes.h.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/layout/shared_swizzle.h"

namespace bitwell::machine {

// In the order of CUtensorMapDataType.
enum class TensorType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4x16_align8b,
  u4x16_align16b,
  u6x16_align16b
};
struct TensorTypeRow {
  std::string_view name;
  int bits;  // of an element in global memory
  bool floating;
  std::string_view evidence;
};
inline constexpr std::array<TensorTypeRow, 16> kTensorTypes{{{"u8", 8, false, "device"},
                                                             {"u16", 16, false, "device"},
                                                             {"u32", 32, false, "device"},
                                                             {"s32", 32, false, "device"},
                                                             {"u64", 64, false, "device"},
                                                             {"s64", 64, false, "device"},
                                                             {"f16", 16, true, "device"},
                                                             {"f32", 32, true, "device"},
                                                             {"f64", 64, true, "device"},
                                                             {"bf16", 16, true, "device"},
                                                             {"f32_ftz", 32, true, "device"},
                                                             {"tf32", 32, true, "device"},
                                                             {"tf32_ftz", 32, true, "device"},
                                                             {"u4x16_align8b", 4, false, "manual"},
                                                             {"u4x16_align16b", 4, false, "manual"},
                                                             {"u6x16_align16b", 6, false, "manual"}}};
using TensorSwizzle = layout::SharedSwizzle;
inline constexpr const auto& kTensorSwizzles = layout::kSharedSwizzles;

// As CUtensorMapInterleave; copies by a map of the other two are not modelled.
enum class TensorInterleave : uint8_t { none, b16, b32 };
inline constexpr std::array<std::string_view, 3> kTensorInterleaves{"none", "16b", "32b"};
// How much of L2 a copy brings with it, which changes no bits; as CUtensorMapL2promotion.
enum class L2Promotion : uint8_t { none, b64, b128, b256 };
struct L2PromotionRow {
  std::string_view name;
};
inline constexpr std::array<L2PromotionRow, 4> kL2Promotions{{{"none"}, {"64b"}, {"128b"}, {"256b"}}};

// What cuTensorMapEncodeIm2col takes in place of a box. The innermost dimension counts channels, the
// outermost images; those between, W first, are of space. The pixels whose place in all of these is from
// lower[d] to dims - 1 + upper[d] are gone through, in steps of element_strides, W fastest and images
// slowest, from the copy's coordinates on; each is loaded from where the copy's offsets move it to.
struct Im2col {
  uint32_t channels = 0;  // of a pixel; 0: the map is of tiles
  uint32_t pixels = 0;    // of a copy
  std::array<int32_t, 3> lower{}, upper{};
};

struct TensorMap {
  TensorType type = TensorType::u8;
  uint32_t rank = 1;
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{1, 1, 1, 1, 1};  // elements, innermost first
  std::array<uint64_t, 5> strides{};            // bytes; [0] is the element's own
  std::array<uint32_t, 5> box{1, 1, 1, 1, 1};   // elements
  std::array<uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool fill_nan = false;  // out-of-bounds elements of floating types
  TensorInterleave interleave = TensorInterleave::none;
  L2Promotion promotion = L2Promotion::b256;
  Im2col im2col{};

  int bits() const { return kTensorTypes[static_cast<size_t>(type)].bits; }
  std::string type_name() const { return std::string(kTensorTypes[static_cast<size_t>(type)].name); }
  // Whether 16 elements take 16 bytes of shared memory, data first (PTX ISA 9.0, 5.5.1.1: b4x16_p64 and
  // b6x16_p32). A row of the box has kPaddedRow elements then.
  bool padded() const { return type == TensorType::u4x16_align16b || type == TensorType::u6x16_align16b; }
  static constexpr uint32_t kPaddedRow = 128;
  // Elements of dimension d in the box that shared memory holds. The innermost stride is ignored, as the
  // driver's documentation says and an H200 does.
  uint32_t extent(size_t d) const {
    if (im2col.channels != 0) return d == 0 ? im2col.channels : d == 1 ? im2col.pixels : 1;
    return d == 0 ? box[0] : (box[d] + element_strides[d] - 1) / element_strides[d];
  }
  uint64_t rows() const;       // of the box
  uint64_t row_bytes() const;  // of an innermost row in shared memory
  // From one row to the next in shared memory: a swizzled row takes the whole span (H200).
  uint64_t pitch() const;
  // That an mbarrier counts: without what pads them (CUTLASS counts so).
  uint64_t box_bytes() const { return rows() * extent(0) * static_cast<uint64_t>(bits()) / 8; }
  // Bytes of a box as the driver counts them to limit them: it rounds down where element strides leave a
  // part, and divides the innermost dimension too.
  uint64_t driver_box_bytes() const;
  // Bytes of shared memory from a multiple of 128 on that the box may touch: swizzling stays inside a line.
  uint64_t footprint() const {
    const uint64_t bytes = (rows() - 1) * pitch() + row_bytes();
    return swizzle == TensorSwizzle::none ? bytes : (bytes + 127) / 128 * 128;
  }
};

// The driver's limits: it refuses what this refuses, and nothing else, of maps that it has (an H200's does
// not have types of 4 and 6 bits, nor the swizzles whose atoms are not of 16 bytes). Throws InputError naming
// the argument, the value and the limit; Unsupported for im2col of such types.
void check(const TensorMap& map);
// Throws Unsupported where the simulator has no copies by such a map.
void require_modelled(const TensorMap& map);

using layout::swizzled;

}  // namespace bitwell::machine
