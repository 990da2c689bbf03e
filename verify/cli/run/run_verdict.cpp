#include "verify/cli/run/run_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "model/isa/compile/compile.h"
#include "model/isa/compile/module.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/file/numbers.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
using terminal::range;
namespace {

constexpr size_t kClasses = 4;  // of errors that are told apart

std::string number(long double v) { return fmt::format("{:.9g}", static_cast<double>(v)); }
std::string nan_text(uint64_t bits) { return fmt::format("NaN 0x{:x}", bits); }

// A JSON number; of what JSON has none for, "nan" or "inf".
nlohmann::json fact_of(long double v) {
  const auto d = static_cast<double>(v);
  return std::isfinite(d) ? nlohmann::json(d) : nlohmann::json(number(v));
}

// How many elements are off by `from` to `to`, in units in the last place or, of integers, in ones.
struct Class {
  uint64_t from = 0;
  std::optional<uint64_t> to{};  // none: or more
  uint64_t count = 0;
};

// At most kClasses, with those that are no finite numbers; the last for all that are off by more.
std::vector<Class> classes_of(const launch::Comparison& c) {
  std::map<int, uint64_t> by = c.by_error;
  const size_t most = kClasses - by.erase(-1);
  std::vector<Class> out;
  for (const auto& [power, count] : by) {
    const uint64_t from = uint64_t{1} << power;
    if (out.size() < most) {
      out.push_back({from, 2 * from - 1, count});
    } else {
      out.back().to.reset();
      out.back().count += count;
    }
  }
  return out;
}

// "1 ULP: 12, 2 to 3 ULP: 4, not finite: 1"; of integers "1: 12, 2 to 3: 4".
std::string classes_text(const launch::Comparison& c) {
  const char* unit = c.integers ? "" : " ULP";
  std::string out;
  const auto add = [&](const std::string& name, uint64_t count) {
    out += (out.empty() ? "" : ", ") + name + ": " + grouped(count);
  };
  for (const Class& one : classes_of(c))
    add(!one.to               ? fmt::format("{}{} or more", grouped(one.from), unit)
        : one.from == *one.to ? fmt::format("{}{}", one.from, unit)
                              : fmt::format("{} to {}{}", grouped(one.from), grouped(*one.to), unit),
        one.count);
  if (c.by_error.contains(-1)) add("not finite", c.by_error.at(-1));
  return out;
}

std::string percent(long double share) {
  const double p = 100 * static_cast<double>(share);
  return p > 1000 ? fmt::format("{} times", number(share)) : fmt::format("{:.3g} % of", p);
}

// How far off the elements are that are not the expected numbers: the largest errors and what they are of the
// tolerance, and how many are off by how much.
std::string errors(const launch::Comparison& c, const launch::Output& output) {
  std::string out;
  const auto where = [&](const launch::Comparison::Largest& l) {
    return launch::coordinates_text(output.shape, l.element);
  };
  if (c.absolute) {
    out += fmt::format("    largest error {} at {}", number(c.absolute->error), where(*c.absolute));
    if (c.relative) out += fmt::format(", relative {} at {}", number(c.relative->error), where(*c.relative));
    if (c.share && !std::isinf(c.share->error))
      out += fmt::format("; at most {} the tolerance, at {}", percent(c.share->error), where(*c.share));
    out += "\n";
  }
  std::string counts;
  if (c.rounded != 0)
    counts = fmt::format("{} {} the expected number rounded to {}", grouped(c.rounded),
                         c.rounded == 1 ? "is" : "are", output.format.empty() ? output.dtype : output.format);
  if (!c.by_error.empty()) counts += (counts.empty() ? "" : "; ") + ("off by " + classes_text(c));
  if (c.negligible != 0)
    counts += fmt::format("; {} of these by less than the last place of the largest expected number",
                          grouped(c.negligible));
  return counts.empty() ? out : out + "    " + counts + "\n";
}

// The same for --json: every key is there, whatever there is to say. docs/launch-file.md has them.
nlohmann::json facts_of(const std::string& buffer, const launch::Comparison& c,
                        const launch::Output& output) {
  const auto largest = [&](const std::optional<launch::Comparison::Largest>& l, const char* what) {
    if (!l || std::isinf(l->error)) return nlohmann::json();
    return nlohmann::json{{what, static_cast<double>(l->error)},
                          {"element", launch::coordinates(output.shape, l->element)}};
  };
  nlohmann::json classes = nlohmann::json::array();
  for (const Class& one : classes_of(c))
    classes.push_back({{"from", one.from},
                       {"to", one.to ? nlohmann::json(*one.to) : nlohmann::json()},
                       {"count", one.count}});
  nlohmann::json first;
  if (c.wrong != 0)
    first = {{"element", launch::coordinates(output.shape, c.first)},
             {"got", c.nans ? nlohmann::json(nan_text(c.nans->first)) : fact_of(c.got)},
             {"expected", c.nans ? nlohmann::json(nan_text(c.nans->second)) : fact_of(c.want)}};
  return {{"buffer", buffer},
          {"elements", c.elements},
          {"wrong", c.wrong},
          {"first", std::move(first)},
          {"pattern", c.pattern.empty() ? nlohmann::json() : nlohmann::json(c.pattern)},
          {"largest_error", largest(c.absolute, "error")},
          {"largest_relative_error", largest(c.relative, "error")},
          {"largest_share_of_tolerance", largest(c.share, "share")},
          {"rounded", c.rounded},
          {"unit", c.integers ? "1" : "ulp"},
          {"classes", std::move(classes)},
          {"not_finite", c.by_error.contains(-1) ? c.by_error.at(-1) : 0},
          {"negligible", c.negligible},
          {"products", nullptr}};
}

std::string ordinal(uint64_t n) {
  const bool teen = n / 10 % 10 == 1;
  return grouped(n) + (teen || n % 10 > 3 || n % 10 == 0 ? "th"
                       : n % 10 == 1                     ? "st"
                       : n % 10 == 2                     ? "nd"
                                                         : "rd");
}

// "4,096 lack the products of k 64 to 127 (the 2nd of 8 steps of 64)", of a product over `k`.
std::string products(const launch::WrongProducts& p, uint64_t k, nlohmann::json& facts) {
  using What = launch::WrongProducts::What;
  const auto piece = [&](uint64_t from) { return "k " + range(from, from + p.to - p.from - 1); };
  facts = {{"k", {p.from, p.to - 1}}, {"elements", p.elements}};
  std::string out = grouped(p.elements);
  if (p.what == What::missing) {
    facts["are"] = "missing";
    out += " lack the products of " + piece(p.from);
  } else if (p.what == What::twice) {
    facts["are"] = "there twice";
    out += " have the products of " + piece(p.from) + " twice";
  } else {
    facts["are"] = "exchanged";
    facts["a"] = {p.a_from, p.a_from + p.to - p.from - 1};
    facts["b"] = {p.b_from, p.b_from + p.to - p.from - 1};
    out += " have, for the products of " + piece(p.from) + ", those of ";
    out += p.a_from == p.b_from ? piece(p.a_from) : "A's " + piece(p.a_from) + " and B's " + piece(p.b_from);
  }
  if (p.width == 0) return out;
  return out + fmt::format(" (the {} of {} steps of {})", ordinal(p.from / p.width + 1),
                           grouped((k + p.width - 1) / p.width), p.width);
}

// Of outputs that are not as expected, which a GPU may have left: where that may come from.
std::string may_be_fused(const launch::Launch& launch) {
  const isa::Module& module = *launch.module->own();
  if (launch.fmad) return "";            // what ptxas fuses is fused
  if (module.text().empty()) return "";  // compiled elsewhere
  uint64_t sums = 0;
  std::string first;
  const std::string entry = launch::entry_of(module, launch.entry);
  for (const isa::Finding& f : isa::check(module.syntax(entry), entry)) {
    if (f.kind != isa::Finding::Kind::contractible) continue;
    if (++sums == 1)
      first = fmt::format("PTX line {}{}", f.line, f.cuda == nullptr ? "" : " (" + f.cuda->words + ")");
  }
  if (sums == 0) return "";
  return fmt::format(
      "  ptxas may fuse {} of this kernel with a product, {} {}, and a GPU's outputs differ then: --fmad "
      "fuses what "
      "ptxas fuses, nvcc -fmad=false keeps them apart, as bitwell does without it\n",
      sums == 1 ? "1 sum" : grouped(sums) + " sums", sums == 1 ? "that of" : "the first that of", first);
}

}  // namespace

