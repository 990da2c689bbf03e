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

void gather(std::vector<Found>& to, const Found& more) {
  const auto at = std::find_if(to.begin(), to.end(), [&](const Found& f) { return alike(f, more); });
  if (at == to.end()) return to.push_back(more);
  at->finding.count += more.finding.count;
  if (at->numbers.back() != more.numbers.back()) at->numbers.push_back(more.numbers.back());
}

// Its shadow is needed no longer than it runs.
class OfOneCluster : public run::Apart::One {
 public:
  OfOneCluster(const hazard::Checker& of_launch, hazard::Separate& all)
      : all_(all), checker_(of_launch.of_one_cluster(all.spare())) {}
  std::string_view tell(const machine::Event& event) override {
    checker_->tell(event);
    return checker_->found_in_global() ? hazard::Separate::kInGlobal : std::string_view();
  }
  // What comes of such is known already.
  bool tell(const machine::Row& row) override { return checker_->tell(row); }
  bool passes_over(const std::array<uint32_t, 3>& cta, int warp, int ptx_line) override {
    return checker_->passes_over(cta, warp, ptx_line);
  }
  std::string ended() override {
    found = checker_->of_cluster();
    checker_.reset();
    all_.keep(std::move(found.spare));
    return all_.why_not(found);
  }

  hazard::Checker::OfCluster found;

 private:
  hazard::Separate& all_;
  std::unique_ptr<hazard::Checker> checker_;
};

}  // namespace

std::unique_ptr<run::Apart::One> Watch::one() {
  return std::make_unique<OfOneCluster>(*running_.back().checker, *separate_);
}

void Watch::add(One& one) { running_.back().checker->add(std::move(dynamic_cast<OfOneCluster&>(one).found)); }

machine::Observer Watch::observer(std::vector<int> lines, bool apart) {
  machine::Observer out;
  out.lines = std::move(lines);
  if (apart)
    out.tell = run::TellsApart{this};
  else
    out.tell = [this](const machine::Event& event) { tell(event); };
  out.accesses = true;
  out.steps = false;
  out.pieces = true;
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
  checker->keep(most_met_, met_of_notes_);
  if (!running_.empty()) checker->overlaps(*running_.back().checker);
  running_.push_back({&launches_.back(), std::move(checker)});
}

void Watch::add_findings_of_the_last(std::vector<Found>& to) const {
  if (running_.empty()) return;
  const Launched* const later = running_.back().launch;
  for (const hazard::Finding& f : running_.back().checker->findings())
    gather(to, {f, running_[running_.size() - 1 - f.launches_before].launch, later, {later->number}});
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
