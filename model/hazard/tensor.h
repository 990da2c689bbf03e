// Tensor memory: what tcgen05's operations do there.
#pragma once
#include "model/hazard/conflict.h"

namespace bitwell::hazard {

class TensorMemory {
 public:
  TensorMemory(Ledger& ledger, Clusters& clusters, Conflicts& conflicts)
      : ledger_(ledger), clusters_(clusters), conflicts_(conflicts) {}

  void access(const machine::Access& a, Cluster& c);
  // tcgen05.wait and tcgen05.fence.
  static void order(const machine::Synchronisation& s, Warp& w, const Cluster& c);
  // Columns are given, or given back.
  void columns(const machine::Synchronisation& s, Cluster& c);
  // What of `known` any order of execution makes known to others.
  static Known part_of(const Known& known, const Cluster& c);
  // The same of a lane, a relaxed arrival too.
  static Known published_by(const Warp& w, uint32_t lane, const Cluster& c);

 private:
  Ledger& ledger_;
  Clusters& clusters_;
  Conflicts& conflicts_;
};

}  // namespace bitwell::hazard
