#include "verify/bugs/judge.h"

#include <algorithm>
#include <mutex>

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

isa::Options patience(uint64_t cost) {
  isa::Options out;
  out.step_limit = kPatience * cost + kLeastSteps;
  return out;
}

// How a case that did not hold ended.
std::optional<Finding> ended(const Tried& tried) {
  if (!tried.failure) return std::nullopt;
  const std::string& what = tried.failure->what;
  if (!tried.failure->fault) return Finding{Found::wrong_bits, what};
  const bool endless = what.find(": no end after ") != std::string::npos;
  return Finding{endless ? Found::runs_on : Found::named, what};
}

// A case with the race check. `loaded`: of a launch, its program, objects, registers and whether it waits for
// the grid.
template <class LoadedOf>
Tried try_watched(const SuiteCase& c, const isa::Schedule& schedule, isa::Options options, Watch& watch,
                  const LoadedOf& loaded) {
  std::vector<int> lines;
  for (const Launch& l : c.chain.launches) {
    const std::vector<int> more = loaded(l).registers.lines();
    lines.insert(lines.end(), more.begin(), more.end());
  }
  options.observers.push_back(watch.observer(std::move(lines)));
  bool first = true;
  return try_case(
      c, schedule,
      [&](const Launch& l) -> const isa::Program& {
        const auto& of = loaded(l);
        watch.begin(of.program, l.shape, of.waits && !first);
        watch.follow(of.objects);
        watch.follow(of.registers);
        first = false;
        return of.program;
      },
      options);
}

// The work's finding, or that the mutant is none that runs.
template <class Work>
Finding legal(const Work& work) {
  try {
    return work();
  } catch (const machine::Unsupported& e) {
    return {Found::unsupported, e.what()};
  } catch (const ptx::SyntaxError& e) {
    return {Found::not_ptx, e.what()};
  } catch (const machine::InputError& e) {
    return {Found::not_ptx, e.what()};
  }
}

}  // namespace

Jury::Jury(const Subject& subject, int threads)
    : entry_(subject.entry),
      text_(only_entry(read_file(subject.ptx), subject.entry)),
      cases_(subject.suite()) {
  for (const SuiteCase& c : cases_)
    for (const Launch& l : c.chain.launches) {
      if (programs_.count(l.entry) != 0) continue;
      const std::string text = only_entry(read_file(l.ptx), l.entry);
      isa::Program program = load_program(l.ptx, l.entry);
      hazard::Objects objects = objects_of(text, program);
      const bool waits = text.find("griddepcontrol.wait") != std::string::npos;
      programs_.emplace(l.entry, Loaded{std::move(program), std::move(objects), registers_of(text), waits});
    }
  const Programs built = [&](const Launch& l) -> const isa::Program& { return as_built(l).program; };
  alone_.resize(cases_.size());
  whole_.resize(cases_.size());
  each_in_parallel(cases_.size(), threads, [&](size_t i) {
    if (programs_.at(entry_).waits) whole_[i] = cases_[i];
    shorten(cases_[i], entry_, built);
    Chain ran = cases_[i].chain;
    simulate(ran, built, {}, true);
    alone_[i] = alone(cases_[i], ran, entry_);
  });
  for (size_t i = 0; i < cases_.size(); ++i)
    for (size_t s = 0; s < cases_[i].schedules.size(); ++s)
      trials_.push_back({i, cases_[i].schedules[s], 0, s == 0});
  std::mutex mutex;
  each_in_parallel(trials_.size(), threads, [&](size_t i) {
    Trial& t = trials_[i];
    const Tried tried = try_case(cases_[t.of], t.schedule, built);
    if (tried.failure) throw machine::InputError(subject.name + " fails as built: " + tried.failure->what);
    t.cost = tried.warp_instructions;
    if (!t.first) return;
    Watch watch;
    const Tried again = try_watched(watched(t.of), t.schedule, {}, watch,
                                    [&](const Launch& l) -> const Loaded& { return as_built(l); });
    if (const Watch::Error error = watch.error(); again.failure || !error.what.empty())
      throw machine::InputError(subject.name + " is suspected as built: " + watched(t.of).name + ": " +
                                (again.failure ? again.failure->what : error.what));
    const std::scoped_lock lock(mutex);
    for (const Watch::Note& note : watch.notes()) notes_.insert(note.place());
  });
  std::stable_sort(trials_.begin(), trials_.end(),
                   [](const Trial& a, const Trial& b) { return a.cost < b.cost; });
}

const SuiteCase& Jury::watched(size_t of) const {
  return whole_[of] ? *whole_[of] : alone_[of] ? *alone_[of] : cases_[of];
}

std::optional<Finding> Jury::fails(const SuiteCase& c, const Trial& t, const isa::Program& mutant) const {
  const Programs programs = [&](const Launch& l) -> const isa::Program& {
    return l.entry == entry_ ? mutant : as_built(l).program;
  };
  return ended(try_case(c, t.schedule, programs, patience(t.cost)));
}

std::optional<Finding> Jury::fails_watched(size_t of, const Trial& t, const Loaded& mutant) const {
  Watch watch;
  const auto loaded = [&](const Launch& l) -> const Loaded& {
    return l.entry == entry_ ? mutant : as_built(l);
  };
  const auto failed = ended(try_watched(watched(of), t.schedule, patience(t.cost), watch, loaded));
  if (failed) {
    if (!alone_[of]) return failed;
    return fails(cases_[of], t, mutant.program);  // what follows may not need what differs
  }
  if (const Watch::Error error = watch.error(); !error.what.empty())
    return Finding{Found::race, watched(of).name + ": " + error.what};
  for (const Watch::Note& note : watch.notes())
    if (notes_.count(note.place()) == 0) return Finding{Found::noted, watched(of).name + ": " + note.what};
  return std::nullopt;
}

Finding Jury::judge(const std::string& text) const {
  return legal([&]() -> Finding {
    const isa::Program mutant = isa::compile(ptx::parse(text), entry_);
    for (const Trial& t : trials_) {
      if (alone_[t.of] && !fails(*alone_[t.of], t, mutant)) continue;
      if (const auto found = fails(cases_[t.of], t, mutant)) return *found;
    }
    return {Found::nothing, ""};
  });
}

Finding Jury::judge_races(const std::string& text) const {
  return legal([&]() -> Finding {
    isa::Program program = isa::compile(ptx::parse(text), entry_);
    hazard::Objects objects = objects_of(text, program);
    const Loaded mutant{std::move(program), std::move(objects), registers_of(text),
                        programs_.at(entry_).waits};
    Finding out{Found::nothing, ""};
    for (const Trial& t : trials_) {
      if (!t.first) continue;
      const auto found = fails_watched(t.of, t, mutant);
      if (found && found->found != Found::noted) return *found;
      if (found && out.found == Found::nothing) out = *found;
    }
    return out;
  });
}

}  // namespace bitwell::bugs
