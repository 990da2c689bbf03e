#include "verify/bugs/judge.h"

#include <algorithm>

#include "verify/suite/parallel.h"

namespace bitwell::bugs {

using namespace verify;

namespace {

constexpr uint64_t kPatience = 2;         // times the launch's steps as built, for each CTA
constexpr uint64_t kLeastSteps = 200000;  // warp instructions

// The launches before the subject's run once: their results become what the subject is launched on.
void shorten(SuiteCase& c, const std::string& entry, const Programs& programs) {
  if (c.chain.launches.back().entry != entry) return;
  Chain ran = c.chain;
  ran.launches.pop_back();
  std::erase_if(ran.links, [&](const Chain::Link& l) { return l.to >= ran.launches.size(); });
  simulate(ran, programs, {}, true);
  Launch last = std::move(c.chain.launches.back());
  for (const Chain::Link& l : c.chain.links)
    if (l.to == c.chain.launches.size() - 1)
      last.buffers[l.to_buffer].bytes = ran.launches[l.from].buffers[l.from_buffer].bytes;
  c.chain = {{std::move(last)}, {}};
}

// The launch of `entry` with what it left in `ran`; nothing where it is the last.
std::optional<SuiteCase> alone(const SuiteCase& c, const Chain& ran, const std::string& entry) {
  if (c.chain.launches.back().entry == entry) return std::nullopt;
  for (size_t i = 0; i < c.chain.launches.size(); ++i) {
    const Launch& l = c.chain.launches[i];
    if (l.entry != entry) continue;
    SuiteCase out;
    out.name = c.name;
    out.chain.launches = {l};
    while (!l.buffers[out.result].output) ++out.result;
    out.expected = ran.launches[i].buffers[out.result].bytes;
    return out;
  }
  return std::nullopt;
}

}  // namespace

Jury::Jury(const Subject& subject, int threads)
    : entry_(subject.entry),
      text_(only_entry(read_file(subject.ptx), subject.entry)),
      cases_(subject.suite()) {
  for (const SuiteCase& c : cases_)
    for (const Launch& l : c.chain.launches)
      if (programs_.count(l.entry) == 0) programs_.emplace(l.entry, load_program(l.ptx, l.entry));
  const Programs as_built = [&](const Launch& l) -> const isa::Program& { return programs_.at(l.entry); };
  alone_.resize(cases_.size());
  each_in_parallel(cases_.size(), threads, [&](size_t i) {
    shorten(cases_[i], entry_, as_built);
    Chain ran = cases_[i].chain;
    simulate(ran, as_built, {}, true);
    alone_[i] = alone(cases_[i], ran, entry_);
  });
  for (size_t i = 0; i < cases_.size(); ++i)
    for (size_t s = 0; s < cases_[i].schedules.size(); ++s)
      trials_.push_back({i, cases_[i].schedules[s], 0, s == 0});
  each_in_parallel(trials_.size(), threads, [&](size_t i) {
    const Tried tried = try_case(cases_[trials_[i].of], trials_[i].schedule, as_built);
    if (tried.failure) throw machine::InputError(subject.name + " fails as built: " + tried.failure->what);
    trials_[i].cost = tried.warp_instructions;
  });
  std::stable_sort(trials_.begin(), trials_.end(),
                   [](const Trial& a, const Trial& b) { return a.cost < b.cost; });
}

Finding Jury::judge(const std::string& text, Under under) const {
  try {
    const isa::Program mutant = isa::compile(ptx::parse(text), entry_);
    for (const Trial& t : trials_) {
      if (under == Under::first_schedule && !t.first) continue;
      isa::Options options;
      options.step_limit = kPatience * t.cost + kLeastSteps;
      const auto attempt = [&](const SuiteCase& c) {
        return try_case(
            c, t.schedule,
            [&](const Launch& l) -> const isa::Program& {
              return l.entry == entry_ ? mutant : programs_.at(l.entry);
            },
            options);
      };
      if (alone_[t.of] && !attempt(*alone_[t.of]).failure) continue;
      const Tried tried = attempt(cases_[t.of]);
      if (!tried.failure) continue;
      if (!tried.failure->fault) return {Found::wrong_bits, tried.failure->what};
      const bool endless = tried.failure->what.find(": no end after ") != std::string::npos;
      return {endless ? Found::runs_on : Found::named, tried.failure->what};
    }
  } catch (const machine::Unsupported& e) {
    return {Found::unsupported, e.what()};
  } catch (const ptx::SyntaxError& e) {
    return {Found::not_ptx, e.what()};
  } catch (const machine::InputError& e) {
    return {Found::not_ptx, e.what()};
  }
  return {Found::nothing, ""};
}

}  // namespace bitwell::bugs
