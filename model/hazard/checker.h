// Watches a launch and finds accesses to shared, global and tensor memory that nothing orders: happens-before
// at the level of lanes (PTX ISA 9.0, chapter 8), with the generic and the async proxy kept apart. It looks
// at who orders whom, not at what the schedule made of it; but a path that is not taken is not seen.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/hazard/flow/addresses.h"
#include "model/hazard/knowledge/threads.h"
#include "model/hazard/operations.h"
#include "model/hazard/shadow/held_back.h"
#include "model/hazard/tensor.h"
#include "model/hazard/warpgroups.h"
#include "model/machine/row.h"

namespace bitwell::hazard {

class Checker {
 public:
  // Of one launch: CTAs in x, y, z, of the grid and of a cluster. `once`: that two threads or operations
  // write one byte of global memory is found too, though they are ordered; atomics and reductions may.
  Checker(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& cluster, bool once = false)
      : grid_(grid),
        cluster_(cluster),
        once_(once),
        clusters_(grid, cluster, ledger_.units),
        conflicts_(ledger_, once) {}
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // This launch is programmatic: it may run while that of `before` does, and while those do that this one
  // overlaps. They have been watched to their ends, and stay.
  void overlaps(const Checker& before) { launches_.overlap(before.launches_); }

  // What is found by following addresses to their variables is found too: an access that leaves its variable,
  // or goes through the address of another thread's local one, and a free that others are not known to be
  // behind.
  void follow(Objects objects) { follow(std::make_shared<const Objects>(std::move(objects))); }
  void follow(std::shared_ptr<const Objects> objects) {
    addresses_.emplace(std::move(objects), ledger_, clusters_, conflicts_, launches_);
  }

  // That registers of a wgmma are reached while it is under way is found too.
  void follow(MmaRegisters registers) {
    warpgroups_.follow(std::make_shared<const MmaRegisters>(std::move(registers)));
  }

  // Of each finding at most so many pairs of accesses are kept, Finding::met.
  // `notes`: of findings too whose kind is no error.
  void keep(size_t most, bool notes = true) { ledger_.findings.keep(most, notes); }

  // To be told of the launch's events; valid as long as this. To be asked for behind the above.
  machine::Observer observer();
  void tell(const machine::Event& event);
  // The same of such an access, where it is like the last one by that instruction; else false, and nothing is
  // done.
  bool tell(const machine::Row& row);

  // Each pair of instructions once for each kind, in the order in which they were found.
  const std::vector<Finding>& findings() const { return ledger_.findings.all(); }
  // Whether one of them is about global memory.
  bool found_in_global() const { return ledger_.findings.in_global(); }
  // Bytes of shadow that were needed at once at most, and bytes of memory that they stand for.
  struct Cost {
    size_t shadow = 0, touched = 0;
  };
  Cost cost() const;

  // The launch's program reaches memory by lanes alone: no operation does, nor is there an mbarrier.
  void reached_by_lanes() { holds_back_ = true; }
  // One that is as this one, to be told of one cluster of the launch alone (separate.h). `spare`: of one that
  // was, or nullptr.
  std::unique_ptr<Checker> of_one_cluster(std::unique_ptr<HeldBack> spare = nullptr) const;
  // Of one that is told of one cluster: whether nothing comes of a read by lanes of the warp or by one of its
  // operations, by an instruction of that line, a weak one of memory that nobody changes. It is an access
  // then, but not to be told.
  bool passes_over(const std::array<uint32_t, 3>& cta, int warp, int ptx_line);
  // What that one comes to, when its cluster has ended; it has no findings any more then.
  struct OfCluster {
    std::vector<Finding> findings;
    uint64_t accesses = 0;
    uint32_t records = 0;
    Cost cost{};
    bool forgot_too_much = false;          // something may be missing
    std::unique_ptr<HeldBack> spare = {};  // for another cluster
  };
  OfCluster of_cluster();
  // This one, which is told of no event then, has found that of its next cluster.
  void add(OfCluster cluster);

