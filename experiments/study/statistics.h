// How far results lie from the truth, over many dot products.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "experiments/study/family.h"
#include "experiments/study/order.h"

namespace bitwell::study {

// What is exact of one dot product.
struct Truth {
  double value = 0;      // sum of a b, rounded once to double
  double magnitude = 0;  // A, sum of |a b|
};
// [row][column]; by verify/oracle, in integers.
std::vector<Truth> truths(const Vectors& a, const Vectors& b);

// fp16's unit in the last place at a value.
double half_unit_at(double value);

// A problem's tolerance: |got - want| <= absolute + relative |want|, want the exact value as fp16.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-3;
};
void check(const Tolerance& t);  // InputError unless both are finite and not negative

// Errors of finite results; ULP: of fp16 at the exact value. Relative errors are against A.
struct Statistics {
  uint64_t dots = 0;
  uint64_t overflows = 0;                          // infinite or NaN where the exact value is in fp16's range
  uint64_t underflows = 0;                         // zero where the exact value rounds to something else
  uint64_t outside = 0;                            // of the tolerance; overflows count
  uint64_t beyond_worst = 0, beyond_probable = 0;  // of the bounds
  double max_relative = 0, mean_relative = 0;
  double max_ulp = 0, mean_ulp = 0, median_ulp = 0, ulp90 = 0, ulp99 = 0;
  double bits =
      0;  // mean of -log2(|error| / |exact|), at most 24 a dot product; 0 for what is infinitely wrong
};
Statistics statistics(std::span<const uint16_t> results, std::span<const Truth> truths, const Bound& bound,
                      const Tolerance& tolerance);

}  // namespace bitwell::study
