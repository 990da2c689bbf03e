#include "model/number/quadratic.h"

#include <vector>

namespace bitwell::number {
namespace {

constexpr Segment kRcpSegments[] = {
#include "model/number/special_function/rcp.inc"
};
constexpr Segment kRsqrtSegments[] = {
#include "model/number/special_function/rsqrt.inc"
};
constexpr Segment kSqrtSegments[] = {
#include "model/number/special_function/sqrt.inc"
};
constexpr Segment kEx2Segments[] = {
#include "model/number/special_function/ex2.inc"
};
constexpr Segment kLg2Segments[] = {
#include "model/number/special_function/lg2.inc"
};
constexpr Segment kSinSegments[] = {
#include "model/number/special_function/sin.inc"
};
constexpr Segment kTanhSegments[] = {
#include "model/number/special_function/tanh.inc"
};

std::vector<uint16_t> squares() {
  std::vector<uint16_t> all(size_t{1} << kPlaceBits);
  for (uint32_t x = 0; x < all.size(); ++x) all[x] = static_cast<uint16_t>(truncated_square(x));
  return all;
}

}  // namespace

constexpr Curve kRcp{kRcpSegments, -40, 14, 1, 4046};
constexpr Curve kRsqrt{kRsqrtSegments, -40, 14, 2, 16383};
constexpr Curve kSqrt{kSqrtSegments, -40, 15, 1, 32767};
constexpr Curve kEx2{kEx2Segments, -38, 13, 0, 6114};
constexpr Curve kLg2{kLg2Segments, -38, 12, 1, 837};
constexpr Curve kSin{kSinSegments, -37, 11, 0, 0};
constexpr Curve kTanh{kTanhSegments, -39, 15, 1, 0};

uint32_t truncated_square(uint32_t x) {
  uint32_t sum = 0;
  for (int bit = 0; bit < kPlaceBits; ++bit)
    if ((x >> bit & 1) != 0) sum += x >> (kPlaceBits + 1 - bit);
  return sum >> 1;
}

uint64_t interpolated(const Curve& curve, size_t segment, uint32_t place) {
  static const std::vector<uint16_t> square = squares();
  const Segment& s = curve.segments[segment];
  const int64_t value = (int64_t{s.a} << curve.scale) + int64_t{s.b} * place +
                        int64_t{s.c} * square[place] * (int64_t{1} << curve.half) + curve.bias;
  return static_cast<uint64_t>(value);
}

}  // namespace bitwell::number
