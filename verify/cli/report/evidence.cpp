#include "verify/cli/report/evidence.h"

#include <fmt/format.h>

#include "model/machine/arch.h"

namespace bitwell::cli {
namespace {

constexpr size_t kWidth = 110;  // of a line, about

std::string words_of(const capture::Evidence& e) {
  if (e.how == "device") return "device: an H200 gave these bits";
  if (e.how == "published")
    return "published: how products are summed, by words or models of others (`bitwell mma --list`); where "
           "operands stand, by the manual";
  if (e.how == "approximate") return "approximate: the manual has an error bound, an H200's bits are taken";
  return e.elsewhere ? "manual; for sm_90 an H200 gave these bits" : "manual: its rules alone";
}

}  // namespace

std::string evidence_text(const std::vector<capture::Evidence>& evidence, const std::string& target,
                          const std::vector<capture::ApproximateWay>& ways) {
  const bool asked = machine::find_target(target).arch->evidence == "device";
  std::string out = "how the results are known (`bitwell help evidence`)" +
                    (asked ? ":" : "; no GPU that runs " + target + " was asked:") + "\n";
  for (const capture::Evidence& e : evidence) {
    out += "  " + words_of(e) + "\n";
    std::string line = "   ";
    for (const std::string& name : e.operations(evidence)) {
      if (line.size() > 3 && line.size() + name.size() > kWidth) {
        out += line + "\n";
        line = "   ";
      }
      line += " " + name;
    }
    out += line + "\n";
    if (e.how != "approximate") continue;
    for (const capture::ApproximateWay& w : ways)
      out += fmt::format("    those of PTX line {} ({}) come to {}: PTX line {}\n", w.from_line,
                         w.instruction, w.to, w.ptx_line);
  }
  return out;
}

nlohmann::json evidence_facts(const std::vector<capture::Evidence>& evidence,
                              const std::vector<capture::ApproximateWay>& ways) {
  nlohmann::json out = nlohmann::json::array();
  for (const capture::Evidence& e : evidence) {
    out.push_back({{"known_by", e.how}, {"h200_for_sm_90", e.elsewhere}, {"instructions", e.instructions}});
    if (e.how != "approximate") continue;
    out.back()["come_to"] = nlohmann::json::array();
    for (const capture::ApproximateWay& w : ways)
      out.back()["come_to"].push_back({{"what", w.to},
                                       {"ptx_line", w.ptx_line},
                                       {"from_line", w.from_line},
                                       {"instruction", w.instruction}});
  }
  return out;
}

}  // namespace bitwell::cli
