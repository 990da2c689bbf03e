// A programmatic launch and those that it overlaps.
#pragma once
#include <set>

#include "model/hazard/conflict.h"

namespace bitwell::hazard {

class Launches {
 public:
  explicit Launches(Ledger& ledger) : ledger_(ledger) {}

  // This launch may run while that of `before` does, and while those do that this one overlaps. They have
  // been watched to their ends, and stay.
  void overlap(const Launches& before);
  bool overlaps() const { return before_ != nullptr; }
  // griddepcontrol.wait and launch_dependents.
  void waited(const machine::Synchronisation& s, Warp& w);
  void let(const machine::Synchronisation& s, const Warp& w);
  // Global memory that a programmatic launch reaches: what the launches before left or read there must be
  // over.
  void behind(const Reach& r, uint64_t address, uint64_t bytes);

 private:
  void behind_launch(const Launches& before, Kind kind, uint32_t launches_before, const Viewer& early,
                     const Reach& r, uint64_t address, uint64_t bytes);
  // A launch that waits for the one before before it lets the one behind start: that one starts when it is
  // over.
  bool lets_start_behind_its_wait() const;

  Ledger& ledger_;
  const Launches* before_ = nullptr;  // the launch that may still run
  UnitId before_unit_ = 0;            // that launch, as one
  bool all_waited_ = true;            // every launch that this one overlaps, for those that it overlaps
  // CTAs, by number in the grid: of which a thread has executed griddepcontrol.wait; of which one that was
  // not behind such a wait has executed launch_dependents.
  std::set<uint32_t> waited_, let_early_;
};

}  // namespace bitwell::hazard
