#include "model/run/turns/residents.h"

#include <algorithm>

#include "model/run/stuck/cause.h"
#include "model/run/stuck/nearby.h"
#include "model/run/turns/chooser.h"
#include "model/run/wait.h"

namespace bitwell::run {

namespace {

// The random schedule draws from so many clusters, or a few less.
constexpr uint64_t kMostDrawn = 4, kLeastDrawn = 2;

}  // namespace

Residents::Residents(std::vector<InFlight> launches)
    : launches_(std::move(launches)),
      results_(launches_.size()),
      random_(launches_.front().grid.options.schedule.seed),
      late_(starts_late(launches_.front().grid.options.schedule.policy)) {
  if (launches_.front().grid.options.schedule.policy != Policy::random) return;
  few_ = kLeastDrawn + random_() % (kMostDrawn - kLeastDrawn + 1);
  late_ = launches_.size() > 1 && random_() % 4 == 0;
}

// Whether clusters of a launch may start, in what room there is.
bool Residents::may_start(const Grid& grid) const {
  if (grid.before == nullptr || grid.before->complete()) return true;
  if (late_ || grid.before->next) return false;
  for (const auto& cluster : clusters_)
    for (const auto& cta : cluster->ctas)
      if (&cluster->grid == grid.before && !cta->lets_dependents_start && cta->alive()) return false;
  return may_start(*grid.before);
}

// Whether another cluster of it finds room beside those that are resident: each launch's take their parts of
// the device.
bool Residents::fits(const InFlight& launch) const {
  if (launch.resident >= launch.room.clusters) return false;
  double taken = 1 / static_cast<double>(launch.room.clusters);
  for (const InFlight& l : launches_)
    taken += static_cast<double>(l.resident) / static_cast<double>(l.room.clusters);
  constexpr double kRounding = 1e-9;
  return taken <= 1 + kRounding;
}

bool Residents::more_to_start() const {
  return std::any_of(launches_.begin(), launches_.end(),
                     [](const InFlight& l) { return l.grid.next.has_value(); });
}

// The launch of which a cluster can start now, or nullptr.
InFlight* Residents::starting() {
  for (InFlight& l : launches_)
    if (l.grid.next) return may_start(l.grid) && fits(l) ? &l : nullptr;
  return nullptr;
}

void Residents::start(InFlight& launch) {
  clusters_.push_back(std::make_unique<Cluster>(launch.grid, *launch.grid.take_next()));
  clusters_.back()->number = started_++;
  clusters_.front()->is_first();
  ++launch.resident;
}

// Of the random schedule: whose turn is next.
void Residents::draw() {
  while (clusters_.size() < few_) {
    InFlight* const launch = starting();
    if (launch == nullptr) break;
    start(*launch);
  }
  turn_ = clusters_.empty() ? 0 : random_() % clusters_.size();
}

// Who has waited longest: those behind the one that ran last, then one that starts, then from the first.
// nullptr where all that are resident can only wait, or none is left.
Cluster* Residents::next() {
  const size_t places = clusters_.size() + 1;
  for (size_t i = 0; i < places; ++i, turn_ = (turn_ + 1) % places) {
    if (turn_ == clusters_.size()) {
      InFlight* launch = starting();
      if (launch == nullptr) continue;
      start(*launch);
    }
    if (clusters_[turn_]->can_go_on()) return clusters_[turn_].get();
  }
  return nullptr;
}

void Residents::begin_behind(uint64_t clusters, RunResult result) {
  results_.front() = std::move(result);
  started_ = static_cast<uint32_t>(clusters);
  journals_.begin_behind(started_);
}

std::vector<RunResult> Residents::run() {
  Chooser* const chooser = launches_.front().grid.options.chooser;
  try {
    if (chooser == nullptr)
      run_all();
    else if (ByTime* const times = chooser->by_time(); times != nullptr)
      run_timed(*times);
    else
      run_chosen(*chooser);
  } catch (const machine::Fault&) {
    print_rest();
    throw;
  } catch (const machine::Unsupported&) {
    print_rest();
    throw;
  }
  for (size_t i = 0; i < launches_.size(); ++i) results_[i].notes = launches_[i].grid.notes.all();
  return std::move(results_);
}

void Residents::run_all() {
  const bool draws = launches_.front().grid.options.schedule.policy == Policy::random;
  if (draws) draw();
  for (;;) {
    Cluster* cluster = next();
    if (cluster == nullptr) {
      if (clusters_.empty()) return;
      if (!let_waits_time_out()) report_deadlock();
      continue;
    }
    const bool alone =
        clusters_.size() == 1 && (launches_.size() == 1 ? starting() == nullptr : !more_to_start());
    const Cluster::Standing standing = cluster->run(alone);
    if (standing == Cluster::Standing::ended) {
      end(turn_);
    } else {
      ++turn_;
    }
    if (draws && (standing == Cluster::Standing::ended || standing == Cluster::Standing::interrupted)) draw();
  }
}

// What its CTAs have executed, of which each is at its end.
void Residents::count(const Cluster& cluster) {
  RunResult& result = results_[cluster.grid.number];
  for (const auto& cta : cluster.ctas) {
    result.lane_instructions += cta->lane_instructions;
    result.warp_instructions += cta->warp_instructions;
    add(result.footprint, *cta);
  }
  cluster.grid.ended += cluster.ctas.size();
}

void Residents::end(size_t which) {
  Cluster& cluster = *clusters_[which];
  Grid& grid = cluster.grid;
  count(cluster);
  --launches_[grid.number].resident;
  grid.last_end = grid.flight.time();
  journals_.add(cluster.number, grid, std::move(cluster.journal));
  clusters_.erase(clusters_.begin() + static_cast<std::ptrdiff_t>(which));
  if (!clusters_.empty()) clusters_.front()->is_first();
  if (grid.options.progress) report_progress();
}

// Where the run ends early: all that was printed so far, and is not passed on, in the order of start.
void Residents::print_rest() const {
  std::map<uint32_t, std::pair<const Grid*, const Journal*>> all;
  for (const auto& [number, kept] : journals_.kept()) all[number] = {kept.grid, &kept.journal};
  for (const auto& cluster : clusters_) all[cluster->number] = {&cluster->grid, &cluster->journal};
  for (const auto& [number, of] : all)
    if (!of.second->printed.empty()) of.first->options.print(of.second->printed);
}

void Residents::report_progress() const {
  Progress progress;
  for (const InFlight& l : launches_) {
    progress.done += l.grid.show(l.grid.ended);
    progress.all += l.grid.ctas();
  }
  launches_.front().grid.options.progress(progress);
}

// When no cluster can go on: a wait that gives up may lead somewhere else.
bool Residents::let_waits_time_out() {
  bool any = false;
  for (const auto& cluster : clusters_) any = cluster->let_waits_time_out() || any;
  return any;
}

// Of a launch behind the first that none of whose clusters has started: why.
std::string Residents::not_started() const {
  for (const InFlight& l : launches_) {
    const Grid& grid = l.grid;
    const bool started = grid.next != std::array<uint32_t, 3>{};
    if (started || grid.before == nullptr) continue;
    uint64_t silent = 0;
    for (const auto& cluster : clusters_)
      for (const auto& cta : cluster->ctas)
        silent += &cluster->grid == grid.before && !cta->lets_dependents_start && cta->alive() ? 1 : 0;
    return "\n  the launch behind it, '" + readable(grid.name()) + "', has not started: " +
           (silent != 0 ? "griddepcontrol.launch_dependents is still to come from " + plural(silent, "CTA")
            : late_ ? "under this schedule it starts when the one before has ended, which a device may do too"
                    : "there is no room for it");
  }
  return "";
}

// Of launches behind the first that wait for the one before them.
std::string Residents::waiting_launches() const {
  std::string out;
  for (const InFlight& l : launches_) {
    const isa::Line* at = nullptr;
    for (const auto& cluster : clusters_)
      for (const auto& cta : cluster->ctas)
        for (const machine::Warp& w : cta->warps)
          for (const machine::Split& s : w.splits)
            if (&cluster->grid == &l.grid && s.wait != nullptr && s.wait->over != nullptr) at = &cta->line(s);
    if (at != nullptr)
      out += "\n  '" + readable(l.grid.name()) + "' waits at " + at->text + " for the end of '" +
             readable(l.grid.before->name()) + "'";
  }
  return out;
}

void Residents::report_deadlock() {
  std::string beside;
  if (clusters_.size() > 1)
    beside = "\n  and so do all " + std::to_string(clusters_.size()) +
             " clusters that are resident, the last that of CTA " + clusters_.back()->first_cta();
  const InFlight& first = launches_[clusters_.front()->grid.number];
  if (first.grid.next)
    beside += "\n  " + plural(first.room.clusters, "cluster") + " of this launch " +
              (first.room.clusters == 1 ? "is" : "are") + " resident at once (" + first.room.rests_on +
              "), " + std::to_string(first.grid.ctas() - first.grid.ended) + " CTAs have not ended";
  beside += waiting_launches() + not_started();
  clusters_.front()->report_deadlock(beside);
}

}  // namespace bitwell::run
