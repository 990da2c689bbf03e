#include "verify/cli/run/run_findings.h"

#include <fmt/format.h>

#include <filesystem>

#include "verify/cli/run/run_sarif.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/file/names.h"

namespace bitwell::cli {
namespace {

verify::Baseline read_if_there(const std::string& path) {
  return path.empty() || !std::filesystem::is_regular_file(path) ? verify::Baseline{}
                                                                 : verify::read_baseline(path);
}

TestCase test_of(const nlohmann::json& expected, const std::string& entry) {
  TestCase out{"'" + expected["buffer"].get<std::string>() + "' is as expected", entry, 0, {}, "", ""};
  if (expected["wrong"] != 0)
    out.failure = {"expected", fmt::format("{} of {} elements are not as expected, the first at {}",
                                           expected["wrong"].dump(), expected["elements"].dump(),
                                           expected["first"]["element"].get<std::string>())};
  return out;
}

}  // namespace

RunFindings::RunFindings(const RunOptions& options, const verify::LaunchFile& file)
    : options_(options),
      file_(file),
      known_(options.baseline.empty() ? verify::Baseline{} : verify::read_baseline(options.baseline)),
      replaced_(read_if_there(options.write_baseline)) {}

std::vector<verify::Found> RunFindings::found() const {
  std::vector<verify::Found> out;
  if (answer_ != nullptr)
    for (const session::Weighed& w : answer_->findings) out.push_back(w.found);
  return out;
}

verify::Sifted RunFindings::sifted() const {
  return verify::sift(found(), answer_ == nullptr ? verify::Entries{} : answer_->entries, known_);
}

void RunFindings::plan(verify::OutputFiles& files) const {
  for (const auto& [path, option] : {std::pair{&options_.sarif, "--sarif"},
                                     {&options_.junit, "--junit"},
                                     {&options_.write_baseline, "--write-baseline"}})
    if (!path->empty()) files.plan(*path, option);
}

const std::string& RunFindings::entry() const {
  return answer_ == nullptr ? file_.launch.entry : answer_->races->entry();
}

Hazards RunFindings::now() const {
  return hazards(sifted(), options_.path + replay_options(options_), entry(), options_.baseline,
                 options_.error_on, [this](const verify::Found& f) { return answer_->races->weighed(f); },
                 {options_.explain, options_.all, options_.verbose});
}

void RunFindings::write_sarif(verify::OutputFiles& files) const {
  if (!options_.sarif.empty())
    files.write(options_.sarif,
                sarif(sifted(), [this](const verify::Found& f) { return answer_->races->weighed(f); }));
}

std::vector<TestCase> RunFindings::tests(const std::string& fault, double seconds,
                                         const nlohmann::json& expected) const {
  const std::string name = verify::as_written(entry());
  std::vector<TestCase> out{{"runs to its end", name, seconds, {}, "", ""}};
  if (!fault.empty()) out[0].failure = {"fault", fault};
  for (const nlohmann::json& e : expected) out.push_back(test_of(e, name));
  if (options_.races)
    for (TestCase& test : now().tests) out.push_back(std::move(test));
  return out;
}

void RunFindings::write_junit(verify::OutputFiles& files, const std::string& fault, double seconds,
                              const nlohmann::json& expected) const {
  if (!options_.junit.empty())
    files.write(options_.junit, junit(options_.path, tests(fault, seconds, expected)));
}

void RunFindings::write_baseline(verify::OutputFiles& files) const {
  if (!options_.write_baseline.empty())
    files.write(options_.write_baseline, verify::baseline_with(replaced_, found(), answer_->entries));
}

}  // namespace bitwell::cli