 private:
  // An operation that reaches memory.
  struct Part {
    const Cluster* cluster = nullptr;
    uint64_t operation = 0;

    bool operator==(const Part&) const = default;
  };
  static Cost cost_of(const Cluster& c);
  void begin_part(Part part);
  void told(const machine::ByTurns& turns, const std::array<uint32_t, 3>& first_cta);
  void told(const machine::Access& a, Cluster& c);
  void access(const machine::Access& a, Cluster& c);
  bool holds_back(const machine::Access& a, Cluster& c);
  bool hold_back(const machine::Row& row);
  void hold_back(const machine::Synchronisation& s, Cluster& c);
  void tell_held_back(Cluster& c);
  void hold_back_no_more(Cluster& c);
  void lanes_access(const machine::Access& a, Cluster& c);
  // What accesses by the lanes of a warp, by one instruction, have in common.
  struct LanesWay {
    uint64_t series = 0;  // of rows, while which it is so; 0: none
    std::array<uint32_t, 3> cta{};
    int number = 0;  // of the warp
    Site site{};
    Cluster* cluster = nullptr;
    Warp* warp = nullptr;
    bool alike = false;   // all lanes know the same
    bool as_row = false;  // the last of them was a row, and nothing else is asked of such
    RowReach row{};
  };
  // The place of those lanes by that instruction, an Access or a Row; and what stands there, if nothing has
  // happened since but weak accesses.
  template <class Told>
  LanesWay& way_place(const Told& told) {
    return lanes_ways_[(static_cast<uint32_t>(told.ptx_line) + 5 * static_cast<uint32_t>(told.warp)) %
                       lanes_ways_.size()];
  }
  template <class Told>
  LanesWay* known_way(const Told& told) {
    LanesWay& way = way_place(told);
    // CTAs are compared without a call.
    const bool cta =
        ((way.cta[0] ^ told.cta[0]) | (way.cta[1] ^ told.cta[1]) | (way.cta[2] ^ told.cta[2])) == 0;
    return cta && way.series == conflicts_.rows_series() && way.site.ptx_line == told.ptx_line &&
                   way.number == told.warp && way.site.kind == told.kind && way.site.order == told.order
               ? &way
               : nullptr;
  }
  LanesWay& lanes_way(const machine::Access& a, Cluster& c);
  bool page_row(uint64_t address, uint64_t bytes, uint32_t unchanged, Cluster& c, const RowReach& r);
  bool may_have_rows(const Shadow* shadow) const {
    return shadow != nullptr &&
           (shadow != &ledger_.global ? !clusters_.several_ctas() : !launches_.overlaps());
  }
  uint32_t row_access(const machine::Access& a, Cluster& c, const RowReach& r);
  uint32_t reach_row(const machine::Access& a, const Warp& w, Reach r, Viewer& viewer, Shadow& shadow,
                     uint32_t lanes);
  void synchronised(const machine::Synchronisation& s, Cluster& c);

  std::array<uint32_t, 3> grid_, cluster_;
  bool once_;
  Ledger ledger_;
  Clusters clusters_;
  Conflicts conflicts_;
  Launches launches_{ledger_};
  Mbarriers mbarriers_{ledger_, clusters_};
  Threads threads_{ledger_, clusters_, mbarriers_};
  Operations operations_{ledger_, clusters_, conflicts_, launches_};
  TensorMemory tensor_{ledger_, clusters_, conflicts_};
  Warpgroups warpgroups_{ledger_, clusters_};
  std::optional<Addresses> addresses_;
  Cost ended_;                                   // the largest of a cluster that has ended
  std::optional<Cost> added_;                    // likewise of those that others were told of
  bool holds_back_ = false;                      // of_one_cluster() does
  std::unique_ptr<HeldBack> held_back_, spent_;  // while something is; what it was then
  bool forgot_too_much_ = false;
  Part last_part_;  // if the last event was of one
  std::array<LanesWay, 32> lanes_ways_;
};

}  // namespace bitwell::hazard
