#include "verify/cli/report/verdicts.h"

#include <fmt/format.h>

#include "verify/cli/report/short_names.h"
#include "verify/cli/verify/verify_device.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::grouped;
using terminal::table;

namespace {

nlohmann::json json_of(const verdict::Amount& a) {
  return {{"formula", a.formula}, {"laid_out", a.laid_out}, {"reserved", a.reserved}, {"touched", a.touched}};
}

// Budgets beside what is there, of the kernels that have one.
void print_occupied(const std::vector<verdict::Verdict>& verdicts) {
  std::vector<std::vector<std::string>> rows;
  const auto cell = [](int64_t n) { return grouped(static_cast<uint64_t>(n)); };
  for (const auto& v : verdicts) {
    if (!v.occupied) continue;
    const auto& [stages, shared, columns, finding] = *v.occupied;
    rows.push_back({v.kernel, cell(stages.formula),
                    stages.reserved == 0 ? std::string() : cell(stages.reserved), cell(shared.formula),
                    cell(shared.laid_out), cell(shared.reserved), cell(shared.touched), cell(columns.formula),
                    cell(columns.laid_out), cell(columns.reserved), cell(columns.touched),
                    finding.empty() ? "agrees" : "DIFFERS"});
  }
  if (rows.empty()) return;
  fmt::print("\n{}", table({{"kernel"},
                            {"stages: budget", true},
                            {"kernel", true},
                            {"shared bytes: budget", true},
                            {"laid out", true},
                            {"reserved", true},
                            {"touched", true},
                            {"tensor columns: budget", true},
                            {"laid out", true},
                            {"allocated", true},
                            {"touched", true},
                            {"verdict"}},
                           rows));
}

}  // namespace

nlohmann::json verdict_json(const verdict::Verdict& v, bool timed) {
  nlohmann::json out{{"kernel", v.kernel},
                     {"arch", v.arch},
                     {"cases", v.cases},
                     {"outputs", v.outputs},
                     {"mismatches", v.mismatches},
                     {"first_mismatch", v.first_mismatch},
                     {"replay", v.replay.empty() ? "" : v.replay + v.replay_options},
                     {"replay_error", v.replay_error},
                     {"worst_error_ulp", v.worst_ulp},
                     {"outputs_beyond_range", v.beyond_range},
                     {"evidence", v.evidence},
                     {"published_outputs", v.published_outputs},
                     {"published_words", v.published_words},
                     {"digest", v.digest},
                     {"lane_instructions", v.lane_instructions},
                     {"holds", v.holds}};
  if (timed) out["seconds"] = v.seconds;
  if (!v.note.empty()) out["note"] = v.note;
  if (v.occupied)
    out["budget"] = {{"stages", v.occupied->stages.reserved},
                     {"stages_by_formula", v.occupied->stages.formula},
                     {"shared_bytes", json_of(v.occupied->shared)},
                     {"tensor_columns", json_of(v.occupied->columns)},
                     {"finding", v.occupied->finding}};
  return out;
}

const device::OnDevice* of_verdict(const device::DeviceReport& on_device, const verdict::Verdict& v) {
  for (const device::OnDevice& k : on_device.kernels)
    if (k.kernel == v.kernel && k.arch == v.arch) return &k;
  return nullptr;
}

std::string summary(const std::string& subject, const std::vector<verdict::Verdict>& verdicts,
                    const device::DeviceReport& on_device) {
  uint64_t outputs = 0;
  std::string failing;
  size_t fail = 0;
  for (const verdict::Verdict& v : verdicts) {
    outputs += v.outputs;
    const device::OnDevice* k = of_verdict(on_device, v);
    if (v.holds && (k == nullptr || k->holds())) continue;
    ++fail;
    failing += (failing.empty() ? "" : ", ") + v.kernel + " " + v.arch;
  }
  if (fail != 0)
    return fmt::format("{}: {} of {} verdicts FAIL: {}", subject, fail, verdicts.size(), failing);
  return fmt::format("{} holds: {} verdicts, one for each kernel and architecture, on {} outputs", subject,
                     verdicts.size(), grouped(outputs));
}