std::string expectations(const launch::LaunchFile& file, nlohmann::json& facts, session::Tally& tally) {
  std::string out;
  bool wrong = false;
  for (const auto& [at, output] : file.outputs) {
    if (!output.expected) continue;
    const std::string& name = file.launch.buffers[at].name;
    const launch::Comparison c = launch::compare(file.launch.buffers[at].bytes, output);
    tally.wrong = tally.wrong.value_or(0) + c.wrong;
    wrong = wrong || c.wrong != 0;
    nlohmann::json one = facts_of(name, c, output);
    if (c.wrong == 0) {
      out += fmt::format("  {}: {} elements as expected\n", name, grouped(c.elements));
    } else {
      const std::string where = launch::coordinates_text(output.shape, c.first);
      const std::string got = c.nans ? nan_text(c.nans->first) : number(c.got);
      const std::string want = c.nans ? nan_text(c.nans->second) : number(c.want);
      out += fmt::format("  {}: {} of {} elements are not as expected, the first at {}: {}, expected {}\n",
                         name, grouped(c.wrong), grouped(c.elements), where, got, want);
      if (!c.pattern.empty()) out += "    where " + c.pattern + "\n";
      if (c.products)
        out += "    of " + grouped(c.wrong) + " wrong elements " +
               products(*c.products, output.expected->product->k, one["products"]) + "\n";
    }
    out += errors(c, output);
    facts.push_back(std::move(one));
  }
  return wrong ? out + may_be_fused(file.launch) : out;
}

