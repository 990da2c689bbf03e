#include "verify/cli/report/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "model/run/stuck/nearby.h"
#include "verify/cli/report/table.h"

namespace bitwell::cli {
namespace {

// Whether a byte or column is reserved and was never touched.
using Never = std::function<bool(size_t)>;

Never never_touched(const std::vector<uint8_t>& shared) {
  return [&](size_t i) { return shared[i] == 0; };
}
Never never_touched(const machine::TensorMemory::Used& t) {
  return [&](size_t i) { return t.allocated[i] && !t.written[i]; };
}

// "24,608 bytes reserved, 24,596 touched; never: 24,596 to 24,607".
std::string touched(size_t reserved, const char* unit, const char* how, const Never& never, size_t count) {
  size_t left = 0;
  for (size_t i = 0; i < count; ++i) left += never(i) ? 1 : 0;
  const std::string where = ranges(count, never);
  return fmt::format("{} {} {}, {} touched{}", grouped(reserved), unit, how, grouped(reserved - left),
                     left == 0 ? "" : "; never: " + where);
}

// The first and the last of each run.
nlohmann::json runs(size_t count, const Never& never) {
  nlohmann::json out = nlohmann::json::array();
  for (size_t i = 0; i < count; ++i) {
    if (!never(i)) continue;
    const size_t first = i;
    while (i + 1 < count && never(i + 1)) ++i;
    out.push_back({first, i});
  }
  return out;
}

// A variable of shared memory. Dynamic ones have all bytes behind the static ones.
struct Part {
  std::string name;
  bool dynamic;
  size_t offset, bytes, touched;
};
std::vector<Part> parts(const std::vector<uint8_t>& shared, const isa::Program& program) {
  std::vector<Part> out;
  for (const isa::SharedVariable& v : program.shared_variables) {
    const bool dynamic = v.size == 0;
    const size_t end = dynamic ? shared.size() : static_cast<size_t>(v.offset + v.size);
    if (v.offset >= end || end > shared.size()) continue;
    const auto at = [&](size_t i) { return shared.begin() + static_cast<std::ptrdiff_t>(i); };
    out.push_back({isa::readable(v.name), dynamic, v.offset, end - v.offset,
                   static_cast<size_t>(std::count(at(v.offset), at(end), 1))});
  }
  return out;
}

// "never touched of 'tile': 384 of 512 bytes; of dynamic 'buffers': 896 of 1,024 bytes".
std::string by_variable(const std::vector<Part>& all) {
  std::string out;
  for (const Part& p : all)
    if (p.touched != p.bytes)
      out += fmt::format("{}of {}'{}': {} of {} bytes", out.empty() ? "" : "; ", p.dynamic ? "dynamic " : "",
                         p.name, grouped(p.bytes - p.touched), grouped(p.bytes));
  return out.empty() ? out : "    never touched " + out + "\n";
}

}  // namespace

std::string footprint(const isa::Footprint& f, const isa::Program& program, const std::string& of, bool all) {
  std::string out;
  // Less is padding between variables and behind them.
  const auto told = [&](size_t reserved, const Never& never, size_t count) {
    size_t left = 0;
    for (size_t i = 0; i < count; ++i) left += never(i) ? 1 : 0;
    return all || left * 16 > reserved;
  };
  if (!f.shared.empty() && told(f.shared.size(), never_touched(f.shared), f.shared.size()))
    out +=
        fmt::format("  shared memory{}: {}\n{}", of,
                    touched(f.shared.size(), "bytes", "reserved", never_touched(f.shared), f.shared.size()),
                    by_variable(parts(f.shared, program)));
  const auto& t = f.tensor;
  if (t.allocated.any() && told(t.allocated.count(), never_touched(t), t.allocated.size()))
    out += fmt::format(
        "  tensor memory{}: {}\n", of,
        touched(t.allocated.count(), "columns", "allocated", never_touched(t), t.allocated.size()));
  return out;
}

nlohmann::json footprint_facts(const isa::Footprint& f, const isa::Program& program) {
  nlohmann::json j = nlohmann::json::object();
  if (!f.shared.empty()) {
    j["shared_memory"] = {{"reserved", f.shared.size()},
                          {"touched", std::count(f.shared.begin(), f.shared.end(), 1)},
                          {"never", runs(f.shared.size(), never_touched(f.shared))},
                          {"variables", nlohmann::json::array()}};
    for (const Part& p : parts(f.shared, program))
      j["shared_memory"]["variables"].push_back({{"name", p.name},
                                                 {"dynamic", p.dynamic},
                                                 {"offset", p.offset},
                                                 {"reserved", p.bytes},
                                                 {"touched", p.touched}});
  }
  if (f.tensor.allocated.any())
    j["tensor_memory"] = {{"allocated", f.tensor.allocated.count()},
                          {"touched", f.tensor.written.count()},
                          {"never", runs(f.tensor.allocated.size(), never_touched(f.tensor))}};
  return j;
}

}  // namespace bitwell::cli
