#include "verify/oracle/whole_scales.h"

#include <cstdlib>
#include <stdexcept>

namespace bitwell::oracle {

std::vector<int16_t> halves(std::span<const uint8_t> codes, std::span<const uint8_t> scales) {
  static constexpr int kTwice[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  std::vector<int16_t> out(codes.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const uint8_t scale = scales[i / 16];
    // E4M3 of 0, 1, 2 and 3.
    const int whole = scale == 0x00 ? 0 : scale == 0x38 ? 1 : scale == 0x40 ? 2 : scale == 0x44 ? 3 : -1;
    if (whole < 0) throw std::domain_error("a scale that is none of 0, 1, 2 and 3");
    const int value = kTwice[codes[i] % 8] * whole;
    out[i] = static_cast<int16_t>(codes[i] >= 8 ? -value : value);
  }
  return out;
}

float whole_dot(std::span<const int16_t> a, std::span<const int16_t> b) {
  int32_t sum = 0;  // of 2^20 products of at most 36 * 36 none overflows it
  const int16_t* const x = a.data();
  const int16_t* const y = b.data();
  for (size_t i = 0; i < a.size(); ++i) sum += x[i] * y[i];
  if (std::abs(sum) > 1 << 24) throw std::domain_error("a sum that fp32 does not hold");
  return static_cast<float>(sum) / 4;
}

}  // namespace bitwell::oracle
