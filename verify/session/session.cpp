#include "verify/session/session.h"

#include <algorithm>

#include "verify/explore/given.h"
#include "verify/session/races.h"

namespace bitwell::session {
namespace {

// The same launch from its beginning, which took so many warp instructions.
Ran made_again(const Question& question, const Start& start, uint64_t took,
               const std::function<void(isa::Options&)>& add) {
  isa::Options how = question.options;
  how.observers.clear();
  how.print = nullptr;
  how.progress = nullptr;
  how.checked = true;
  how.step_limit = std::min(how.step_limit, 4 * took + 1024);  // other bits may make it endless
  std::optional<Given> given;
  if (!question.given.empty()) {
    given.emplace(question.given, how.schedule.seed, start, how);
    given->attach(how);
  }
  add(how);
  return start.run(how, false);
}

}  // namespace

Answer::Answer() = default;
Answer::Answer(Answer&&) noexcept = default;
Answer::~Answer() = default;

bool Answer::holds(bool notes) const {
  return !fault && std::none_of(findings.begin(), findings.end(), [&](const Weighed& w) {
    return w.level == hazard::Level::error || (notes && w.level == hazard::Level::note);
  });
}

Answer ask(const Question& question) {
  const Launch& launch = question.launch;
  // What may be run more than once: a list is not.
  std::optional<Start> start;
  if (!question.given.empty() || (question.races && launch.then.empty())) start.emplace(launch);
  Answer out;
  auto races = std::make_unique<Races>(question);
  isa::Options options = question.options;
  std::optional<Given> given;
  if (!question.given.empty()) {
    given.emplace(question.given, options.schedule.seed, *start, options);
    given->attach(options);
    out.chance = given->chance();
  }
  if (question.races) options.observers.push_back(races->observer());
  std::optional<Launch> changed;
  if (question.in_place != nullptr) changed.emplace(launch).module = question.in_place;
  int runs = 0;
  uint64_t took = UINT64_MAX / 8;  // warp instructions, of a run that does not come to its end
  const Rerun again = [&](const auto& add) {
    if (question.again) question.again(++runs);
    return made_again(question, *start, took, add);
  };
  try {
    if (start && !changed)
      out.ran.emplace(start->run(options, question.all_written, races->beginning()));
    else
      out.ran.emplace(
          simulate(changed ? *changed : launch, options, question.all_written, races->beginning()));
    out.result = std::move(out.ran->result);
    out.residency = isa::residency(start ? start->program() : *program_of(launch), launch.shape);
    if (question.ended) question.ended(out.result);
    took = out.result.warp_instructions;
    if (question.races) races->follow(again);
  } catch (const machine::Fault& fault) {
    out.fault = fault;
  }
  if (question.races) races->look_between(again);
  out.findings = races->weighed();
  out.entries = races->entries();
  out.cost = races->cost();
  out.races = std::move(races);
  return out;
}

}  // namespace bitwell::session
