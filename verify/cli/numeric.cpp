#include "verify/cli/numeric.h"

#include <fmt/format.h>

#include "verify/cli/table.h"
#include "verify/hazard/report.h"

namespace bitwell::cli {
namespace {

using Form = isa::Losses::Form;

// "2048 + 0.25 = 2048", with the instruction's operands.
std::string example(Form form, const isa::Loss& loss) {
  const auto& v = loss.operands;
  switch (form) {
    case Form::sum: return fmt::format("{} + {} = {}", v[0], v[1], loss.result);
    case Form::difference: return fmt::format("{} - {} = {}", v[0], v[1], loss.result);
    case Form::product: return fmt::format("{} * {} = {}", v[0], v[1], loss.result);
    case Form::product_and_sum: return fmt::format("{} * {} + {} = {}", v[0], v[1], v[2], loss.result);
    case Form::conversion: return fmt::format("{} becomes {}", v[0], loss.result);
    case Form::matrix: break;
  }
  return fmt::format("products and {} = {}", v[0], loss.result);
}

std::string line_of(const isa::Losses& l, const isa::Loss& loss, const char* what,
                    const isa::Program& program) {
  const isa::Line* const at = verify::line_of(l.ptx_line, program);
  return fmt::format(
      "  numeric: {}\n",
      machine::describe(loss.first,
                        fmt::format("{}: {} of {} results {}, the first {}", at == nullptr ? "" : at->text,
                                    grouped(loss.count), grouped(l.results), what, example(l.form, loss))));
}

nlohmann::json facts_of(const isa::Losses& l, const isa::Loss& loss) {
  nlohmann::json out{{"count", loss.count}};
  if (loss.count != 0)
    out["first"] = {{"cta", loss.first.cta},
                    {"thread", loss.first.thread},
                    {"operands", loss.operands},
                    {"text", example(l.form, loss)}};
  return out;
}

}  // namespace

std::string numeric_text(const std::vector<isa::Losses>& losses, const isa::Program& program) {
  std::string out;
  for (const isa::Losses& l : losses) {
    if (l.overflowed.count != 0) out += line_of(l, l.overflowed, "are infinite, of finite operands", program);
    if (l.absorbed.count != 0) out += line_of(l, l.absorbed, "are what the larger term alone gives", program);
  }
  return out.empty() ? "  numeric: no 16-bit result overflowed, and no 16-bit sum lost a term\n" : out;
}

nlohmann::json numeric_facts(const std::vector<isa::Losses>& losses) {
  nlohmann::json out = nlohmann::json::array();
  for (const isa::Losses& l : losses)
    out.push_back({{"ptx_line", l.ptx_line},
                   {"results", l.results},
                   {"overflowed", facts_of(l, l.overflowed)},
                   {"absorbed", facts_of(l, l.absorbed)}});
  return out;
}

}  // namespace bitwell::cli
