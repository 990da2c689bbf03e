// The interpolator of the special-function unit: a function's argument selects a segment and a place in it,
// and a quadratic in fixed point gives the value (the design of Oberman and Siu, "A High-Performance
// Area-Efficient Multifunction Interpolator", ARITH 2005). special_function/NAME.inc has the coefficients, a
// segment an entry. They were found from an H200's results: each result says between which two numbers the
// value at its place lies, and a segment's three integers are those for which all its places do.
//
// Evidence: device (verify/test/number/special_function_test.cpp has the digests of what was recorded).
#pragma once
#include <cstddef>
#include <cstdint>

namespace bitwell::number {

// A segment has 2^17 places. At place x the value is a * 2^scale + b * x + c * 2^half * truncated_square(x) +
// bias, in units of 2^unit; Curve has what is the same for all segments.
struct Segment {
  int32_t a, b, c;
};
struct Curve {
  const Segment* segments;
  int unit;
  int scale;  // of a
  int half;   // of c
  int bias;   // so that what is cut off later is rounded on average
};
inline constexpr int kPlaceBits = 17;

// rcp, rsqrt and ex2 on [1, 2) and sqrt there, one segment a 64th or (rcp) a 128th; a second binade of rsqrt
// and sqrt follows the first. lg2 on [1, 2). sin on a quarter of a revolution. tanh: see
// special_function.cpp.
extern const Curve kRcp, kRsqrt, kSqrt, kEx2, kLg2, kSin, kTanh;

// x^2 / 2^19 as the unit's squarer has it: each row of partial products is cut off by itself, then the sum.
// x < 2^17.
uint32_t truncated_square(uint32_t x);

// The value at `place` < 2^17 of `segment`, in the curve's units; not negative.
uint64_t interpolated(const Curve& curve, size_t segment, uint32_t place);

}  // namespace bitwell::number
