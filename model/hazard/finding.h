// What the checker finds.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hazard/flow/objects.h"
#include "model/hazard/shadow/record.h"

namespace bitwell::hazard {

enum class Kind : uint8_t {
  race,            // nothing orders the two
  warp_race,       // the same between lanes of one warp, which run in lockstep only by luck
  lockstep,        // lanes of one warp that count on volatile accesses and lockstep: works where it was tried
  equal_stores,    // nothing orders two stores of equal bytes: which remains is no matter
  operation_race,  // the same with an operation: not waited for, or issued too early
  proxy_fence,     // ordered, but fence.proxy.async is missing
  proxy_fence_war,  // the same, of a read before an operation's write: works where it was measured
  scope,            // ordered, were a scope wider
  release,          // ordered, were a store a release or a wait an acquire
  init,             // an mbarrier is used by who cannot know that it was initialised
  init_fence,       // the same, of an operation or behind a relaxed barrier of the cluster, but for the fence
                    // alone: works where it was measured
  reuse,            // an mbarrier is initialised again or invalidated while others use it
  phase,            // an mbarrier may go on for a phase more before a wait has seen the last
  mbarrier_scope,   // an arrival at another CTA that should publish a write, in the scope of its own
  tensor_wait,      // tcgen05.wait::ld or wait::st is missing
  tensor_used,      // the same of a tcgen05.ld whose registers were all read: works where it was tried
  tensor_fence,     // tcgen05.fence on one side of what synchronises: works where it was tried
  tensor_kinds,     // MMAs of two kinds on one accumulator: in order where it was tried
  tensor_mmas,      // MMAs of two accumulators or shapes: likewise
  tensor_copy,      // tcgen05.cp behind an MMA that reads what it replaces: likewise
  written_twice,    // where each byte is to be written once: ordered or not
  tensor_overlap,   // an MMA's accumulator and its other operands
  non_coherent,     // ld.global.nc or tex of what the launch has written
  non_coherent_war,  // a write of what an ld.global.nc or tex of the launch has read: works, not promised
  map_fence,         // a copy by a tensor map that was changed, without both halves of its proxy fence
  grid_wait,         // of a programmatic launch: before griddepcontrol.wait
  grid_between,      // the same, but for a launch between the two: works where it was measured
  barrier_lines,     // warps meet at a barrier of the whole CTA from two instructions
  peer_memory,       // another CTA's shared memory, before that CTA is known to have begun
  peer_columns,      // columns for a pair, likewise: works
  peer_allocation,   // columns of a pair given back before the other CTA is known to have its own
  mma_registers,     // a register of a wgmma that was not waited for
  mma_fragments,     // the same, of A and read only: works
  mma_fence,         // a register of a wgmma, reached since the warp's last wgmma.fence
  other_local,       // a thread goes through the address of another's local variable
  use_after_free,    // device code's free, and an access that is not ordered before it
  outside_object,    // an access leaves the variable that its address derives from
};
enum class Level : uint8_t { error, note, nothing };

// Of two acts that meet at something which should order them: where that lacks what the remedy names.
enum class Side : uint8_t { either, earlier, later };

struct KindRow {
  Kind kind;
  std::string_view name;  // as commands print and take it
  Level level;
  std::string_view what, remedy;
  std::string_view remedy_earlier{}, remedy_later{};  // at the one side where it is missing; empty: as above
  bool alone = false;                                 // one act, which stands in both places of the finding
  bool orders = !alone;                               // the remedy orders the two
  // What is in question.
  enum class About : uint8_t {
    data,      // what is read, or what is left: nothing is wrong where that comes to nothing
    mbarrier,  // it holds no data
    place      // what may be another object or none, whatever comes of its data
  } about = About::data;
  bool either_first = false;    // which of the two comes first is luck
  bool earlier_launch = false;  // the earlier act is of a launch before, of which nothing is followed
  // What an act is said to do, where that is not its access.
  std::string_view earlier_does{}, later_does{};
  bool derives = false;  // Finding::object is what the address derives from
  bool given = false;    // Finding::object is what was given by Finding::made
  // How the remedy is said of the two at hand.
  enum class Fix : uint8_t {
    general,  // as above
    barrier,  // what both threads can reach
    wait      // for that operation, or before it
  } fix = Fix::general;
};
const KindRow& row_of(Kind kind);
// The remedy, at the one side where it is missing if that is known and the row has one.
std::string_view remedy_of(Kind kind, Side side);
// All of them, in the order of Kind.
std::span<const KindRow> kind_rows();

// One of the two acts.
struct Party {
  Site site;
  std::array<uint32_t, 3> cta{};
  int warp = 0;
  int lane = -1;  // of an operation: the one that issued it, or -1

  bool operator==(const Party&) const = default;
};

// The two acts of a finding one time: the later by its number among all accesses of the run, from 1.
struct Met {
  uint64_t access;
  uint64_t address, bytes;
  Party earlier, later;

  bool operator==(const Met&) const = default;
};
// Those of one finding, in the order in which they came. Where they come at even distances, as those of a
// copy's pieces and of a row's lanes do, the first of them is kept. Copies share them until one is changed.
class MetList {
  struct Run {
    Met first;
    size_t begin;  // its place in the list
    size_t count = 1;
    // From each to the next, and from so many of them to the next as many.
    uint64_t access = 0, address = 0;
    int earlier_lane = 0, later_lane = 0;
    size_t in_turn = SIZE_MAX;
    uint64_t turn_access = 0, turn_address = 0;

    Met at(size_t i) const;
    bool goes_on_with(const Met& one);
  };

 public:
  size_t size() const { return all_ == nullptr ? 0 : all_->back().begin + all_->back().count; }
  bool empty() const { return all_ == nullptr; }
  Met operator[](size_t i) const;
  Met front() const { return all_->front().first; }
  class Iterator {
   public:
    Iterator(const MetList& list, size_t i) : list_(&list), i_(i) {}
    Met operator*() const { return (*list_)[i_]; }
    Iterator& operator++() { return ++i_, *this; }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    const MetList* list_;
    size_t i_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  void push_back(const Met& one);
  // Pieces that come one after the other, of each of which so many cells come at once.
  struct Pieces {
    size_t count;
    uint64_t access, address;  // from each to the next
    size_t cells;
    uint64_t cell;  // bytes

    size_t all() const { return count * cells; }
  };
  // `first`: of the first cell of the first.
  void push_back(const Met& first, const Pieces& pieces);
  // The first so many stay, at most, and count as accesses so much later.
  void cut_and_shift(size_t most, uint64_t accesses);

 private:
  std::vector<Run>& own();
  std::shared_ptr<std::vector<Run>> all_;  // nullptr: none
};

struct Finding {
  using Met = hazard::Met;
  Kind kind;
  Party earlier, later;  // as this schedule had them
  Side side;             // that lacks something
  uint64_t address;      // generic, of the first byte; of an mbarrier: its own
  uint64_t bytes;
  uint64_t count = 1;  // of the same kind between the same two instructions
  // The two acts each time, as far as the checker keeps them.
  MetList met{};
  Object object{};  // of outside_object: the variable that was left; of use_after_free: what was freed;
                    // of other_local: the variable, where it is one
  Party made{};     // of use_after_free: who called malloc
  // Of launches that overlap: `earlier` is of the launch so many before that of `later`.
  uint32_t launches_before = 0;
  std::string where{};  // of what has no address: "register %f0", "barrier 0"
};

}  // namespace bitwell::hazard
