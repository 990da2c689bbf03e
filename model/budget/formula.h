// Integer formulas as kernels write them by hand: "tile_n * rank * 2 / ctas".
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bitwell::budget {

// A formula or a spec that cannot be read or computed. The message says where.
struct BudgetError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A layout that no hardware or algebra has for these names: a search goes on to its next choice.
struct LayoutRefused : BudgetError {
  using BudgetError::BudgetError;
};

using Names = std::map<std::string, int64_t>;

// + - * / % (integer division truncates, as in C), comparisons (1 or 0), parentheses, integers, names, and
// min(a,b) max(a,b) ceil_div(a,b) round_up(a,b) if(condition,a,b), which computes one side only.
// BudgetError with the column: syntax, an unknown name, division by zero, a value beyond 63 bits.
int64_t evaluate(std::string_view formula, const Names& names);

}  // namespace bitwell::budget
