// Watches a launch and finds accesses to shared, global and tensor memory that nothing orders: happens-before
// at the level of lanes (PTX ISA 9.0, chapter 8), with the generic and the async proxy kept apart. It looks
// at who orders whom, not at what the schedule made of it; but a path that is not taken is not seen.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/hazard/actors.h"
#include "model/hazard/finding.h"
#include "model/hazard/handed_over.h"
#include "model/hazard/mma_registers.h"
#include "model/hazard/objects.h"
#include "model/hazard/shadow.h"
#include "model/machine/event.h"

namespace bitwell::hazard {

class Checker {
 public:
  // Of one launch: CTAs in x, y, z, of the grid and of a cluster. `once`: that two threads or operations
  // write one byte of global memory is found too, though they are ordered; atomics and reductions may.
  Checker(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& cluster, bool once = false)
      : grid_(grid),
        cluster_size_(cluster),
        clustered_(cluster[0] * cluster[1] * cluster[2] > 1),
        once_(once) {}
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // This launch is programmatic: it may run while that of `before` does, and while those do that this one
  // overlaps. They have been watched to their ends, and stay.
  void overlaps(const Checker& before);

  // What is found by following addresses to their variables is found too: an access that leaves its variable,
  // or goes through the address of another thread's local one, and a free that others are not known to be
  // behind.
  void follow(Objects objects) {
    objects_ = std::move(objects);
    handed_over_.emplace(objects_->local_pointers());
  }

  // That registers of a wgmma are reached while it is under way is found too.
  void follow(MmaRegisters registers) { mma_registers_ = std::move(registers); }

  // Of each finding at most so many pairs of accesses are kept, Finding::met.
  void keep(size_t most) { most_met_ = most; }

  // To be told of the launch's events; valid as long as this. To be asked for behind the above.
  machine::Observer observer();

  // Each pair of instructions once for each kind, in the order in which they were found.
  const std::vector<Finding>& findings() const { return findings_; }
  // Bytes of shadow that were needed at once at most, and bytes of memory that they stand for.
  struct Cost {
    size_t shadow = 0, touched = 0;
  };
  Cost cost() const;

 private:
  static constexpr size_t kTensorSpace = 2, kLeastSets = size_t{1} << 14;
  static constexpr uint32_t kAnyRank = 1u << 31;  // of parts that read, or write global memory

  // What is kept of a cluster while it runs.
  struct Cluster {
    uint32_t number = 0;
    std::map<std::pair<uint32_t, int>, std::unique_ptr<Warp>> warps;  // by rank and number
    Shadow shared, tensor;
    std::map<uint64_t, Mbarrier> mbarriers;                             // by shared::cluster address
    size_t unfenced_inits = 0;                                          // at least so many of them
    std::map<std::pair<UnitId, uint32_t>, RemoteWrites> remote_writes;  // by unit and rank
    std::map<std::pair<uint32_t, uint64_t>, Known> bars;  // by rank and number: of those who have arrived
    std::map<std::pair<uint32_t, uint64_t>, Party> met;  // likewise: the first who has, at one of all threads
    std::array<Known, 2> barrier;                        // barrier.cluster, by parity of its phase
    std::unordered_map<uint64_t, Operation> operations;
    std::map<std::pair<uint32_t, int>, Warpgroup> warpgroups;  // by rank and number
    std::unordered_map<uint64_t, Warpgroup*> mma_operations;   // by operation
    Warpgroup* starting = nullptr;                             // its MMA reads next
    std::unordered_map<uint64_t, Message> words;               // of shared memory, by generic address
    UnitId begun = 0;                     // of a barrier of the cluster that was passed, as one act
    std::map<uint32_t, Epoch> allocated;  // by rank: its tcgen05.alloc with .cta_group::2
    std::pair<uint32_t, int> last_key{UINT32_MAX, 0};
    Warp* last_warp = nullptr;
  };
  static Cost cost_of(const Cluster& c);
  struct UnitInfo {
    std::array<uint32_t, 3> cta{};
    Domain domain;
    int warp = 0;
  };

