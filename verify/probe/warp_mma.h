// One mma.sync of sm_120 as a test states it: the kernel whose warps each make one, their operands drawn from
// a seed, and, of fp8, fp6 and fp4, the oracle's view of it (verify/oracle/warp_mma.h). Nothing of model/.
#pragma once
#include <random>
#include <span>
#include <string>
#include <vector>

#include "verify/launch/launch.h"
#include "verify/oracle/warp_mma.h"
#include "verify/probe/tensor_mma.h"

namespace bitwell::probe {

// `text` stands behind ".row.col" and in front of the types.
struct WarpKind {
  const char* text;
  int k;
  int scales = 0;          // of a row or column
  const char* scale = "";  // their type, with its dot
  bool half = false;       // C and D are fp16
  int bits = 8;            // of an element in a register; 4 where k is 64

  size_t sums() const { return half ? 2 : 4; }  // registers of C and D
};
inline constexpr WarpKind kWarpF8f6f4{".kind::f8f6f4", 32};
inline constexpr WarpKind kWarpF8f6f4Half{".kind::f8f6f4", 32, 0, "", true};
inline constexpr WarpKind kWarpMxf8f6f4{".kind::mxf8f6f4.block_scale.scale_vec::1X", 32, 1, ".ue8m0"};
inline constexpr WarpKind kWarpMxf4{".kind::mxf4.block_scale.scale_vec::2X", 64, 2, ".ue8m0"};
inline constexpr WarpKind kWarpNvf4{".kind::mxf4nvf4.block_scale.scale_vec::4X", 64, 4, ".ue4m3"};
inline constexpr WarpKind kWarpMxf4By2{".kind::mxf4nvf4.block_scale.scale_vec::2X", 64, 2, ".ue8m0"};

oracle::WarpMma rule_of(const WarpKind& kind, const MmaType& a, const MmaType& b);
// "kind::mxf4.block_scale.scale_vec::2X, f32 of e2m1 and e2m1, ue8m0"
std::string describe(const WarpKind& kind, const MmaType& a, const MmaType& b);

// What the kernel of them all depends on.
struct WarpText {
  const char* target = "sm_120a";
  int version = 90;  // 10 * major + minor
  oracle::ScaleIds ids_a{}, ids_b{};
  bool selectors = false;  // ids are in registers, else constants
  int skip = -1;           // the thread whose word of A's scales is never loaded
};
// Entry "k", warps of a grid in one dimension.
std::string warp_kernel(const WarpKind& kind, const MmaType& a, const MmaType& b, const WarpText& text);

// `wild`: any bits; else no NaN, and C and scales that let the products be seen.
oracle::WarpOperands draw_warp(const WarpKind& kind, std::mt19937& random, bool wild);
// Of NVFP4: in each row one group has the largest scales and cancels but for its sums of the least bits; the
// others have the least. Published models disagree there, and random operands never go there.
oracle::WarpOperands cancelling_warp(std::mt19937& random);

launch::Launch warp_launch(const WarpKind& kind, std::span<const oracle::WarpOperands> warps);
// What the launch left of a warp: D's registers.
std::vector<oracle::Lanes> warp_sums(const WarpKind& kind, const launch::Launch& launch, size_t warp);

}  // namespace bitwell::probe
