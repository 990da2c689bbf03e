// The audit: every hand-written size against the layout it stands for, and the pipeline stages that fit under
// each.
#pragma once
#include "model/budget/spec.h"

namespace bitwell::budget {

enum class Verdict : uint8_t { unchecked, agrees, too_large, too_small };

struct Line {
  Item item;
  int64_t count;                  // of a Per::cta item
  int64_t formula;                // bytes (columns) as written
  std::optional<int64_t> layout;  // as laid out
  std::string layout_text;        // the layout, for the reader
  Verdict verdict = Verdict::unchecked;
  std::vector<std::string> fixes;  // nearest formulas that agree with the layout
};

// What fits. As the CuTe DSL's examples compute it: two epilogue stages are set aside, main-loop stages take
// what is left, further epilogue stages the rest of that.
struct Fit {
  int64_t capacity = 0;
  int64_t fixed = 0;     // bytes of Per::cta items
  int64_t stage = 0;     // bytes of one main-loop stage
  int64_t epilogue = 0;  // bytes of one epilogue stage
  int64_t stages = 0;
  int64_t epilogue_stages = 0;
  int64_t used = 0;       // bytes with those stages, by this way of counting
  int64_t columns = 0;    // of tensor memory, as counted
  int64_t allocated = 0;  // as tcgen05.alloc gives them: a power of two, 32 or more; 0: none, or too many
  bool fits = false;      // least_stages reached, everything within capacity, columns within tensor memory
};

struct Audit {
  Names names;
  std::vector<Line> shared;
  std::vector<Line> tensor;
  Fit written;
  Fit laid_out;  // layouts where there are any
  // With the stages that the written sizes give, bytes that nothing occupies.
  int64_t idle = 0;
  bool agrees = true;
};

// Throws BudgetError; a layout's error names its item.
Audit audit(const Spec& spec, const Names& overrides = {});

}  // namespace bitwell::budget
