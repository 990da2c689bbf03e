#include "model/run/residents.h"

#include "model/run/cause.h"

namespace bitwell::isa {

namespace {

// The random schedule has clusters interrupt each other, of which so many are resident where no more are
// needed.
constexpr uint64_t kInterrupting = 4;

}  // namespace

Residents::Residents(Grid& grid, Room room)
    : grid_(grid),
      room_(std::move(room)),
      random_(grid.options.schedule.seed),
      few_(1 + random_() % kInterrupting) {}

// Who has waited longest: those behind the one that ran last, then one that starts, then from the first.
// nullptr where all that are resident can only wait, or none is left.
Cluster* Residents::next() {
  const size_t places = clusters_.size() + 1;
  for (size_t i = 0; i < places; ++i, turn_ = (turn_ + 1) % places) {
    if (turn_ == clusters_.size()) {
      if (!has_room()) continue;
      clusters_.push_back(std::make_unique<Cluster>(grid_, *grid_.take_next()));
    }
    if (clusters_[turn_]->can_go_on()) return clusters_[turn_].get();
  }
  return nullptr;
}

RunResult Residents::run() {
  if (grid_.options.chooser != nullptr) return run_chosen(*grid_.options.chooser);
  for (;;) {
    Cluster* cluster = next();
    if (cluster == nullptr) {
      if (clusters_.empty()) {
        result_.notes = grid_.notes.all();
        return std::move(result_);
      }
      if (!let_waits_time_out()) report_deadlock();
      continue;
    }
    const bool alone = clusters_.size() == 1 && !has_room();
    switch (cluster->run(alone)) {
      case Cluster::Standing::ended:
        end(*cluster);
        clusters_.erase(clusters_.begin() + static_cast<std::ptrdiff_t>(turn_));
        break;
      case Cluster::Standing::interrupted:
        turn_ = random_() % (clusters_.size() + (clusters_.size() < few_ ? 1 : 0));
        break;
      case Cluster::Standing::waits:
      case Cluster::Standing::gives_way: ++turn_; break;
    }
  }
}

void Residents::end(const Cluster& cluster) {
  for (const auto& cta : cluster.ctas) {
    result_.lane_instructions += cta->lane_instructions;
    result_.warp_instructions += cta->warp_instructions;
    add(result_.footprint, *cta);
  }
  grid_.ended += cluster.ctas.size();
  grid_.last_end = grid_.time;
  if (grid_.options.progress) grid_.options.progress({grid_.ended, grid_.ctas(), 0});
}

// When no cluster can go on: a wait that gives up may lead somewhere else.
bool Residents::let_waits_time_out() {
  bool any = false;
  for (const auto& cluster : clusters_) any = cluster->let_waits_time_out() || any;
  return any;
}

void Residents::report_deadlock() {
  std::string beside;
  if (clusters_.size() > 1)
    beside = "\n  and so do all " + std::to_string(clusters_.size()) +
             " clusters that are resident, the last that of CTA " + clusters_.back()->first_cta();
  if (grid_.next)
    beside += "\n  " + plural(room_.clusters, "cluster") + " of this launch " +
              (room_.clusters == 1 ? "is" : "are") + " resident at once (" + room_.rests_on + "), " +
              std::to_string(grid_.ctas() - grid_.ended) + " CTAs have not ended";
  for (const auto& cluster : clusters_) cluster->refuse_meeting_elsewhere();
  clusters_.front()->report_deadlock(beside);
}

}  // namespace bitwell::isa
