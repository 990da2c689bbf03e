// Sees what each turn of a run reaches, and which turns must come before others.
#pragma once
#include <map>
#include <vector>

#include "model/explore/actor.h"
#include "model/explore/clock.h"
#include "model/explore/footprint.h"

namespace bitwell::explore {

class Witness {
 public:
  explicit Witness(const run::Shape& shape) : names_(shape) {}

  // For a new run; for a new turn, of that actor.
  void clear();
  void begin(const Actor& actor);
  // To be told of the accesses and synchronisations of the turn.
  void tell(const machine::Event& event);
  // What the turn reached. `changed`: it has changed memory, or what can be waited for; an atomic that left
  // all as it was only read.
  Footprint footprint(bool changed) const;

  // What is behind the turn under way through barriers whose arrivals commute, so that no footprints tell.
  Clock gathered() const;
  // The turn is over, and this is behind it and its own: what is behind the next turns of others through it.
  void end(const Clock& clock, bool changed);
  // What is behind the next turn of an actor beside its last, through what others did; asked for once.
  Clock take_waiting(const Actor& actor);
  // It could not go on and now can, because of a turn with that clock.
  void wakes(const Actor& actor, const Clock& clock) { join(waiting_[actor], clock); }

  const Names& names() const { return names_; }
  // Changes that a warp made, or of what it has read since remembered().
  uint64_t noticed(const Actor& warp) { return looks_[warp].noticed; }
  void remembered(const Actor& warp) { looks_[warp].reads.clear(); }

 private:
  using Key = std::pair<uint32_t, uint64_t>;  // cluster, and a number in it
  struct Barrier {
    Clock arrived;
    uint64_t phase = 0;
    bool counted = false;
  };
  struct Look {
    Footprint reads;
    uint64_t noticed = 0;
  };
  struct Exit {
    uint64_t arrived;  // the last phase of the cluster's barrier that the warp arrived at
    Clock clock;
  };

  void access(const machine::Access& a);
  void reach(const machine::Access& a, uint64_t generic);
  void synchronised(const machine::Synchronisation& s);
  void touch(Space space, uint64_t begin, uint64_t end, Mode mode, uint64_t phase = 0);
  void pass_on(const machine::Synchronisation& s, const Clock& clock);
  Key barrier_of(const machine::Synchronisation& s) const;
  uint64_t warpgroup_of(const machine::Synchronisation& s) const;

  Names names_;
  Actor actor_;  // whose turn it is
  Footprint sure_, updates_;
  std::vector<machine::Synchronisation> told_;
  std::vector<Actor> issued_;                             // as `told_` has them
  std::map<Actor, machine::Ending> endings_;              // of operations
  std::map<Key, Barrier> barriers_;                       // by rank and number
  std::map<Key, Clock> exits_;                            // by rank
  std::map<Key, Clock> cluster_arrivals_;                 // by phase
  std::map<uint32_t, std::vector<Exit>> cluster_exits_;   // by cluster
  std::map<Actor, uint64_t> last_arrival_;                // at the cluster's barrier
  std::map<std::pair<Key, uint64_t>, Clock> multiplies_;  // by warpgroup, and number
  std::map<Actor, Clock> waiting_;
  std::map<Actor, Look> looks_;
};

}  // namespace bitwell::explore
