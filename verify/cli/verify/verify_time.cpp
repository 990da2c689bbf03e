#include "verify/cli/verify/verify_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "verify/terminal/table.h"

namespace bitwell::cli {
namespace {

std::string full_name(const suite::Case& c) {
  return suite::kernel(suite::suite(c.suite), c.kernel).full_name;
}

}  // namespace

const verdict::TimedCase* time_of(const std::vector<verdict::TimedCase>& timed, const verdict::Verdict& v) {
  for (const verdict::TimedCase& t : timed)
    if (t.of.arch == v.arch && full_name(t.of) == v.kernel) return &t;
  return nullptr;
}

nlohmann::json time_json(const verdict::TimedCase& t) {
  nlohmann::json out{{"case", suite::text_of(t.of)}, {"shape", t.shape}};
  if (!t.why_not.empty()) out["why_not"] = t.why_not;
  if (t.us <= 0) return out;
  out.update(
      {{"device", t.device}, {"us", t.us}, {"low_us", t.low}, {"high_us", t.high}, {"bound_by", t.bound_by}});
  return out;
}

std::string time_table(const std::vector<verdict::TimedCase>& timed,
                       const std::vector<verdict::Verdict>& verdicts) {
  std::map<std::pair<std::string, std::string>, double> best;  // by architecture and shape
  for (const verdict::TimedCase& t : timed) {
    if (t.us <= 0) continue;
    double& us = best.try_emplace({t.of.arch, t.shape}, t.us).first->second;
    us = std::min(us, t.us);
  }
  std::vector<std::vector<std::string>> rows;
  for (const verdict::TimedCase& t : timed) {
    const auto judged = std::find_if(verdicts.begin(), verdicts.end(), [&](const verdict::Verdict& v) {
      return v.arch == t.of.arch && v.kernel == full_name(t.of);
    });
    std::vector<std::string> row{t.shape, full_name(t.of), t.of.arch,
                                 judged == verdicts.end() ? "-"
                                 : judged->holds          ? "holds"
                                                          : "FAILS"};
    if (t.us > 0) {
      const double fastest = best.at({t.of.arch, t.shape});
      row.insert(row.end(), {fmt::format("{:.1f}", t.us), fmt::format("{:.1f} to {:.1f}", t.low, t.high),
                             fmt::format("{:.2f}", t.us / fastest), t.bound_by, t.device});
    } else {
      row.insert(row.end(), {"-", "-", "-", "-", "-"});
    }
    row.push_back(t.why_not);
    rows.push_back(std::move(row));
  }
  const bool by_code =
      std::all_of(timed.begin(), timed.end(), [](const auto& t) { return t.us == 0 || t.by_code; });
  return std::string("What they would take, by a model: ") +
         (by_code ? "of the instructions that ptxas makes" : "of PTX, not of machine code") + "\n\n" +
         terminal::table({{"largest shape"},
                          {"kernel"},
                          {"architecture"},
                          {"verdict"},
                          {"modelled us", true},
                          {"between, us", true},
                          {"times the fastest there", true},
                          {"bound by"},
                          {"costs of"},
                          {""}},
                         rows);
}

}  // namespace bitwell::cli
