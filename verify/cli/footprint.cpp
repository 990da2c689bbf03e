#include "verify/cli/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "verify/cli/table.h"

namespace bitwell::cli {

// "24,608 bytes reserved, 24,596 touched; never: 24,596 to 24,607".
static std::string touched(size_t reserved, const char* unit, const char* how,
                           const std::function<bool(size_t)>& never, size_t count) {
  size_t left = 0;
  for (size_t i = 0; i < count; ++i) left += never(i) ? 1 : 0;
  const std::string where = ranges(count, never);
  return fmt::format("{} {} {}, {} touched{}", grouped(reserved), unit, how, grouped(reserved - left),
                     left == 0 ? "" : "; never: " + where);
}

// What the launch touched of what it reserved.
std::string footprint(const isa::Footprint& f) {
  std::string out;
  if (!f.shared.empty())
    out += "  shared memory: " +
           touched(
               f.shared.size(), "bytes", "reserved", [&](size_t i) { return f.shared[i] == 0; },
               f.shared.size()) +
           "\n";
  const auto& t = f.tensor;
  if (t.allocated.any())
    out += "  tensor memory: " +
           touched(
               t.allocated.count(), "columns", "allocated",
               [&](size_t i) { return t.allocated[i] && !t.written[i]; }, t.allocated.size()) +
           "\n";
  return out;
}

nlohmann::json footprint_facts(const isa::Footprint& f) {
  nlohmann::json j = nlohmann::json::object();
  if (!f.shared.empty())
    j["shared_memory"] = {{"reserved", f.shared.size()},
                          {"touched", std::count(f.shared.begin(), f.shared.end(), 1)}};
  if (f.tensor.allocated.any())
    j["tensor_memory"] = {{"allocated", f.tensor.allocated.count()}, {"touched", f.tensor.written.count()}};
  return j;
}

}  // namespace bitwell::cli
