#include "verify/cli/run_findings.h"

#include <fmt/format.h>

#include <filesystem>

#include "verify/cli/run_sarif.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/names.h"

namespace bitwell::cli {
namespace {

// Each is a run of its own; a finding that is not followed stays what it is.
constexpr size_t kMostFollowed = 8, kMostExplained = 64;
// Pairs of accesses that are remembered of a finding.
constexpr size_t kMostMet = 4096;

verify::Baseline read_if_there(const std::string& path) {
  return path.empty() || !std::filesystem::is_regular_file(path) ? verify::Baseline{}
                                                                 : verify::read_baseline(path);
}

std::tuple<hazard::Kind, int, int> pair_of(const hazard::Finding& f) {
  return {f.kind, f.earlier.site.ptx_line, f.later.site.ptx_line};
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
      watch_(options.once),
      known_(options.baseline.empty() ? verify::Baseline{} : verify::read_baseline(options.baseline)),
      replaced_(read_if_there(options.write_baseline)) {
  if (!options.races) return;
  add({file.launch.ptx, file.launch.entry}, file.launch.module);
  for (const verify::Step& step : file.launch.then)
    if (!step.ptx.empty()) add({step.ptx, step.entry}, step.module);
  watch_.keep(kMostMet);
}

void RunFindings::add(const EntryOf& entry, const verify::SharedModule& module) {
  modules_.emplace(entry.first, module);
  if (!added_.insert(entry).second) return;
  const std::vector<int>& lines = readings_.lines(module, verify::entry_of(*module, entry.second));
  lines_.insert(lines_.end(), lines.begin(), lines.end());
}

verify::Beginning RunFindings::beginning() {
  if (!options_.races) return nullptr;
  return [this](const auto& program, const verify::Step* step) { begin(program, step); };
}

void RunFindings::begin(const std::shared_ptr<const isa::Program>& program, const verify::Step* step) {
  const std::string& ptx = step == nullptr ? file_.launch.ptx : step->ptx;
  programs_.push_back(program);
  watch_.begin({*program, step == nullptr ? file_.launch.shape : step->shape, ptx, programs_.size(),
                verify::count_launches(file_.launch)},
               step != nullptr && step->programmatic);
  watch_.follow(readings_.of(modules_.at(ptx), program));
}

void RunFindings::follow(const verify::Rerun& rerun) {
  if (!file_.launch.then.empty()) return;
  const size_t most = options_.explain ? kMostExplained : kMostFollowed;
  const std::vector<verify::Found> all = watch_.findings();
  std::vector<const hazard::Finding*> which;
  for (const verify::Found& f : all)
    if (which.size() < most && (options_.explain || verify::may_be_nothing(f.finding)))
      which.push_back(&f.finding);
  std::vector<verify::Followed> followed = verify::follow(which, rerun);
  for (size_t i = 0; i < which.size(); ++i) followed_.emplace(pair_of(*which[i]), std::move(followed[i]));
}

Explained RunFindings::explained(const verify::Found& found) const {
  static const verify::Followed kNever{
      "the launch did not come to its end, or there are more findings than are followed", 0, {}, {}};
  static const verify::Followed kOfAList{"a list of launches is not made again", 0, {}, {}};
  const verify::Asked asked = verify::asked_of(found);
  const hazard::Ways& ways = readings_.ways(modules_.at(asked.launch.ptx), asked.launch.entry());
  Explained out{ways.from(asked.ptx_line), nullptr, hazard::Level::error};
  if (const auto at = followed_.find(pair_of(found.finding)); at != followed_.end())
    out.followed = &at->second;
  else if (options_.explain)
    out.followed = file_.launch.then.empty() ? &kNever : &kOfAList;
  out.level = verify::level_of(found.finding, out.followed, out.way, options_.run.strict);
  return out;
}

void RunFindings::plan(verify::OutputFiles& files) const {
  for (const auto& [path, option] : {std::pair{&options_.sarif, "--sarif"},
                                     {&options_.junit, "--junit"},
                                     {&options_.write_baseline, "--write-baseline"}})
    if (!path->empty()) files.plan(*path, option);
}

const std::string& RunFindings::entry() const {
  if (programs_.empty()) return file_.launch.entry;
  const isa::Program& first = *programs_.front();
  return first.functions[static_cast<size_t>(first.entry)].name;
}

Hazards RunFindings::now() const {
  return hazards(sifted(), options_.path + replay_options(options_), entry(), options_.baseline,
                 options_.error_on, [this](const verify::Found& f) { return explained(f); },
                 {options_.explain, options_.all, options_.verbose});
}

void RunFindings::write_sarif(verify::OutputFiles& files) const {
  if (!options_.sarif.empty())
    files.write(options_.sarif, sarif(sifted(), [this](const verify::Found& f) { return explained(f); }));
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
    files.write(options_.write_baseline,
                verify::baseline_with(replaced_, watch_.findings(), watch_.entries()));
}

}  // namespace bitwell::cli
