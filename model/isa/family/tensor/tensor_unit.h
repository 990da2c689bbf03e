// What the tcgen05 family keeps of a CTA: its tensor memory, the loads and stores that no wait has covered,
// and the operations that threads have issued and that are not done (PTX ISA 9.0, 9.7.16).
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/isa/family/tensor/tensor_collector.h"
#include "model/machine/tensor/tensor_memory.h"
#include "model/machine/tensor/tensor_order.h"
#include "model/run/port.h"

namespace bitwell::isa {

// Cells of tensor memory: a rectangle, or two halves of one with columns between that are not of it
// (.16x32bx2).
struct TensorBlock {
  uint32_t lane, lanes, column, columns;
  uint32_t gap = 0;  // of the columns, so many in their middle are left out

  bool meets(const TensorBlock& o) const { return meets_first(o) || (gap != 0 && second().meets_first(o)); }
  bool holds(const TensorBlock& o) const {
    return holds_first(o.first()) && (o.gap == 0 || holds_first(o.second()));
  }
  uint32_t half() const { return (columns - gap) / 2; }

 private:
  TensorBlock first() const { return gap == 0 ? *this : TensorBlock{lane, lanes, column, half()}; }
  TensorBlock second() const { return {lane, lanes, column + half() + gap, half()}; }
  static bool meet(const TensorBlock& a, const TensorBlock& b) {
    return a.lane < b.lane + b.lanes && b.lane < a.lane + a.lanes && a.column < b.column + b.columns &&
           b.column < a.column + a.columns;
  }
  bool meets_first(const TensorBlock& o) const {
    return meet(first(), o.first()) || (o.gap != 0 && meet(first(), o.second()));
  }
  static bool hold(const TensorBlock& a, const TensorBlock& b) {
    return a.lane <= b.lane && b.lane + b.lanes <= a.lane + a.lanes && a.column <= b.column &&
           b.column + b.columns <= a.column + a.columns;
  }
  // Of one without a gap.
  bool holds_first(const TensorBlock& o) const { return hold(first(), o) || (gap != 0 && hold(second(), o)); }
};

using machine::TensorOrder;

// What two warps of a CTA have issued goes on in any order, but for what fences around a synchronisation
// order (9.7.16.6.4.3); what one has, in that in which it was issued, and under the random schedule in any
// where TensorOrder leaves it open (Schedule::kept).
struct TensorOperation {
  std::string what;  // "tcgen05.mma"
  TensorOrder order;
  machine::IssuePlace place;
  int lane;
  uint64_t number;  // in the order of issue
  uint64_t id;      // unique in the cluster
  // By warp: what it has issued below that number counts as issued by the same warp before this.
  std::map<int, uint64_t> fenced;
  std::function<void(const run::Port&)> run;
  machine::Work work;
  machine::Task task;
};

// A tcgen05.alloc of a pair, from when a warp of this CTA comes to it until it goes on.
struct PairAllocation {
  int warp;
  uint32_t columns;
  std::optional<uint32_t> first;  // column, once the other CTA's has come and both have theirs
};

class TensorUnit {
 public:
  explicit TensorUnit(run::Cta& cta) : memory(cta.tensor_memory), collectors(cta.rank), cta_(cta) {}

  machine::TensorMemory& memory;
  std::optional<PairAllocation> asked;

  // Says through the port that `block` is read or written, by a load or store of `warp` or (-1) an operation.
  // Throws Fault where it is not allocated, or where it meets a load or store that has not been waited for;
  // of a load whose registers have all been read it is a note, and of a store that meets a load or store,
  // which are of the same quarter: CUTLASS's attention hands its row maxima so from one warp to another.
  // `what`: who, for messages.
  void reach(const run::Port& port, machine::AccessKind kind, const TensorBlock& block, int warp,
             const char* what);

  // A warp's tcgen05.ld or .st is under way until that warp waits.
  // `load`: who has read its registers, or nullptr, of a store.
  void started(bool store, const TensorBlock& block, int warp, const machine::IssuePlace& place,
               std::shared_ptr<const machine::TensorLoad> load);
  void waited(bool store, int warp);
  // Columns are freed, and other CTAs may have them: a load or store there that is still under way is a note.
  void freed(uint32_t column, uint32_t columns);

  // Puts an operation behind the others of the warp; `work`, `task`: what it does when it goes on.
  void issue(run::Context& context, int lane, std::string what, const TensorOrder& order,
             const machine::Work& work, const machine::Task& task, std::function<void(const run::Port&)> run);
  // Lets `run` happen once all that this thread has issued before is done.
  void commit(run::Context& context, int lane, std::function<void(const run::Port&)> run);

  // tcgen05.fence of a warp. What it has issued comes before what another issues after its own fence: that
  // they have synchronised in between is taken for granted.
  void fence_before(int warp) { offered_[warp] = issued_; }
  void fence_after(int warp) {
    accepted_[warp] = offered_;
    unfenced_.erase(warp);
  }
  // A commit has arrived at that barrier of this CTA (shared::cluster address); a warp has passed a wait
  // there. What it then issues without fence_after is a note.
  void committed(uint64_t barrier) { committed_.insert(barrier); }
  void wait_passed(int warp, uint64_t barrier) {
    if (committed_.count(barrier) != 0) unfenced_.insert(warp);
  }
  // Whether an operation of another warp, still to be done, comes first.
  bool waits(const TensorOperation& operation) const;

  Collectors collectors;

  struct Pipe {
    std::deque<TensorOperation> operations;
    // Of the random schedule: what chooses, and the turns that the operations still let pass, so that half of
    // the time others are issued behind the first before it goes on.
    std::mt19937_64 random;
    int turns_to_pass = 0;
  };

 private:
  struct Move {
    bool store;
    TensorBlock block;
    int warp;
    machine::IssuePlace place;
    uint64_t id;  // unique in the cluster
    std::shared_ptr<const machine::TensorLoad> load;
    bool read_back =
        false;  // of a store: a load behind it by its warp, of all its cells, has been waited for
  };
  void tell(machine::OperationStep::Kind kind, const Move& move) const;
  bool read_back(const Move& store) const;
  static bool loads_behind(const Move& load, const Move& store);
  void note_missing_fence(const machine::IssuePlace& place, int warp, const std::string& what);
  run::Cta& cta_;
  std::vector<Move> moves_;
  std::map<int, Pipe> pipes_;  // by warp
  std::map<int, uint64_t> offered_;
  std::map<int, std::map<int, uint64_t>> accepted_;
  uint64_t issued_ = 0;
  std::set<uint64_t> committed_;           // barriers
  std::set<int> unfenced_;                 // warps
  std::set<std::pair<int, int>> issuers_;  // warp and lane
};

// The CTA's unit, made when it is first asked for.
TensorUnit& tensor_unit(run::Cta& cta);
// The other CTA of a pair: ranks that differ in the last bit. Fault where there is none, or where it has
// ended.
run::Cta& peer(run::Cta& cta);
// The same, which may have ended: after its own dealloc a CTA may (9.7.16.7.1).
run::Cta& peer_or_ended(run::Cta& cta);

}  // namespace bitwell::isa
