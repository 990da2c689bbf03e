// What a kernel keeps in shared and tensor memory: each operand's hand-written size beside its layout.
// Written as JSON; `bitwell budget --help` shows one.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/budget/formula.h"
#include "model/machine/arch.h"

namespace bitwell::budget {

// How often an item stands in a CTA's shared memory.
enum class Per : uint8_t {
  cta,      // `count` times
  stage,    // once a pipeline stage of the main loop
  epilogue  // once an epilogue stage
};

// The layout that an item really has: a named hardware layout with formulas as parameters, or an expression
// in which {formula} stands for its value.
struct LayoutText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string expression;
  std::string bits = "8";  // of an element of the expression
};

struct Item {
  std::string name;
  Per per = Per::cta;
  std::string size;  // formula: bytes, or columns of tensor memory
  std::string count = "1";
  std::optional<LayoutText> layout;
  std::string why;  // a remark shown beside the item
};

struct Spec {
  std::string name;
  std::string source;
  std::vector<std::pair<std::string, std::string>> names;  // in order: later formulas may use earlier names
  std::string capacity = std::to_string(machine::arch(100).shared);  // bytes of shared memory a CTA may have
  std::string least_stages = "1";
  std::string legal = "1";  // formula: what the kernel accepts at all
  std::vector<Item> shared;
  std::vector<Item> tensor;                                          // columns
  std::vector<std::pair<std::string, std::vector<int64_t>>> search;  // name and its choices
  std::vector<std::pair<std::string, std::string>> maximise;         // label and formula
};

// Throws BudgetError with line and column (malformed JSON) or the path and what was expected there.
Spec parse_spec(const std::string& json);

// The spec's names with the overrides, which must be names of the spec.
Names names_of(const Spec& spec, const Names& overrides);

}  // namespace bitwell::budget
