#include "verify/findings/watch.h"

#include <algorithm>

namespace bitwell::findings {
namespace {

// Whether both are what the same instructions do: in launches of one entry, however often.
bool alike(const Found& a, const Found& b) {
  const auto same_code = [](const Launched& x, const Launched& y) {
    return &x.program == &y.program || (!x.ptx.empty() && x.ptx == y.ptx && x.entry() == y.entry());
  };
  return a.finding.kind == b.finding.kind &&
         a.finding.earlier.site.ptx_line == b.finding.earlier.site.ptx_line &&
         a.finding.later.site.ptx_line == b.finding.later.site.ptx_line &&
         same_code(*a.earlier, *b.earlier) && same_code(*a.later, *b.later) &&
         (a.earlier == a.later) == (b.earlier == b.later);
}

void add(std::vector<Found>& to, const Found& more) {
  const auto at = std::find_if(to.begin(), to.end(), [&](const Found& f) { return alike(f, more); });
  if (at == to.end()) return to.push_back(more);
  at->finding.count += more.finding.count;
  if (at->numbers.back() != more.numbers.back()) at->numbers.push_back(more.numbers.back());
}

}  // namespace

machine::Observer Watch::observer(std::vector<int> lines) {
  machine::Observer out;
  out.lines = std::move(lines);
  out.tell = [this](const machine::Event& event) { to_.tell(event); };
  out.accesses = true;
  out.steps = false;
  return out;
}

void Watch::begin(const Launched& launch, bool programmatic) {
  add_findings_of_the_last(found_);
  cost_ = cost();
  if (!programmatic) running_.clear();
  launches_.push_back(launch);
  entries_.insert(launch.entry());
  const run::Shape full = run::full_shape(launch.program, launch.shape);
  auto checker = std::make_unique<hazard::Checker>(full.grid, full.cluster, once_);
  checker->keep(most_met_);
  if (!running_.empty()) checker->overlaps(*running_.back().checker);
  to_ = checker->observer();
  running_.push_back({&launches_.back(), std::move(checker)});
}

void Watch::add_findings_of_the_last(std::vector<Found>& to) const {
  if (running_.empty()) return;
  const Launched* const later = running_.back().launch;
  for (const hazard::Finding& f : running_.back().checker->findings())
    add(to, {f, running_[running_.size() - 1 - f.launches_before].launch, later, {later->number}});
}

std::vector<Found> Watch::findings() const {
  std::vector<Found> out = found_;
  add_findings_of_the_last(out);
  return out;
}

hazard::Checker::Cost Watch::cost() const {
  if (running_.empty()) return cost_;
  const hazard::Checker::Cost last = cost_of_last();
  return last.shadow > cost_.shadow ? last : cost_;
}

}  // namespace bitwell::findings
