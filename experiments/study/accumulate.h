// What each order of summation costs: error against the exact sum, over data families and lengths.
#pragma once
#include <string>
#include <vector>

#include "experiments/study/statistics.h"
#include "experiments/study/table.h"

namespace bitwell::study {

struct AccumulatePlan {
  std::vector<std::string> orders;      // names; empty: all
  std::vector<std::string> families;    // names; empty: all
  size_t least_k = 16, most_k = 16384;  // powers of two between
  size_t dots = 10000;                  // of a point; fewer where dots * k would pass dots * 16384
  uint64_t seed = 1;
  Tolerance tolerance;
};
// A point: one family, one k, one order.
struct AccumulatePoint {
  std::string family, order;
  size_t k = 0;
  Bound bound;
  Statistics statistics;
};
// Throws machine::InputError for names that there are none of and for k not in 16 .. 2^20.
Study accumulate_study(const AccumulatePlan& plan);
AccumulatePoint accumulate_point(const std::vector<std::string>& row);

// One point's dot products: `rows` of A times `columns` of B, of which there are about `dots`.
struct Sample {
  Vectors a, b;
};
Sample sample(Family family, size_t k, size_t dots, uint64_t seed);
const NamedFamily& find_family(std::string_view name);

}  // namespace bitwell::study