std::string beside_text(const device::Beside& beside, const launch::Launch& launch, nlohmann::json& facts) {
  facts["device"] = beside.device;
  facts["driver"] = beside.driver;
  facts["outputs"] = nlohmann::json::array();
  std::string out = fmt::format("on {}, driver {}:\n", beside.device, beside.driver);
  if (!beside.fault.empty()) {
    facts["fault"] = beside.fault;
    return out + "  " + beside.fault + "\n";
  }
  for (const device::OutputBeside& o : beside.outputs) {
    nlohmann::json one{{"output", o.name}, {"bytes", o.bytes}, {"equal", !o.differs}};
    if (o.differs) {
      const auto& d = *o.differs;
      out += fmt::format("  {}: differs at byte {}, element {}: {} here, {} on the GPU\n", o.name,
                         grouped(d.byte), d.element, d.here, d.on_gpu);
      one.update({{"byte", d.byte}, {"element", d.element}, {"here", d.here}, {"on_gpu", d.on_gpu}});
    } else {
      out += fmt::format("  {}: {} bytes, every one the GPU's\n", o.name, grouped(o.bytes));
    }
    facts["outputs"].push_back(std::move(one));
  }
  if (std::any_of(beside.outputs.begin(), beside.outputs.end(),
                  [](const device::OutputBeside& o) { return o.differs.has_value(); }))
    out += may_be_fused(launch);
  const device::Unvouched& open = beside.unvouched;
  if (open.instructions.empty()) {
    out += "  every instruction of the kernel has bits of a GPU in bitwell's captures\n";
  } else {
    out += fmt::format("  no GPU's bits are recorded for {} of the kernel's instructions:",
                       open.instructions.size());
    for (const std::string& one : open.instructions) out += " " + one;
    out += "\n";
  }
  for (const std::string& a : open.approximations) out += "  no GPU's bits are recorded for PTX " + a + "\n";
  for (const auto& [target, evidence] : open.targets)
    out += fmt::format("  what bitwell knows of {} is by the {} alone, where nothing more is said\n", target,
                       evidence);
  facts["without_evidence"] = open.instructions;
  facts["approximations"] = open.approximations;
  return out;
}

}  // namespace bitwell::cli
