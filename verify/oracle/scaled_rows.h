// Sums of kind::mxf4nvf4 over long rows, fast enough for whole problems: the rule of scaled_fp4_dot
// (tensor_dot.h) in 64-bit integers, whose bits it gives (scaled_rows_test). Nothing of model/.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace bitwell::oracle {

// A row of E2M1 codes, one a byte, with UE4M3 scales of 16 each (a sign bit is not looked at), made ready for
// many sums. Where its last step of 64 is not full, zeros fill it.
class ScaledRow {
 public:
  ScaledRow(std::span<const uint8_t> codes, std::span<const uint8_t> scales);

 private:
  friend uint32_t scaled_sum(const ScaledRow& a, const ScaledRow& b, uint32_t c, size_t from, size_t to);
  struct Scale {
    int16_t digits, exponent;  // value = digits * 2^(exponent - 3)
  };
  std::vector<int16_t> twice_;  // the elements
  std::vector<Scale> scales_;
  std::vector<uint8_t> nan_;  // of a step: one of its scales is
};

// fp32 bits of c plus the product of the rows' elements from..to, multiples of 64 or the row's end: steps of
// 64 in order, the sum of each the next one's addend. Rows of the same length. c: 0, or such a sum.
uint32_t scaled_sum(const ScaledRow& a, const ScaledRow& b, uint32_t c, size_t from, size_t to);

}  // namespace bitwell::oracle
