#include "verify/cli/report/footprint.h"

#include <fmt/format.h>

#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::grouped;
using terminal::ranges;
namespace {

using session::Reserved;

// "24,608 bytes reserved, 24,596 touched; never: 24,596 to 24,607".
std::string touched(const Reserved& r, const char* unit, const char* how) {
  return fmt::format("{} {} {}, {} touched{}", grouped(r.reserved), unit, how,
                     grouped(r.reserved - r.untouched()),
                     r.never.empty() ? "" : "; never: " + ranges(r.never));
}

// "never touched of 'tile': 384 of 512 bytes; of dynamic 'buffers': 896 of 1,024 bytes".
std::string by_variable(const std::vector<Reserved::Part>& all) {
  std::string out;
  for (const Reserved::Part& p : all)
    if (p.touched != p.bytes)
      out += fmt::format("{}of {}'{}': {} of {} bytes", out.empty() ? "" : "; ", p.dynamic ? "dynamic " : "",
                         p.name, grouped(p.bytes - p.touched), grouped(p.bytes));
  return out.empty() ? out : "    never touched " + out + "\n";
}

nlohmann::json facts_of(const Reserved& r, const char* reserved) {
  nlohmann::json out{{reserved, r.reserved}, {"touched", r.touched}, {"never", nlohmann::json::array()}};
  for (const auto& [first, last] : r.never) out["never"].push_back({first, last});
  return out;
}

}  // namespace

std::string footprint(const session::Memories& memories, const std::string& of, bool all) {
  std::string out;
  if (memories.shared && (all || memories.shared->much_untouched()))
    out += fmt::format("  shared memory{}: {}\n{}", of, touched(*memories.shared, "bytes", "reserved"),
                       by_variable(memories.shared->parts));
  if (memories.tensor && (all || memories.tensor->much_untouched()))
    out += fmt::format("  tensor memory{}: {}\n", of, touched(*memories.tensor, "columns", "allocated"));
  return out;
}

nlohmann::json footprint_facts(const session::Memories& memories) {
  nlohmann::json j = nlohmann::json::object();
  if (memories.shared) {
    j["shared_memory"] = facts_of(*memories.shared, "reserved");
    j["shared_memory"]["variables"] = nlohmann::json::array();
    for (const Reserved::Part& p : memories.shared->parts)
      j["shared_memory"]["variables"].push_back({{"name", p.name},
                                                 {"dynamic", p.dynamic},
                                                 {"offset", p.offset},
                                                 {"reserved", p.bytes},
                                                 {"touched", p.touched}});
  }
  if (memories.tensor) j["tensor_memory"] = facts_of(*memories.tensor, "allocated");
  return j;
}

}  // namespace bitwell::cli
