#include "verify/cli/run/run_findings.h"

#include <fmt/format.h>

#include <filesystem>

#include "model/strict_json/write.h"
#include "verify/cli/run/run_sarif.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/file/names.h"

namespace bitwell::cli {
namespace {

findings::Baseline read_if_there(const std::string& path) {
  return path.empty() || !std::filesystem::is_regular_file(path) ? findings::Baseline{}
                                                                 : findings::read_baseline(path);
}

TestCase test_of(const nlohmann::json& expected, const std::string& entry) {
  TestCase out{"'" + expected["buffer"].get<std::string>() + "' is as expected", entry, 0, {}, "", ""};
  if (expected["wrong"] != 0)
    out.failure = {"expected", fmt::format("{} of {} elements are not as expected, the first at {}",
                                           strict_json::dumped(expected["wrong"]),
                                           strict_json::dumped(expected["elements"]),
                                           strict_json::dumped(expected["first"]["element"]))};
  return out;
}

}  // namespace

RunFindings::RunFindings(const RunOptions& options)
    : options_(options),
      known_(options.baseline.empty() ? findings::Baseline{} : findings::read_baseline(options.baseline)),
      replaced_(read_if_there(options.write_baseline)) {}

void RunFindings::take(const session::Answer& answer) {
  answer_ = &answer;
  found_ = session::findings_of(answer, known_);
}

void RunFindings::plan(launch::OutputFiles& files) const {
  for (const auto& [path, option] : {std::pair{&options_.sarif, "--sarif"},
                                     {&options_.junit, "--junit"},
                                     {&options_.write_baseline, "--write-baseline"}})
    if (!path->empty()) files.plan(*path, option);
}

Hazards RunFindings::told() const {
  return hazards(found_, options_.path + replay_options(options_), answer_->entry(), options_.baseline,
                 options_.error_on, {options_.explain, options_.all, options_.verbose});
}

void RunFindings::write_sarif(launch::OutputFiles& files, const std::string& ptx,
                              const machine::Fault* fault) const {
  if (!options_.sarif.empty()) files.write(options_.sarif, sarif(found_, fault, ptx));
}

std::vector<TestCase> RunFindings::tests(const std::string& fault, double seconds,
                                         const nlohmann::json& expected) const {
  const std::string name = launch::as_written(answer_->entry());
  std::vector<TestCase> out{{"runs to its end", name, seconds, {}, "", ""}};
  if (!fault.empty()) out[0].failure = {"fault", fault};
  for (const nlohmann::json& e : expected) out.push_back(test_of(e, name));
  if (options_.races)
    for (TestCase& test : told().tests) out.push_back(std::move(test));
  return out;
}

void RunFindings::write_junit(launch::OutputFiles& files, const std::string& fault, double seconds,
                              const nlohmann::json& expected) const {
  if (!options_.junit.empty())
    files.write(options_.junit, junit(options_.path, tests(fault, seconds, expected)));
}

void RunFindings::write_baseline(launch::OutputFiles& files) const {
  if (!options_.write_baseline.empty())
    files.write(options_.write_baseline, session::baseline_with(replaced_, *answer_));
}

}  // namespace bitwell::cli
