// Inputs that an order of summation does badly on, found by search.
#pragma once
#include "experiments/study/accumulate.h"

namespace bitwell::study {

// What a search ended with: one row of A and the last generation's columns of B, for which the error against
// A is as large as the search could make it without overflow.
struct Worst {
  Vectors a, b;
  std::vector<uint16_t> results;
  std::vector<Truth> exact;
};
// Hill climbing for each order: from the worst dot product of all families' samples (those of the accumulate
// study, so that the end is no better than any of them), generations of columns with groups turned,
// exchanged, emptied, filled or scaled otherwise. Deterministic in seed.
std::vector<Worst> search(std::span<const Order> orders, size_t k, size_t dots, uint64_t seed);

}  // namespace bitwell::study
