// What a thread knows to have happened, through which proxy, and how it passes that on.
#pragma once
#include <array>
#include <vector>

#include "model/hazard/knowledge/clock.h"
#include "model/hazard/knowledge/counted.h"
#include "model/hazard/knowledge/map_fences.h"
#include "model/hazard/knowledge/sc_fences.h"
#include "model/machine/order.h"

namespace bitwell::hazard {

struct Knowledge {
  Clock happened;
  // Generic accesses that a fence.proxy.async has made known to the async proxy, of shared memory and of
  // global memory.
  std::array<Clock, 2> fenced;
  // What would be known if the scope of a release, or of an acquire, were wider, if a store were a release,
  // and if loads and stores of tensor memory had been waited for: to name the mistake.
  Clock narrow_release, narrow_acquire, unreleased, unwaited;
  // Loads of tensor memory whose registers were all read, though nobody waited for them.
  Clock used;
  // Of tensor memory: what is behind a tcgen05.fence::before_thread_sync.
  Clock offered;
  KnownMaps maps;
  KnownScOrder sc;
};
// Shared by the lanes that know the same; nullptr: nothing.
using Known = Counted<const Knowledge>;

// All that the other knows becomes known, in every sense.
void join(Knowledge& to, const Knowledge& more);

Known joined(const Known& a, const Known& b);
// `known`, and the lanes of the unit up to that time.
Known raised(const Known& known, UnitId unit, uint32_t lanes, uint32_t time);

// Of two threads: the narrowest scope that has both.
struct Domain {
  uint32_t cta, cluster;  // numbers in the grid

  machine::Scope with(const Domain& o) const {
    return cta == o.cta           ? machine::Scope::cta
           : cluster == o.cluster ? machine::Scope::cluster
                                  : machine::Scope::gpu;
  }
};

// What is published at a place, for those who acquire from it (PTX ISA 9.0, 8.7 to 8.9): an mbarrier's phase,
// or a word that atomics and strong stores write.
class Message {
 public:
  // A release by a thread of `who`, with that scope.
  void publish(const Known& known, machine::Scope scope, const Domain& who);
  // A store that does not release.
  void publish_unreleased(const Known& known) { unreleased_ = joined(unreleased_, known); }
  // What a thread of `who` gets that acquires with that scope.
  Known acquire(machine::Scope scope, const Domain& who) const;
  // What was known at fence.sc's before the accesses that a load of it sees; nullptr: none were.
  const Counted<const KnownAtFences>& fenced() const { return fenced_; }
  void write_behind(const KnownAtFences& fences);
  // All that was released, in any scope.
  const Known& all() const { return within_.front(); }

 private:
  std::array<Known, 3> within_;  // by scope: what reaches those within it
  Domain from_{};                // of the last release
  // Releases that do not reach the device, by whom: those behind them may be of others.
  struct Narrow {
    Known known;
    machine::Scope scope;
    Domain from;
  };
  std::vector<Narrow> narrow_;  // none, as nearly always
  Known unreleased_;
  Counted<const KnownAtFences> fenced_;
};

}  // namespace bitwell::hazard
