#include "verify/session/races.h"

#include <algorithm>

#include "verify/findings/groups.h"
#include "verify/launch/entry_text.h"

namespace bitwell::session {
namespace {

// Each is a run of its own; a finding that is not followed stays what it is.
constexpr size_t kMostFollowed = 8, kMostExplained = 64;
// Findings, one of a group, of which it is told what stood between their acts: all in one run.
constexpr size_t kMostBetween = 16;
// Pairs of accesses that are remembered of a finding.
constexpr size_t kMostMet = size_t{1} << 16;

std::tuple<hazard::Kind, int, int> pair_of(const hazard::Finding& f) {
  return {f.kind, f.earlier.site.ptx_line, f.later.site.ptx_line};
}

}  // namespace

Races::Races(const Question& question)
    : launch_(question.launch),
      asked_(question.races),
      explain_(question.explain),
      all_followed_(question.explain || question.all_followed),
      strict_(question.options.strict),
      of_(std::make_shared<Overlap>(question.once)) {
  if (!asked_) return;
  launch::Modules files;
  add({launch_.ptx, launch_.entry}, files(launch_));
  for (const launch::Step& step : launch_.then)
    if (!step.copy && !step.fill)
      add({step.ptx, step.entry}, step.module != nullptr ? step.module : files.of(step.ptx));
  of_->watch.keep(kMostMet, explain_);
}

Races::Races(const Question& question, const findings::SharedProgram& program,
             std::shared_ptr<Overlap> overlap, bool programmatic)
    : launch_(question.launch),
      asked_(question.races),
      explain_(question.explain),
      all_followed_(question.explain || question.all_followed),
      strict_(question.options.strict),
      of_(std::move(overlap)),
      one_of_process_(true),
      programmatic_(programmatic),
      first_(of_->programs.size()) {
  if (!asked_) return;
  add(program);
  of_->watch.keep(kMostMet, explain_);
}

void Races::add(const EntryOf& entry, const findings::SharedModule& module) {
  if (!added_.insert(entry).second) return;
  add(module->program(launch::entry_of(*module, entry.second), launch_.approximate));
}

void Races::add(const findings::SharedProgram& program) {
  const std::vector<int> lines = of_->readings.of(program).registers.lines();
  lines_.insert(lines_.end(), lines.begin(), lines.end());
}

bool Races::one_by_one() const {
  return !programmatic_ && std::none_of(launch_.then.begin(), launch_.then.end(),
                                        [](const launch::Step& step) { return step.programmatic; });
}

launch::Beginning Races::beginning() {
  if (!asked_) return nullptr;
  return [this](const findings::SharedProgram& program, const launch::Step* step,
                const machine::Memory* memory) { begin(program, step, memory); };
}

void Races::begin(const findings::SharedProgram& program, const launch::Step* step,
                  const machine::Memory* memory) {
  const std::string& ptx = step == nullptr ? launch_.ptx : step->ptx;
  of_->programs.push_back(program);
  auto objects = std::make_shared<std::vector<machine::Named>>();
  if (memory != nullptr)
    for (const machine::Region* r : memory->regions()) objects->push_back({r->name(), r->base(), r->size()});
  of_->watch.begin(
      {*program, step == nullptr ? launch_.shape : step->shape, ptx, of_->before + of_->programs.size(),
       one_of_process_ ? 0 : launch::count_launches(launch_), std::move(objects)},
      step == nullptr ? programmatic_ : step->programmatic);
  of_->watch.follow(of_->readings.of(program));
}

void Races::follow(const findings::Rerun& rerun) {
  if (!alone()) return;
  const size_t most = explain_ ? kMostExplained : kMostFollowed;
  const std::vector<findings::Found> all = of_->watch.findings();
  std::vector<const hazard::Finding*> which;
  size_t left = most;
  for (const findings::Found& f : all) {
    if (left == 0) break;
    if (!explain_ && !findings::may_be_nothing(f.finding)) continue;
    --left;
    // Of one with more places than are kept it is not known that all come to nothing.
    if (all_followed_ || f.finding.count <= f.finding.met.size()) which.push_back(&f.finding);
  }
  if (which.empty()) return;
  std::vector<findings::Followed> followed = findings::follow(which, launch_, rerun);
  for (size_t i = 0; i < which.size(); ++i) followed_.emplace(pair_of(*which[i]), std::move(followed[i]));
}

void Races::look_between(const findings::Rerun& rerun) {
  if (!alone()) return;
  const std::vector<findings::Found> all = of_->watch.findings();
  std::vector<const hazard::Finding*> which;
  for (const findings::Group& group :
       findings::groups_of(all, [](const auto&) { return hazard::Level::error; }))
    if (which.size() < kMostBetween && findings::has_between(group.first().finding))
      which.push_back(&group.first().finding);
  if (which.empty()) return;
  std::vector<std::optional<findings::Between>> seen = findings::between(which, rerun);
  for (size_t i = 0; i < which.size(); ++i)
    if (seen[i]) between_.emplace(pair_of(*which[i]), *std::move(seen[i]));
}

Weighed Races::weighed(const findings::Found& found) const {
  static const findings::Followed kNever{
      "the launch did not come to its end, or there are more findings than are followed", 0, {}, {}};
  static const findings::Followed kOfAList{"a list of launches is not made again", 0, {}, {}};
  const findings::Asked asked = findings::asked_of(found);
  const hazard::Ways& ways = of_->readings.ways(of_->programs.at(asked.launch.number - 1 - of_->before));
  Weighed out{found, ways.from(asked.ptx_line), nullptr, hazard::Level::error};
  if (const auto at = followed_.find(pair_of(found.finding)); at != followed_.end())
    out.followed = &at->second;
  else if (explain_)
    out.followed = alone() ? &kNever : &kOfAList;
  out.level = findings::level_of(found.finding, out.followed, out.way, strict_);
  return out;
}

const std::string& Races::entry() const {
  if (of_->programs.size() <= first_) return launch_.entry;
  const isa::Program& first = *of_->programs[first_];
  return first.functions[static_cast<size_t>(first.entry)].name;
}

std::vector<Weighed> Races::weighed() const {
  std::vector<Weighed> out;
  for (findings::Found& f : of_->watch.findings()) {
    if (one_of_process_ && f.numbers.back() != of_->before + first_ + 1) continue;  // of one before
    if (const auto at = between_.find(pair_of(f.finding)); at != between_.end()) f.between = &at->second;
    out.push_back(weighed(f));
  }
  return out;
}

}  // namespace bitwell::session
