#include "verify/cli/verify/verify_device.h"

#include <fmt/format.h>

#include "verify/terminal/table.h"

namespace bitwell::cli {
using terminal::grouped;

std::string device_cell(const device::OnDevice& k) {
  if (!k.here) return "not on this GPU";
  if (k.differing != 0) return fmt::format("{} of {} bytes DIFFER", grouped(k.differing), grouped(k.bytes));
  if (!k.holds())
    return fmt::format("{} of {} cases FAIL", grouped(k.wrong + k.left_out),
                       grouped(k.cases + k.wrong + k.left_out));
  return fmt::format("{} bytes equal", grouped(k.bytes));
}

std::string device_findings(const device::DeviceReport& report) {
  std::string out;
  for (const device::OnDevice& k : report.kernels) {
    if (k.holds()) continue;
    out += fmt::format("\n{} {} on {}: {}\n", k.kernel, k.arch, report.device, k.first);
    if (k.left_out != 0)
      out += fmt::format(
          "  {} further case{} did not run: the device takes no launch after that, in that process\n",
          grouped(k.left_out), k.left_out == 1 ? "" : "s");
  }
  return out;
}

nlohmann::json device_json(const device::OnDevice& k) {
  if (!k.here) return {{"here", false}};
  return {{"here", true},
          {"cases", k.cases},
          {"left_out", k.left_out},
          {"bytes", k.bytes},
          {"differing_bytes", k.differing},
          {"wrong_cases", k.wrong},
          {"first", k.first},
          {"holds", k.holds()}};
}

}  // namespace bitwell::cli
