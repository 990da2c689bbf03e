// One CTA at work: its warps, memories and barriers.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/agent.h"
#include "model/machine/failure.h"
#include "model/machine/mbarrier.h"
#include "model/machine/memory/memory.h"
#include "model/machine/tensor/tensor_memory.h"
#include "model/machine/warp.h"
#include "model/run/family_states.h"
#include "model/run/launch.h"
#include "model/run/turns/flight.h"
#include "model/run/watch/unsure.h"

namespace bitwell::run {

class Cluster;
class Context;
class Parallel;

// What all CTAs of a launch share.
struct Grid {
  // What is known before the first one starts.
  const isa::Program& program;
  const Shape shape;
  const Options options;
  machine::Memory& global;
  machine::Region& constants;  // .const variables
  machine::Region parameters;  // the entry's parameter block
  Flight& flight;              // that it is of
  // Its place in the flight; the launch whose end griddepcontrol.wait awaits, if any; whether one follows
  // that may start before this one ends.
  const size_t number = 0;
  const Grid* const before = nullptr;
  const bool has_dependents = false;
  // By function: the pcs of the PTX lines that observers ask for, ascending. Empty: nobody asks for any.
  const std::vector<std::vector<uint32_t>> stops{};

  // Where its clusters run beside others, on this host thread; or nullptr.
  const Parallel* parallel = nullptr;
  KnownWays ways{};

  // What becomes of it.
  uint64_t ended = 0;     // CTAs, and those that will never start
  uint64_t shown = 0;     // the most of them that anybody was told of
  uint64_t last_end = 0;  // time when a cluster last ended
  Notes notes{false};     // of clusters that have ended, and of all that started before those
  // The first CTA of the first cluster that has not started.
  std::optional<std::array<uint32_t, 3>> next{{0, 0, 0}};

  // `next`, for which the cluster behind it steps in. For whoever runs that cluster, or makes sure that
  // nobody does.
  std::optional<std::array<uint32_t, 3>> take_next();
  uint64_t ctas() const { return uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2]; }
  // Of so many that have ended, what is told of them: never fewer than before, though some are run again.
  uint64_t show(uint64_t done) { return shown = std::max(shown, done); }
  // Those of a stream end in its order, also where one does not wait for the one before: an H200 does so.
  bool complete() const { return ended == ctas() && (before == nullptr || before->complete()); }
  const std::string& name() const { return program.functions[static_cast<size_t>(program.entry)].name; }
};

class Cta {
 public:
  Cta(Cluster& cluster, std::array<uint32_t, 3> index, uint32_t rank);

  Cluster& cluster;
  Grid& grid;
  std::array<uint32_t, 3> index;
  uint32_t rank;  // in the cluster
  std::vector<machine::Warp> warps;
  machine::Region shared;
  machine::Mbarriers mbarriers{shared};
  machine::TensorMemory tensor_memory;
  machine::MadeWhenAsked<machine::CtaBarrier, 16> barriers;
  uint32_t barriers_under_way = 0;  // one bit each: somebody has come there since it was last passed
  FamilyStates families;
  uint64_t lane_instructions = 0;
  uint64_t warp_instructions = 0;
  bool lets_dependents_start = false;  // has executed griddepcontrol.launch_dependents
  bool has_led = false;                // its warps have executed aside from turns (Timekeeper::leads)
  bool saw_launches_over = false;      // has read that a clusterlaunchcontrol.try_cancel has failed
  // The regions that the last global access hit, and one before.
  machine::Region* last_global = nullptr;
  machine::Region* other_global = nullptr;

  // Runs splits of the warp until all of them wait, each has had its turn, or the schedule wants to choose
  // again. Returns whether any ran.
  bool run_warp(machine::Warp& warp);
  // Whether registers, place and memory are as they were at an earlier call for the split, so that whatever
  // it does it does again and again; now and then they are remembered.
  bool repeats(const machine::Warp& warp, machine::Split& split, uint32_t pc);
  // Lets `count` warps from `first` look again at what they waited for.
  void wake_operations(int first, int count);
  // Whether a thread is left.
  bool alive() const;
  // Of an operation of this CTA's, issued there, that is done after its end: what it reaches is held until
  // then (an H200 does so), which is a note.
  void outlived(const machine::IssuePlace& operation, const std::string& what) const;

  std::shared_ptr<machine::Activation> activate(int function, machine::Warp& warp, uint32_t mask,
                                                std::shared_ptr<machine::Activation> caller);
  // Frees every split that waits at barrier `number` if enough threads have arrived.
  void try_release(uint32_t number);
  // Frees the splits of a warp that wait at bar.warp.sync with every member there.
  void try_release_warp(machine::Warp& warp);
  std::array<uint32_t, 3> thread_index(const machine::Warp& warp, int lane) const;
  const isa::Op& op_at(const machine::Split& split) const { return function_of(split).code[split.pc]; }
  const isa::Line& line(const machine::Split& split) const {
    return function_of(split).lines[static_cast<size_t>(op_at(split).line)];
  }
  machine::IssuePlace issue_place(const machine::Warp& warp, const machine::Split& split, int lane) const;
  machine::Place place(const machine::Warp& warp, const machine::Split& split, int lane) const {
    return issue_place(warp, split, lane).kept();
  }
  // The same with the calls that led there.
  machine::Place called_place(const machine::Warp& warp, const machine::Split& split, int lane) const;

 private:
  // A split gets its registers when it first runs: until then it stands where its launch begins.
  const isa::Function& function_of(const machine::Split& split) const {
    const int number = split.activation == nullptr ? grid.program.entry : split.activation->function;
    return grid.program.functions[static_cast<size_t>(number)];
  }
  void note_ended(uint32_t number) const;
  // Tells who watches accesses who comes out of that barrier.
  void tell_passed(uint32_t number) const;
  struct Counts {
    uint64_t lanes = 0, instructions = 0;  // executed
    bool moved = false;                    // the splits changed or the pc was set
    bool at_limit = false;  // came to the limit, or jumped past it or back where there are stops
  };
  template <bool Checked, bool InTime>
  void run_split(machine::Warp& warp, size_t split, uint32_t limit);
  template <bool Checked>
  void run_ops(Context& context, uint32_t limit, uint32_t& pc, Counts& counts);
  template <bool Checked>
  void run_counted(Context& context, uint32_t limit, uint32_t& pc, Counts& counts);
  template <bool Checked>
  void run_in_time(Context& context, uint32_t limit, uint32_t& pc, Counts& counts);
  template <bool Checked, bool InTime>
  void run_part(Context& context, uint32_t limit, uint32_t& pc, Counts& counts);
  template <bool Checked, bool InTime>
  void run_to_stops(Context& context, uint32_t limit, uint32_t& pc, Counts& counts);
  void pass_over(Context& context, uint32_t pc, Counts& counts);
  bool as_seen(const machine::Split& split, uint32_t pc) const;
  std::vector<std::byte> state(const machine::Split& split, uint32_t pc) const;
  bool spend(const machine::Warp& warp, machine::Split& split, uint32_t pc, uint64_t instructions);
  uint32_t next_stop(const Context& context, uint32_t from) const;
  void arrive(Context& context, uint32_t pc, uint64_t instructions);
  size_t choose(const machine::Warp& warp) const;
  void merge(machine::Warp& warp);
  void put_thread_indices(std::byte* row, const isa::SpecialRow& s, const machine::Warp& warp) const;
  uint64_t special(isa::Special s, const machine::Warp& warp, int lane,
                   const machine::Activation& activation) const;
  uint64_t clock_ = 0;
};

}  // namespace bitwell::run
