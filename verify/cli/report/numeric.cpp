#include "verify/cli/report/numeric.h"

#include <fmt/format.h>

#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
namespace {

using Form = run::Losses::Form;

// "2048 + 0.25 = 2048", with the instruction's operands.
std::string example(Form form, const run::Loss& loss) {
  const auto& v = loss.operands;
  switch (form) {
    case Form::sum: return fmt::format("{} + {} = {}", v[0], v[1], loss.result);
    case Form::difference: return fmt::format("{} - {} = {}", v[0], v[1], loss.result);
    case Form::product: return fmt::format("{} * {} = {}", v[0], v[1], loss.result);
    case Form::product_and_sum: return fmt::format("{} * {} + {} = {}", v[0], v[1], v[2], loss.result);
    case Form::conversion: return fmt::format("{} becomes {}", v[0], loss.result);
    case Form::matrix: break;
  }
  return fmt::format("products of {} and {} = {}, in row {}, column {} of D", v[0], v[1], loss.result,
                     (*loss.cell)[0], (*loss.cell)[1]);
}

std::string line_of(const run::Losses& l, const run::Loss& loss, const std::string& what) {
  return fmt::format(
      "  numeric: {}\n",
      machine::describe(
          loss.first, fmt::format("{}: {} of {} results {}, the first {}", l.instruction, grouped(loss.count),
                                  grouped(l.results), what, example(l.form, loss))));
}

nlohmann::json facts_of(const run::Losses& l, const run::Loss& loss) {
  nlohmann::json out{{"count", loss.count}};
  if (loss.count != 0)
    out["first"] = {{"cta", loss.first.cta},
                    {"thread", loss.first.thread},
                    {"operands", loss.operands},
                    {"text", example(l.form, loss)}};
  if (loss.cell) {
    out["first"]["row"] = (*loss.cell)[0];
    out["first"]["column"] = (*loss.cell)[1];
  }
  return out;
}

}  // namespace

std::string numeric_text(const std::vector<run::Losses>& losses, run::Bound bound) {
  std::string out;
  for (const run::Losses& l : losses) {
    const bool matrix = l.form == Form::matrix;
    if (l.overflowed.count != 0) out += line_of(l, l.overflowed, "are infinite, of finite operands");
    if (l.absorbed.count != 0)
      out += line_of(l, l.absorbed,
                     matrix ? "are what the products or the accumulator alone give"
                            : "are what the larger term alone gives");
    if (l.shortened.count != 0)
      out += line_of(
          l, l.shortened,
          fmt::format("lose more than {} bits of the smaller term, up to {}", *bound, l.shortened.bits));
  }
  if (!out.empty()) return out;
  return fmt::format("  numeric: no 16-bit result overflowed, and no 16-bit sum lost a term{}\n",
                     bound ? fmt::format(", or more than {} bits of one", *bound) : "");
}

nlohmann::json numeric_facts(const std::vector<run::Losses>& losses, run::Bound bound) {
  nlohmann::json out = nlohmann::json::array();
  for (const run::Losses& l : losses) {
    out.push_back({{"ptx_line", l.ptx_line},
                   {"instruction", l.instruction},
                   {"results", l.results},
                   {"overflowed", facts_of(l, l.overflowed)},
                   {"absorbed", facts_of(l, l.absorbed)}});
    if (!bound) continue;
    out.back()["lost_bits"] = facts_of(l, l.shortened);
    out.back()["lost_bits"]["bound"] = *bound;
    out.back()["lost_bits"]["most"] = l.shortened.bits;
  }
  return out;
}

}  // namespace bitwell::cli
