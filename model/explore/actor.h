// Who takes turns, by names that are the same in every run of a launch.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "model/machine/event.h"
#include "model/run/launch.h"
#include "model/run/turns/chooser.h"

namespace bitwell::explore {

// A warp, or an operation that it has issued. Operations are counted by the warp that issues them, for their
// numbers in the cluster hang on the order of turns.
struct Actor {
  uint32_t cluster = 0;
  uint32_t warp = 0;       // counted through the CTAs of the cluster
  uint32_t operation = 0;  // of the warp, counted from 1; 0: the warp itself

  auto operator<=>(const Actor&) const = default;
};

// "1:4", warp 4 of cluster 1; "1:4.2", the second operation that it issued.
std::string name_of(const Actor& actor);

// Tells actors from what is issued.
class Names {
 public:
  // Of a launch whose shape has the cluster that the entry gives it (isa::cluster_of).
  explicit Names(const run::Shape& shape);

  // Of one of the takers that a run asks about.
  Actor of(const run::Taker& taker) const;
  // To be told of every Synchronisation; `cluster`: whose turn it is of. Returns who was issued; an actor
  // without an operation where that is not what happened.
  Actor tell(uint32_t cluster, const machine::Synchronisation& s);
  // The warp of a cluster's CTA.
  Actor warp(uint32_t cluster, const std::array<uint32_t, 3>& cta, int warp) const;
  // Of a CTA in its cluster.
  uint32_t rank(const std::array<uint32_t, 3>& cta) const;
  // For a new run.
  void clear();

 private:
  std::array<uint32_t, 3> cluster_;
  uint32_t warps_;                                             // of a CTA
  std::map<std::pair<uint32_t, uint64_t>, Actor> operations_;  // by cluster and number in it
  std::map<Actor, uint32_t> issued_;                           // by warp
};

}  // namespace bitwell::explore
