// NVFP4 operands as the problems store them, and the data that they are drawn from.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "verify/problem/contest.h"

namespace bitwell::suite {

enum class ScaleLayout { row_major, blocked };

// What the operands are drawn from; each named for the mistake that it is there to show. What cancels does so
// by the signs of elements, for the scales of Blackwell's MMAs have none.
enum class OperandData {
  problem,        // the contest's own distribution: low nibbles {0, .5, 1, 1.5}, scales {0, 1, 2}
  all_codes,      // every nibble and every finite scale, uniform: both signs, subnormals, overflow
  moderate,       // every nibble, scales near 1: long inexact sums without overflow
  zeros,          // +0 and -0 nibbles and scales
  largest,        // +-6 and 448: overflow to infinity, infinity - infinity
  cancellation,   // row halves that cancel but for one small term
  huge_and_tiny,  // groups alternate between 448 and the least subnormal scale
  swamped,  // of four groups two large ones cancel, and what the small ones lost to them is all that is left
  swamped_tiles,     // the same, of four tiles of 64: lost between threads instead of inside one
  subnormal_scales,  // scales of 2^-9 .. 7 * 2^-9
  nan_scales,        // a few NaN scales among moderate ones
  one_zero,      // in every group A's elements or B's are +0 and -0, under the largest scales: what is almost
                 // zero shows
  contest_dual,  // as GPU MODE's dual GEMM draws them: +-{0, .5, 1, 1.5}, scales uniform in [0, 1) as E4M3
  contest_group  // as its grouped GEMM does: the same elements, scales 1 and 2
};
// Those that GPUs have recorded; kLaterData came later.
inline constexpr std::array<std::pair<OperandData, std::string_view>, 11> kOperandData{
    {{OperandData::problem, "problem"},
     {OperandData::all_codes, "all_codes"},
     {OperandData::moderate, "moderate"},
     {OperandData::zeros, "zeros"},
     {OperandData::largest, "largest"},
     {OperandData::cancellation, "cancellation"},
     {OperandData::huge_and_tiny, "huge_and_tiny"},
     {OperandData::swamped, "swamped"},
     {OperandData::swamped_tiles, "swamped_tiles"},
     {OperandData::subnormal_scales, "subnormal_scales"},
     {OperandData::nan_scales, "nan_scales"}}};
inline constexpr std::array<std::pair<OperandData, std::string_view>, 3> kLaterData{
    {{OperandData::one_zero, "one_zero"},
     {OperandData::contest_dual, "contest_dual"},
     {OperandData::contest_group, "contest_group"}}};
std::string_view name_of(OperandData data);

// Draws codes. Boundary data are rules; the rest is weighted random. Every draw takes one random number, so
// that the same seed gives the same operands whatever the data.
class OperandSource {
 public:
  OperandSource(OperandData data, uint64_t seed) : data_(data), random_(seed) {}
  // Element k of `size` of a row of A (is_a) or of B.
  uint8_t nibble(int k, int size, bool is_a);
  uint8_t scale(int group, bool is_a);

 private:
  OperandData data_;
  std::mt19937_64 random_;
  std::vector<uint8_t> row_;
};

// codes: E2M1, two a byte, low nibble first, [l][rows][k]. scales: E4M3, one for 16 elements of k, in
// `layout`; the blocked layout's padding is NaN, so that a kernel that reads it shows. k: a multiple of 16.
struct Nvfp4Operand {
  // Throws machine::InputError for fewer than one row or batch, and for other k.
  Nvfp4Operand(OperandSource& source, bool is_a, int rows_, int k_, int l_, ScaleLayout layout_);
  // `rows` rows of a contest's operand from `first` on, of its first `l` batches.
  Nvfp4Operand(const problem::Operand& of, int first, int rows_, int l_, ScaleLayout layout_);
  int rows, k, l;
  ScaleLayout layout;
  std::vector<std::byte> codes, scales;

  // Row `row` of batch `batch`, one code a byte.
  struct Row {
    std::vector<uint8_t> codes, scales;
  };
  Row row(int batch, int row) const;

 private:
  // codes(batch, row, i): byte i of a row. Row after row, its codes before its scales(batch, row, group).
  template <class Codes, class Scales>
  void fill(Codes codes_of, Scales scale_of);
};

}  // namespace bitwell::suite
