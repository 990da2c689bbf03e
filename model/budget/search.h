// Which choices of a spec's names fit, and which of those no other beats.
#pragma once
#include "model/budget/audit.h"

namespace bitwell::budget {

struct Choice {
  Names chosen;                 // the searched names
  Fit fit;                      // by layouts
  std::vector<int64_t> scores;  // of spec.maximise, in order
  bool front = false;           // on the Pareto front: no other has every score as high and one higher
};

struct SearchResult {
  size_t tried = 0;
  size_t illegal = 0;  // refused by the spec's `legal`, or by a layout
  std::vector<Choice> fitting;
};

inline constexpr size_t kMostChoices = 20000;

// Formulas of `maximise` may use the names stages, epilogue_stages, used and columns beside the spec's.
SearchResult search(const Spec& spec, const Names& overrides = {});

}  // namespace bitwell::budget
