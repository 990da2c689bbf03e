// The order of fence.sc: of two of them that have each other in scope one synchronises with the other (PTX
// ISA 9.0, 8.9, Fence-SC order). Which with which is known where something that one is before was seen by
// something that is before the other: the threads that fence need not be those that make the access between.
#pragma once
#include <array>
#include <cstdint>

#include "model/hazard/knowledge/counted.h"
#include "model/machine/order.h"

namespace bitwell::hazard {

struct Knowledge;
using Known = Counted<const Knowledge>;
struct Domain;

// What was known at fences, by a scope that theirs has: within one CTA, within one cluster, anywhere.
class KnownAtFences {
 public:
  bool empty() const;
  // The same if `more` had it all.
  void join(const KnownAtFences& more);
  // Of a fence within `where`, of that scope.
  void add(machine::Scope scope, const Domain& where, const Known& known);
  // What a fence of that scope by a thread of `who` synchronises with; nullptr: none.
  Known met(machine::Scope scope, const Domain& who) const;
  // By scope, whatever the CTA or cluster.
  const Known& at(size_t scope) const { return within_[scope].known; }

  bool operator==(const KnownAtFences&) const = default;

 private:
  struct Within {
    uint32_t domain = 0;  // the CTA's number or the cluster's: of several the first that it was joined with
    Known known;

    bool operator==(const Within&) const = default;
  };
  std::array<Within, 3> within_;
};

struct ScOrder {
  KnownAtFences before;  // at those that are before what is done from now on
  KnownAtFences seen;    // at those that are before what was seen: known from the next fence.sc on
};
// Shared by those who know the same; nullptr: no fence.sc.
using KnownScOrder = Counted<const ScOrder>;

KnownScOrder joined(const KnownScOrder& a, const KnownScOrder& b);

}  // namespace bitwell::hazard
