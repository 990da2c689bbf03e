// What each quantisation recipe loses: signal to noise, bias, clipping.
#pragma once
#include "experiments/study/table.h"

namespace bitwell::study {

struct QuantisePlan {
  std::vector<std::string> recipes;    // names; empty: all
  size_t rows = 2048, columns = 1024;  // of the tensor; columns a multiple of 32
  uint64_t seed = 1;
};
// Throws machine::InputError for a recipe that there is none of, for columns, and for more than 2^28
// elements.
Study quantise_study(const QuantisePlan& plan);

}  // namespace bitwell::study
