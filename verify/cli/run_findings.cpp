#include "verify/cli/run_findings.h"

#include <fmt/format.h>

#include <filesystem>

#include "verify/cli/run_sarif.h"

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

RunFindings::RunFindings(const RunOptions& options, const isa::Program& program,
                         const verify::LaunchFile& file)
    : options_(options),
      program_(program),
      file_(file),
      checker_(verify::checker_of(program, file.launch.shape, options.once)),
      known_(options.baseline.empty() ? verify::Baseline{} : verify::read_baseline(options.baseline)),
      replaced_(read_if_there(options.write_baseline)) {
  if (!options.races) return;
  const std::string text = verify::read_file(file.launch.ptx);
  checker_.follow(verify::objects_of(text, program));
  if (options.explain) ways_.emplace(ptx::parse(text));
}

void RunFindings::plan(verify::OutputFiles& files) const {
  for (const auto& [path, option] : {std::pair{&options_.sarif, "--sarif"},
                                     {&options_.junit, "--junit"},
                                     {&options_.write_baseline, "--write-baseline"}})
    if (!path->empty()) files.plan(*path, option);
}

Hazards RunFindings::now() const {
  return hazards(verify::sift(checker_.findings(), program_, known_), program_, file_.launch.shape,
                 options_.path + replay_options(options_), options_.baseline, options_.error_on,
                 ways_ ? &*ways_ : nullptr);
}

void RunFindings::write_sarif(verify::OutputFiles& files) const {
  if (options_.sarif.empty()) return;
  files.write(options_.sarif, sarif(verify::sift(checker_.findings(), program_, known_), program_,
                                    file_.launch.shape, file_.launch.ptx));
}

void RunFindings::write_junit(verify::OutputFiles& files, const std::string& fault, double seconds,
                              const nlohmann::json& expected) const {
  if (options_.junit.empty()) return;
  const std::string& entry = file_.launch.entry;
  std::vector<TestCase> tests{{"runs to its end", entry, seconds, {}, "", ""}};
  if (!fault.empty()) tests[0].failure = {"fault", fault};
  for (const nlohmann::json& e : expected) tests.push_back(test_of(e, entry));
  if (options_.races)
    for (TestCase& test : now().tests) tests.push_back(std::move(test));
  files.write(options_.junit, junit(options_.path, tests));
}

void RunFindings::write_baseline(verify::OutputFiles& files) const {
  if (!options_.write_baseline.empty())
    files.write(options_.write_baseline, verify::baseline_with(replaced_, checker_.findings(), program_));
}

}  // namespace bitwell::cli