  void access(const machine::Access& a, Cluster& c);
  // Sets of readers that no cell has any more go.
  void drop_sets();
  void inside_its_object(const machine::Access& a);
  void lanes_access(const machine::Access& a, Cluster& c);
  void follow_handed_over(const machine::Access& a, Cluster& c);
  bool heap_call(const machine::Access& a, Cluster& c);
  void freed(const machine::Access& a, Cluster& c);
  void operation_access(const machine::Access& a, Cluster& c);
  void mbarrier_access(const machine::Access& a, Cluster& c);
  void mbarrier_thread(const machine::Access& a, Cluster& c, uint64_t address, uint32_t lane);
  void mbarrier_operation(const machine::Access& a, Cluster& c, uint64_t address);
  bool initialised(const Mbarrier& barrier, const Viewer& v, const Site& site, uint64_t address);
  // Lanes of the warp have made known to operations, or to the cluster, what they have initialised.
  void mbarriers_fenced(Cluster& c, const Warp& w, uint32_t lanes);
  // They arrive at a relaxed barrier of the cluster.
  void mbarriers_met(Cluster& c, const Warp& w, uint32_t lanes, uint64_t phase);
  static void remote_write(Cluster& c, const Warp& w, uint32_t lane, uint64_t address, uint32_t record);
  void remote_arrival(const machine::Access& a, Cluster& c, const Viewer& viewer, uint32_t rank);
  static void remote_released(Cluster& c, const Viewer& viewer);
  void mbarrier_passed(const machine::Synchronisation& s, Cluster& c);
  void mbarrier_over(uint64_t address, Cluster& c);
  void warp_matched(const machine::Synchronisation& s, Cluster& c);
  void tensor_access(const machine::Access& a, Cluster& c);
  void synchronised(const machine::Synchronisation& s, Cluster& c);
  void from_one_line(const machine::Synchronisation& s, const Warp& w,
                     std::map<std::pair<uint32_t, uint64_t>, Party>& met);
  void cluster_arrived(const machine::Synchronisation& s, Cluster& c);
  void issued(const machine::Synchronisation& s, Cluster& c);
  void issue(const Operation& op, Warp& w);
  void fence(const machine::Synchronisation& s, Warp& w);
  void async_fence(const machine::Synchronisation& s, Warp& w);
  void map_fence(const machine::Synchronisation& s, Warp& w);
  void grids_waited(const machine::Synchronisation& s, Warp& w);
  void dependents_let(const machine::Synchronisation& s, const Warp& w);
  void groups(const machine::Synchronisation& s, Warp& w);
  void mma(const machine::Synchronisation& s, Cluster& c);
  void registers_reached(const machine::Reached& r, Cluster& c);
  void registers_issued(const machine::Synchronisation& s, Warp& w, uint64_t count);
  void columns(const machine::Synchronisation& s, Cluster& c);
  // Whether who knows that much knows that the CTA of that rank has begun.
  static bool begun(const Knowledge* known, const Cluster& c, uint32_t rank);
  void peer_access(const machine::Access& a, const Cluster& c, const Viewer& v, const Site& site,
                   uint64_t address);
  // The operation just issued reads a tensor map until it ends.
  void keeps_map(Operation& op, const Warp& w, int ptx_line);
  static void tensor_order(const machine::Synchronisation& s, Warp& w, const Cluster& c);
  // What of `known` any order of execution makes known to others.
  static Known tensor_part(const Known& known, const Cluster& c);
  // The same of a lane, a relaxed arrival too.
  static Known tensor_published(const Warp& w, uint32_t lane, const Cluster& c);

  // The record of what an operation does at an address; `lanes` become those that it is of.
  uint32_t record_of_operation(Operation& op, Site& site, uint64_t address, bool reads, bool shared,
                               uint32_t& lanes);

