// The clusters that run, and who is in them.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/hazard/shadow/ledger.h"
#include "model/machine/limits.h"
#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

// What is kept of a cluster while it runs.
struct Cluster {
  uint32_t number = 0;
  std::map<std::pair<uint32_t, int>, std::unique_ptr<Warp>> warps;  // by rank and number
  Shadow shared, tensor;
  std::map<uint64_t, Mbarrier> mbarriers;                             // by shared::cluster address
  size_t unfenced_inits = 0;                                          // at least so many of them
  std::map<std::pair<UnitId, uint32_t>, RemoteWrites> remote_writes;  // by unit and rank
  // Of a barrier of a CTA: what those know who have arrived. Nobody else's, as all pass at once, and it is
  // over then. What the last of them knew is in it: most often all come with the same.
  struct Bar {
    Counted<Knowledge> all;  // nullptr: nobody has arrived
    Known last;
    std::optional<Party> first;  // who has, where all threads are waited for
  };
  std::vector<Bar> bars;  // by rank * kBars + number
  static constexpr size_t kBars = 16;
  Bar& bar(uint32_t rank, uint64_t of_cta) {
    const size_t i = rank * kBars + of_cta;
    if (i >= bars.size()) bars.resize(i + 1);
    return bars[i];
  }
  std::array<Known, 2> barrier;  // barrier.cluster, by parity of its phase
  std::unordered_map<uint64_t, Operation> operations;
  std::map<std::pair<uint32_t, int>, Warpgroup> warpgroups;  // by rank and number
  std::unordered_map<uint64_t, Warpgroup*> mma_operations;   // by operation
  Warpgroup* starting = nullptr;                             // its MMA reads next
  std::unordered_map<uint64_t, Message> words;               // of shared memory, by generic address
  UnitId begun = 0;                     // of a barrier of the cluster that was passed, as one act
  std::map<uint32_t, Epoch> allocated;  // by rank: its tcgen05.alloc with .cta_group::2
  std::vector<Warp*> numbered;          // the warps, by rank * kMostWarps + number; nullptr: none yet

  static constexpr size_t kMostWarps = machine::kMaxThreads / machine::kLanes;  // of a CTA
  // nullptr: it has done nothing so far.
  Warp* warp(uint32_t rank, int of_cta) const {
    const size_t i = rank * kMostWarps + static_cast<size_t>(of_cta);
    return i < numbered.size() ? numbered[i] : nullptr;
  }
};

class Clusters {
 public:
  // CTAs in x, y, z, of the grid and of a cluster.
  Clusters(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& cluster, Units& units)
      : grid_(grid), size_(cluster), several_ctas_(cluster[0] * cluster[1] * cluster[2] > 1), units_(units) {}

  // By its first CTA; one that is not there begins.
  Cluster& of(const std::array<uint32_t, 3>& first) {
    const uint32_t number = first[0] + grid_[0] * (first[1] + grid_[1] * first[2]);
    return last_ != nullptr && last_->number == number ? *last_ : numbered(number);
  }
  // The one that the CTA is in, likewise.
  Cluster& with(const std::array<uint32_t, 3>& cta);
  void end(const Cluster& c);
  Warp& warp_of(Cluster& c, const std::array<uint32_t, 3>& cta, int number) {
    const uint32_t rank = rank_of(cta);
    Warp* const there = c.warp(rank, number);
    return there != nullptr ? *there : begun(c, rank, cta, number);
  }
  uint32_t rank_of(const std::array<uint32_t, 3>& cta) const {
    if (!several_ctas_) return 0;
    const auto& s = size_;
    return cta[0] % s[0] + s[0] * (cta[1] % s[1] + s[1] * (cta[2] % s[2]));
  }
  bool several_ctas() const { return several_ctas_; }  // in a cluster
  std::map<uint32_t, Cluster>& running() { return running_; }
  const std::map<uint32_t, Cluster>& running() const { return running_; }

 private:
  Cluster& numbered(uint32_t number);
  Warp& begun(Cluster& c, uint32_t rank, const std::array<uint32_t, 3>& cta, int number);

  std::array<uint32_t, 3> grid_, size_;
  bool several_ctas_;
  Units& units_;
  std::map<uint32_t, Cluster> running_;
  Cluster* last_ = nullptr;
};

// The shadow of a generic address, or nullptr: nothing is watched there.
inline Shadow* shadow_of(Cluster& c, Shadow& global, uint64_t address) {
  if (address - machine::kSharedWindow < machine::kWindowSize) return &c.shared;
  return machine::is_global(address) ? &global : nullptr;
}

}  // namespace bitwell::hazard
