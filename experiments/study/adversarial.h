// Inputs that an order of summation does badly on, found by search.
#pragma once
#include "experiments/study/statistics.h"

namespace bitwell::study {

// What a search ended with: one row of A and the last generation's columns of B, for which the error against
// A is as large as the search could make it without overflow.
struct Worst {
  Vectors a, b;
  std::vector<uint16_t> results;
  std::vector<Truth> exact;
  uint64_t tried = 0;  // dot products
};
// Hill climbing: from the worst dot product of every family, generations of columns with groups turned,
// exchanged, emptied, filled or scaled otherwise. Deterministic in seed.
Worst search(const Order& order, size_t k, uint64_t seed);

}  // namespace bitwell::study