  Cluster& cluster_of(const std::array<uint32_t, 3>& first);
  Warp& warp_of(Cluster& c, const std::array<uint32_t, 3>& cta, int number);
  uint32_t rank_of(const std::array<uint32_t, 3>& cta) const;
  Warpgroup& warpgroup_of(Cluster& c, const std::array<uint32_t, 3>& cta, int warp);
  UnitId new_unit(const Warp& w);
  UnitId stream(Warp& w, Stream s);
  // What `lanes` of the warp know, their own acts up to now included; all of them know what each did.
  Known published(const Warp& w, uint32_t lanes) const;
  // What the lane's operations came to: those that it knows to have ended, and those that it has not waited
  // for.
  static void add_operations(Knowledge& to, const Warp& w, uint32_t lane, const Numbers& ended);
  // The same of one, up to an earlier time of its own.
  static Known published(const Warp& w, uint32_t lane, const Known& known, uint32_t time,
                         const Numbers& ended);
  static Lane::Sc& sc_of(Warp& w, uint32_t lane);
  // fence.sc of that scope by the lanes: what those knew with which it synchronises, they know.
  static void meet_fences(Warp& w, uint32_t lanes, machine::Scope scope);
  // What the lanes knew at their own last fence.sc.
  static void add_own_fences(KnownAtFences& to, const Warp& w, uint32_t lanes);
  // What they know of the order of fence.sc from those.
  static void add_sc_order(Knowledge& to, const Warp& w, uint32_t lanes);
  void strong(const machine::Access& a, Cluster& c, Warp& w, uint32_t lane, uint64_t address, bool shared);

  // The shadow of a generic address, or nullptr: nothing is watched there.
  Shadow* shadow_of(Cluster& c, uint64_t address);
  // One cell is reached by `viewer`, who leaves `record` of that site.
  struct Reach {
    const Viewer* viewers;  // all that must be behind what was done before
    size_t viewer_count;
    bool alike;  // they know the same of others
    const Site* site;
    uint32_t record;
    uint32_t lanes;  // one bit each, of the record's unit
    size_t space;    // 0 shared, 1 global, kTensorSpace tensor memory
    const Known* seen;
    const machine::Access* instruction;  // of lanes
    // Of tensor memory: what the last fence::after_thread_sync accepted, the operation's number, and that of
    // the MMA issued last before it.
    const Knowledge* accepted = nullptr;
    uint32_t number = 0, last_mma = 0;
    uint32_t loads_used = 0;             // of the warp, likewise
    bool frees = false;                  // the object that the cell is of
    uint64_t map = 0;                    // of a tensor map that a copy reads: its address
    mutable Act passed = kNoAct;         // the last act that this one was found to be behind
    mutable uint32_t passed_record = 0;  // likewise of all lanes, of operations
  };
  void reach(const Reach& r, Cell& cell, uint64_t address, uint64_t size);
  Readers read_too(const Reach& r, Readers before);
  void behind_all(const Reach& r, Readers those, uint64_t address, uint64_t size);
  void remember_write(const Reach& r, Cell& cell);
  Readers not_stood_for(const Site& write, Readers before);
  bool behind(const Reach& r, Act before);
  void written_again(const Reach& r, Act before, uint64_t address, uint64_t size);
  bool conflict(const Reach& r, Act before, uint64_t address, uint64_t size);
  struct Judged {
    Kind kind;
    Side side = Side::either;
  };
  std::optional<Judged> judge(const Reach& r, const Viewer& v, const Record& before, uint32_t lane) const;
  // Whether somebody has fenced behind it, and what he did then was seen, but no fence.sc stands behind that.
  static bool fenced_before_seen(const Viewer& v, const Epoch& before);
  bool in_lockstep(const Viewer& v, const Record& before, const Site& now) const;
  std::optional<Judged> judge_proxies(const Reach& r, const Viewer& v, const Epoch& before,
                                      const Site& old) const;
  std::optional<Judged> judge_map(uint64_t map, const Viewer& v, const Epoch& before) const;
  // Whether it is the copy of a tensor map that all of the viewer's warp have made, each for itself.
  bool copied_by_warp(const Record& before, const Viewer& v) const;
  // Global memory that a programmatic launch reaches: what the launches before left or read there must be
  // over.
  void behind_launches_before(const Reach& r, uint64_t address, uint64_t bytes);
  void behind_launch(const Checker& before, Kind kind, uint32_t launches_before, const Viewer& early,
                     const Reach& r, uint64_t address, uint64_t bytes);
  // A launch that waits for the one before before it lets the one behind start: that one starts when it is
  // over.
  bool lets_start_behind_its_wait() const;
  std::optional<Kind> judge_cells(const Reach& r, const Viewer& v, const Record& before, uint32_t lane) const;
  // As findings have it: of tensor memory behind machine::kTensorWindow.
  static uint64_t reported(uint64_t address, size_t space);
  Finding& found(Kind kind, const Party& earlier, const Party& later, uint64_t address, uint64_t size,
                 uint32_t launches_before = 0);
  Party party(uint32_t record, uint32_t lane) const;
  Party party_of_use(UnitId unit, uint32_t lane, uint32_t site) const;
  Party party(const Viewer& v, const Site& site) const;
  static Party party(const MmaRegisters::Reach& reach, const machine::Reached& r, const Warp& w);

