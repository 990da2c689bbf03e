#include "model/number/dot_integer.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace bitwell::number {
namespace {

std::vector<int32_t> values(const IntegerOperand& o) {
  std::vector<int32_t> out(o.codes.size());
  std::transform(o.codes.begin(), o.codes.end(), out.begin(), [&](uint32_t code) {
    return o.is_signed ? int32_t{static_cast<int8_t>(code)} : int32_t{static_cast<uint8_t>(code)};
  });
  return out;
}

}  // namespace

void integer_dot_tile(const IntegerOperand& a, const IntegerOperand& b, size_t k, size_t columns,
                      bool saturate, std::span<uint32_t> d) {
  using Limits = std::numeric_limits<int32_t>;
  const std::vector<int32_t> x = values(a);
  const std::vector<int32_t> y = values(b);
  for (size_t i = 0; i < d.size(); ++i) {
    const int32_t* row = &x[i / columns * k];
    const int32_t* column = &y[i % columns * k];
    int64_t sum = static_cast<int32_t>(d[i]);
    for (size_t j = 0; j < k; ++j) sum += int64_t{row[j]} * column[j];
    if (saturate) sum = std::clamp<int64_t>(sum, Limits::min(), Limits::max());
    d[i] = static_cast<uint32_t>(sum);
  }
}

}  // namespace bitwell::number
