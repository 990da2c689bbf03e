// Copies and other operations under way.
#pragma once
#include "model/hazard/knowledge/launches.h"

namespace bitwell::hazard {

class Operations {
 public:
  Operations(Ledger& ledger, Clusters& clusters, Conflicts& conflicts, Launches& launches)
      : ledger_(ledger), clusters_(clusters), conflicts_(conflicts), launches_(launches) {}

  void issued(const machine::Synchronisation& s, Cluster& c);
  // One reaches shared or global memory.
  void access(const machine::Access& a, Cluster& c);
  // The first of these has been counted as an access.
  void by_turns(const machine::ByTurns& turns, Cluster& c);
  // Groups of copies are committed and waited for.
  static void groups(const machine::Synchronisation& s, Warp& w);

 private:
  void issue(const Operation& op, Warp& w);
  // The operation just issued reads a tensor map until it ends.
  void keeps_map(Operation& op, const Warp& w, int ptx_line);
  // The record of what an operation does at an address; `lanes` become those that it is of.
  uint32_t record_of(Operation& op, Site& site, uint64_t address, bool reads, bool shared, uint32_t& lanes);

  // How it reaches memory. In that space of that CTA, by that instruction, it does so as before while
  // nothing else happens.
  struct Way {
    Shadow* shadow = nullptr;
    uint64_t series = 0;  // of events: then nothing else has happened
    uint64_t rank = 0;
    machine::AccessKind kind{};
    machine::Order order{};
    int issuer = -1;
    bool of_group = false;  // of MMAs
    Site site{};
    std::array<Viewer, machine::kLanes> viewers;
    Reach r{};
    bool alone = false;  // nothing but conflicts comes of what it reaches
    Conflicts::Again again{};
  };
  // Remembered at that place; nullptr: it reaches nothing that is watched.
  Way* way(size_t place, const machine::Access& a, Cluster& c);
  bool find(Way& way, const machine::Access& a, Cluster& c);
  // So many pieces side by side, where they may be several of one page; the first has been counted.
  void reach(Way& way, const machine::Access& a, uint64_t piece, Cluster& c, uint64_t count = 1,
             uint64_t apart = 1) {
    if (way.alone) {
      const auto parts = way.shadow->parts_there(piece, a.bytes * count);
      if (Conflicts::made_again(way.again, parts)) return ledger_.findings.pass((count - 1) * apart);
    }
    reach_otherwise(way, a, piece, c, count, apart);
  }
  void reach_otherwise(Way& way, const machine::Access& a, uint64_t piece, Cluster& c, uint64_t count,
                       uint64_t apart);
  void count_all() {
    for (Way& way : ways_) {
      conflicts_.count(way.again);
      way.again = {};
    }
  }
  void reach_all(Way& way, const machine::Access& a, uint64_t apart, Cluster& c);
  void reach_by_turns(std::span<Way* const> found, const machine::ByTurns& turns, Cluster& c);
  // What may become a block behind that access.
  static std::optional<Shadow::Shape> to_be_block(const Way& way, const machine::Access& a);
  // All pieces of those, by turns with so many accesses between two of them, where they are blocks; else
  // false, and nothing is done. `counted`: the first access has been.
  bool reach_blocks(std::span<Way* const> ways, std::span<const machine::Access> of, uint32_t between,
                    bool counted);

  std::array<Way, machine::ByTurns::kMost> ways_;
  std::array<FindingList::Marked, machine::ByTurns::kMost> found_;  // of the first pieces of blocks, by way
  Ledger& ledger_;
  Clusters& clusters_;
  Conflicts& conflicts_;
  Launches& launches_;
};

}  // namespace bitwell::hazard
