#include "verify/bugs/mutation/judge.h"

#include <algorithm>
#include <mutex>

#include "verify/suite/parallel.h"

namespace bitwell::bugs {

namespace {

constexpr uint64_t kPatience = 2;         // times the launch's steps as built, for each CTA
constexpr uint64_t kLeastSteps = 200000;  // warp instructions

// The launches before the subject's run once: their results become what the subject is launched on.
void shorten(suite::SuiteCase& c, const std::string& entry, const launch::ModuleOf& modules) {
  if (c.chain.launches.back().entry != entry) return;
  suite::Chain ran = c.chain;
  ran.launches.pop_back();
  std::erase_if(ran.links, [&](const suite::Chain::Link& l) { return l.to >= ran.launches.size(); });
  suite::simulate(ran, modules, {}, true);
  launch::Launch last = std::move(c.chain.launches.back());
  for (const suite::Chain::Link& l : c.chain.links)
    if (l.to == c.chain.launches.size() - 1)
      last.buffers[l.to_buffer].bytes = ran.launches[l.from].buffers[l.from_buffer].bytes;
  c.chain = {{std::move(last)}, {}};
}

// The launch of `entry` with what it left in `ran`; nothing where it is the last.
std::optional<suite::SuiteCase> alone(const suite::SuiteCase& c, const suite::Chain& ran,
                                      const std::string& entry) {
  if (c.chain.launches.back().entry == entry) return std::nullopt;
  for (size_t i = 0; i < c.chain.launches.size(); ++i) {
    const launch::Launch& l = c.chain.launches[i];
    if (l.entry != entry) continue;
    suite::SuiteCase out;
    out.name = c.name;
    out.chain.launches = {l};
    while (!l.buffers[out.result].output) ++out.result;
    out.expected = ran.launches[i].buffers[out.result].bytes;
    return out;
  }
  return std::nullopt;
}

run::Options patience(uint64_t cost) {
  run::Options out;
  out.step_limit = kPatience * cost + kLeastSteps;
  return out;
}

// How a case that did not hold ended.
std::optional<Finding> ended(const suite::Tried& tried) {
  if (!tried.failure) return std::nullopt;
  const std::string& what = tried.failure->what;
  if (!tried.failure->fault) return Finding{Found::wrong_bits, what};
  const bool endless = what.find(": no end after ") != std::string::npos;
  return Finding{endless ? Found::runs_on : Found::named, what};
}

// The work's finding, or that the mutant is none that runs.
template <class Work>
Finding legal(const Work& work) {
  try {
    return work();
  } catch (const machine::Unsupported& e) {
    return {Found::unsupported, e.what()};
  } catch (const machine::InputError& e) {
    return {Found::not_ptx, e.what()};
  }
}

}  // namespace

launch::ModuleOf Jury::with(const findings::SharedModule& mutant) const {
  return [this, mutant](const launch::Launch& l) {
    return mutant != nullptr && l.entry == entry_ && l.ptx == ptx_ ? mutant : as_built_(l);
  };
}

suite::Tried Jury::try_watched(const suite::SuiteCase& c, const run::Schedule& schedule, run::Options options,
                               findings::Watch& watch, const findings::SharedModule& mutant) const {
  const launch::ModuleOf modules = with(mutant);
  findings::Readings of_mutant;
  const auto readings = [&](const findings::SharedModule& module) -> findings::Readings& {
    return module == mutant ? of_mutant : readings_;
  };
  std::vector<int> lines;
  for (const launch::Launch& l : c.chain.launches) {
    const findings::SharedModule module = modules(l);
    const std::vector<int> more =
        readings(module).of(module->program(l.entry, l.approximate)).registers.lines();
    lines.insert(lines.end(), more.begin(), more.end());
  }
  options.observers.push_back(watch.observer(std::move(lines)));
  bool first = true;
  const auto begins = [&](const launch::Launch& l, const findings::SharedModule& module,
                          const findings::SharedProgram& program) {
    watch.begin(*program, l.shape, waits_.at({l.ptx, l.entry}) && !first);
    watch.follow(readings(module).of(program));
    first = false;
  };
  return suite::try_case(c, schedule, modules, options, begins);
}

Jury::Jury(const Subject& subject, int threads)
    : ptx_(subject.ptx),
      entry_(subject.entry),
      text_(only_entry(launch::read_file(subject.ptx), subject.entry)),
      cases_(subject.suite()) {
  for (const suite::SuiteCase& c : cases_)
    for (const launch::Launch& l : c.chain.launches)
      if (const auto [at, fresh] = waits_.try_emplace({l.ptx, l.entry}); fresh)
        at->second =
            only_entry(as_built_(l)->text(), l.entry).find("griddepcontrol.wait") != std::string::npos;
  const launch::ModuleOf built = with(nullptr);
  alone_.resize(cases_.size());
  whole_.resize(cases_.size());
  suite::each_in_parallel(cases_.size(), threads, [&](size_t i) {
    if (waits_.at({ptx_, entry_})) whole_[i] = cases_[i];
    shorten(cases_[i], entry_, built);
    suite::Chain ran = cases_[i].chain;
    suite::simulate(ran, built, {}, true);
    alone_[i] = alone(cases_[i], ran, entry_);
  });
  for (size_t i = 0; i < cases_.size(); ++i)
    for (size_t s = 0; s < cases_[i].schedules.size(); ++s)
      trials_.push_back({i, cases_[i].schedules[s], 0, s == 0});
  std::mutex mutex;
  suite::each_in_parallel(trials_.size(), threads, [&](size_t i) {
    Trial& t = trials_[i];
    const suite::Tried tried = suite::try_case(cases_[t.of], t.schedule, built);
    if (tried.failure) throw machine::InputError(subject.name + " fails as built: " + tried.failure->what);
    t.cost = tried.warp_instructions;
    if (!t.first) return;
    findings::Watch watch;
    const suite::Tried again = try_watched(watched(t.of), t.schedule, {}, watch, nullptr);
    const std::vector<session::Weighed> found = session::weigh(watch);
    if (const session::Weighed* error = session::first_error(found); again.failure || error != nullptr)
      throw machine::InputError(subject.name + " is suspected as built: " + watched(t.of).name + ": " +
                                (again.failure ? again.failure->what : findings::describe(error->found)));
    const std::scoped_lock lock(mutex);
    for (const session::Weighed& w : found)
      if (w.level == session::Level::note) notes_.insert(session::site_of(w));
  });
  std::stable_sort(trials_.begin(), trials_.end(),
                   [](const Trial& a, const Trial& b) { return a.cost < b.cost; });
}

const suite::SuiteCase& Jury::watched(size_t of) const {
  return whole_[of] ? *whole_[of] : alone_[of] ? *alone_[of] : cases_[of];
}

std::optional<Finding> Jury::fails(const suite::SuiteCase& c, const Trial& t,
                                   const findings::SharedModule& mutant) const {
  return ended(suite::try_case(c, t.schedule, with(mutant), patience(t.cost)));
}

std::optional<Finding> Jury::fails_watched(size_t of, const Trial& t,
                                           const findings::SharedModule& mutant) const {
  findings::Watch watch;
  const auto failed = ended(try_watched(watched(of), t.schedule, patience(t.cost), watch, mutant));
  if (failed) {
    if (!alone_[of]) return failed;
    return fails(cases_[of], t, mutant);  // what follows may not need what differs
  }
  const std::vector<session::Weighed> found = session::weigh(watch);
  const auto told = [&](Found as, const session::Weighed& w) {
    return Finding{as, watched(of).name + ": " + findings::describe(w.found)};
  };
  if (const session::Weighed* error = session::first_error(found); error != nullptr)
    return told(Found::race, *error);
  for (const session::Weighed& w : found)
    if (w.level == session::Level::note && !notes_.contains(session::site_of(w)))
      return told(Found::noted, w);
  return std::nullopt;
}

// Read, compiled, or refused.
findings::SharedModule Jury::mutated(const std::string& text) const {
  auto out = std::make_shared<const isa::Module>(text);
  out->program(entry_);
  return out;
}

Finding Jury::judge(const std::string& text) const {
  return legal([&]() -> Finding {
    const findings::SharedModule mutant = mutated(text);
    for (const Trial& t : trials_) {
      if (alone_[t.of] && !fails(*alone_[t.of], t, mutant)) continue;
      if (const auto found = fails(cases_[t.of], t, mutant)) return *found;
    }
    return {Found::nothing, ""};
  });
}

Finding Jury::judge_races(const std::string& text) const {
  return legal([&]() -> Finding {
    const findings::SharedModule mutant = mutated(text);
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