void print_verdicts(const std::vector<verdict::Verdict>& verdicts, const device::DeviceReport& on_device,
                    bool timed, bool verbose) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& v : verdicts) {
    rows.push_back({v.kernel, v.arch, std::to_string(v.cases), grouped(v.outputs), grouped(v.mismatches),
                    fmt::format("{:.1f}", v.worst_ulp), grouped(v.beyond_range), v.evidence,
                    v.holds ? "holds" : "FAILS"});
    if (timed)
      rows.back().insert(
          rows.back().end() - 1,
          fmt::format("{:.2f}",
                      v.seconds > 0 ? static_cast<double>(v.lane_instructions) / v.seconds / 1e9 : 0.0));
    if (const device::OnDevice* k = of_verdict(on_device, v)) rows.back().push_back(device_cell(*k));
  }
  std::vector<Column> columns{{"kernel"},
                              {"arch"},
                              {"shapes", true},
                              {"outputs", true},
                              {"mismatched bits", true},
                              {"worst error, ULP", true},
                              {"overflowed", true},
                              {"evidence"},
                              {"verdict"}};
  if (timed) columns.insert(columns.end() - 1, {"G lane-inst/s", true});
  if (!on_device.device.empty()) columns.push_back({on_device.device});
  fmt::print("{}", table(columns, rows));
  for (const auto& v : verdicts)
    if (!v.holds)
      fmt::print("\n{} {}: {}\n{}", v.kernel, v.arch, named(v.first_mismatch, verbose),
                 !v.replay.empty()         ? "  replay it: bitwell run " + v.replay + v.replay_options + "\n"
                 : !v.replay_error.empty() ? "  no replay: " + v.replay_error + "\n"
                                           : "");
  for (const auto& v : verdicts)
    if (!v.note.empty()) fmt::print("\nnote: {} {}: {}\n", v.kernel, v.arch, v.note);
  print_occupied(verdicts);
  fmt::print(
      "\nmismatched bits: outputs whose bits differ from the direct evaluation of the kernel's accumulation "
      "order, under\n"
      "                 the first schedule that shows it.\n"
      "worst error:     against exact arithmetic, in units in the last place of the result's format, over "
      "all "
      "outputs that are\n"
      "                 finite and should be; the adversarial cases make it large, and that is the "
      "kernel's.\n"
      "overflowed:      outputs where the kernel's own order leaves the format's range although the exact "
      "sum "
      "does not (or the\n"
      "                 reverse).\n"
      "evidence:        device = these bits came from that GPU; published = outputs of that GPU that others "
      "printed are these bits\n"
      "                 (exact sums: they do not show how a sum is cut), and so are words of its single "
      "instructions; 'rest' says how\n"
      "                 everything else is known, the order of steps of k above all; manual = the PTX "
      "manual's rules alone.\n");
}

std::vector<TestCase> tests_of(const std::vector<verdict::Verdict>& verdicts,
                               const device::DeviceReport& on_device) {
  std::vector<TestCase> out;
  for (const verdict::Verdict& v : verdicts) {
    out.push_back({v.kernel, v.arch, v.seconds, {}, "", v.note});
    if (!v.holds)
      out.back().failure = {
          "verdict", v.first_mismatch +
                         (v.replay.empty() ? "" : "\nreplay it: bitwell run " + v.replay + v.replay_options)};
  }
  for (const device::OnDevice& k : on_device.kernels) {
    out.push_back({k.kernel + " on " + on_device.device, k.arch, 0, {}, "", device_cell(k)});
    if (!k.here) out.back().skipped = device_cell(k);
    if (!k.holds()) out.back().failure = {"device", k.first};
  }
  return out;
}

}  // namespace bitwell::cli