  std::array<uint32_t, 3> grid_, cluster_size_;
  bool clustered_;  // a cluster has several CTAs
  bool once_;
  std::optional<Objects> objects_;
  MmaRegisters mma_registers_;
  std::optional<HandedOver> handed_over_;
  bool non_coherent_ = false;        // there was a load past the coherent cache
  const Checker* before_ = nullptr;  // of the launch that may still run
  UnitId before_unit_ = 0;           // that launch, as one
  bool all_waited_ = true;           // every launch that this one overlaps, for those that it overlaps
  // CTAs, by number in the grid: of which a thread has executed griddepcontrol.wait; of which one that was
  // not behind such a wait has executed launch_dependents.
  std::set<uint32_t> waited_, let_early_;
  std::map<uint32_t, Cluster> clusters_;
  Cluster* last_cluster_ = nullptr;
  Shadow global_;
  std::unordered_map<uint64_t, Message> words_;  // of global memory
  std::unordered_map<uint64_t, Party> made_;     // by address: who called malloc
  Records records_;
  ReaderSets readers_{records_};
  size_t most_sets_ = kLeastSets;  // bytes of them, before those that no cell has go
  // What a cell's readers became last: cells side by side mostly become the same.
  struct {
    Readers from = kNoAct;
    Reader more{};
    Readers to = kNoAct;
  } last_set_;
  // What a lane that passed an mbarrier knew, what it learnt, and both: the next lanes of its warp mostly
  // come with the same to the same, and then know the same again.
  struct {
    Known before, more, both;
  } last_passed_;
  std::vector<UnitInfo> units_{1};
  std::vector<Finding> findings_;
  size_t most_met_ = 0;
  uint64_t accesses_ = 0;                                           // told so far
  std::map<std::tuple<Kind, int, int, uint32_t>, size_t> numbers_;  // of findings
  std::map<std::pair<Kind, int>, int> told_of_mma_;  // by line of a wgmma: the first that reached it
  // While one event is told: the last record of which all lanes were found to be behind, and whom.
  uint32_t behind_record_ = 0;
  const Knowledge* behind_known_ = nullptr;
  // The same of the last list of readers.
  Readers behind_readers_ = kNoAct;
  const Knowledge* behind_readers_known_ = nullptr;
  Cost ended_;  // the largest of a cluster that has ended
};

}  // namespace bitwell::hazard
