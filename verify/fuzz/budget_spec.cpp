// Any text as a budget's spec -> its audit and a small search, or BudgetError.
#include "model/budget/search.h"
#include "verify/fuzz/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace budget = bitwell::budget;
  constexpr int kDeepest = 100;
  constexpr size_t kMost = 16;  // choices of a search
  const std::string text = bitwell::fuzz::text_of(data, size);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kDeepest) return 0;
  }
  bitwell::fuzz::outcome<budget::BudgetError>([&] {
    const budget::Spec spec = budget::parse_spec(text);
    budget::audit(spec);
    size_t choices = 1;
    for (const auto& [name, list] : spec.search) choices *= list.size();
    if (choices <= kMost) budget::search(spec);
  });
  return 0;
}
