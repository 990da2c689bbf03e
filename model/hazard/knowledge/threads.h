// Threads, and the scopes in which they are ordered.
#pragma once
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/hazard/mbarriers.h"

namespace bitwell::hazard {

// Calls visit(number) for each warp that comes out of a barrier of its CTA.
template <class Visit>
void each_that_passes(const machine::Synchronisation& s, Visit visit) {
  if (s.amount == 0) return visit(s.warp);
  for (uint32_t rest = s.amount; rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
}

class Threads {
 public:
  Threads(Ledger& ledger, Clusters& clusters, Mbarriers& mbarriers)
      : ledger_(ledger), clusters_(clusters), mbarriers_(mbarriers) {}

  void synchronised(const machine::Synchronisation& s, Cluster& c);
  // An access by a lane that is atomic or strong, to shared or global memory.
  void strong(const machine::Access& a, Cluster& c, Warp& w, uint32_t lane, uint64_t address, bool shared);

 private:
  void from_one_line(const machine::Synchronisation& s, const Warp& w, Cluster::Bar& bar);
  void cluster_arrived(const machine::Synchronisation& s, Cluster& c);
  static void fence(const machine::Synchronisation& s, Warp& w);
  static void see(Lane& lane, const Message& word, machine::Scope scope, const Domain& who);

  Ledger& ledger_;
  Clusters& clusters_;
  Mbarriers& mbarriers_;
  std::unordered_map<uint64_t, Message> words_;  // of global memory
};

}  // namespace bitwell::hazard
