// Any text as a budget's formula -> a number, or BudgetError.
#include "model/budget/formula.h"
#include "verify/fuzz/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace budget = bitwell::budget;
  static const budget::Names names{{"tile_m", 256}, {"tile_n", 128},      {"tile_k", 256},     {"ctas", 2},
                                   {"rank", 0},     {"least", INT64_MIN}, {"most", INT64_MAX}, {"bits", -1}};
  const std::string text = bitwell::fuzz::text_of(data, size);
  bitwell::fuzz::outcome<budget::BudgetError>([&] { budget::evaluate(text, names); });
  return 0;
}
