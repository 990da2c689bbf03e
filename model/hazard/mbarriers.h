// What is known of mbarriers, and handed on by them.
#pragma once
#include "model/hazard/shadow/clusters.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

inline constexpr uint32_t kAnyRank = 1u << 31;  // of parts that read, or write global memory

class Mbarriers {
 public:
  Mbarriers(Ledger& ledger, Clusters& clusters) : ledger_(ledger), clusters_(clusters) {}

  // An instruction or an operation reaches one.
  void access(const machine::Access& a, Cluster& c);
  // A thread has seen a phase over; a phase is over.
  void passed(const machine::Synchronisation& s, Cluster& c);
  void over(uint64_t address, Cluster& c);
  // Lanes of a warp meet at match.sync.
  void matched(const machine::Synchronisation& s, Cluster& c);
  // Lanes of the warp have made known to operations, or to the cluster, what they have initialised.
  void fenced(Cluster& c, const Warp& w, uint32_t lanes);
  // They arrive at a relaxed barrier of the cluster.
  void met(Cluster& c, const Warp& w, uint32_t lanes, uint64_t phase);
  // A plain write into shared memory, and what publishes such ones in the scope of the cluster.
  static void wrote_to_peer(Cluster& c, const Warp& w, uint32_t lane, uint64_t address, uint32_t record);
  static void released(Cluster& c, const Viewer& viewer);

 private:
  void by_thread(const machine::Access& a, Cluster& c, uint64_t address, uint32_t lane);
  void by_operation(const machine::Access& a, Cluster& c, uint64_t address);
  bool initialised(const Mbarrier& barrier, const Viewer& v, const Site& site, uint64_t address);
  void arrival_at_peer(const machine::Access& a, Cluster& c, const Viewer& viewer, uint32_t rank);
  Party party_of_use(UnitId unit, uint32_t lane, uint32_t site) const;

  Ledger& ledger_;
  Clusters& clusters_;
  // What a lane that passed an mbarrier knew, what it learnt, and both: the next lanes of its warp mostly
  // come with the same to the same, and then know the same again.
  struct {
    Known before, more, both;
  } last_passed_;
};

}  // namespace bitwell::hazard
