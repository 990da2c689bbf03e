// The CTAs that run side by side, and the work that goes on beside their warps.
#pragma once
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "model/machine/agent.h"
#include "model/run/cta.h"

namespace bitwell::isa {

// One cluster of a launch. Its warps and its asynchronous operations (agents) take turns on one host thread,
// in an order that Options::schedule fixes.
class Cluster {
 public:
  // `first`: ctaid of the CTA of rank 0.
  Cluster(Grid& grid, std::array<uint32_t, 3> first);

  // Until every thread has ended and no operation is under way. Throws Fault with its place, also for a
  // deadlock.
  void run();

  Grid& grid;
  std::vector<std::unique_ptr<Cta>> ctas;  // by rank

  // The CTA that a shared::cluster address (rank << 24 | offset) lies in, or nullptr: no such rank.
  Cta* cta_of(uint64_t shared_address);

  // Hands over an operation that `warp` has just issued. Under the eager schedule it is done at once.
  void start(std::unique_ptr<machine::Agent> agent, machine::Warp& warp);
  // To be called when an operation may have become ready: the eager schedule does it.
  void settle();

  // Whether an operation is under way; the one that is still to write some of these bytes of shared memory,
  // or nullptr.
  bool operations_under_way() const { return !agents_.empty(); }
  const machine::Agent* filling(uint64_t shared_address, uint64_t length) const;

  // "'tile' + 8 (shared address 1032)" of a shared::cluster address.
  std::string shared_name(uint64_t address) const;
  // "'full' + 8 (shared address 1032)" of a shared::cluster address, for reports and pictures.
  std::string barrier_name(uint64_t address) const;

  // Logical time: warp instructions executed so far.
  void pass(uint64_t instructions) {
    time_ += instructions;
    executed_ = 0;
  }
  // The same in the middle of a turn, of which so many are executed.
  void executed(uint64_t instructions) { executed_ = instructions; }

  // Whether someone wants to hear of every access to memory.
  bool accesses_watched() const { return accesses_watched_; }
  void tell(const machine::Access& access) const;
  // To be called only where accesses are watched.
  void tell(const machine::Synchronisation& synchronisation) const;
  void tell(machine::Reached reached) const;
  // Of an operation that is no agent of its own: a number for it, and what became of it.
  uint64_t next_operation() { return ++operations_; }
  void tell(machine::OperationStep::Kind kind, const machine::Place& place, int warp, uint64_t id,
            const std::string& state) const;

  // To be called when something that a split may wait for has changed.
  void wake() {
    woken_ = true;
    ++changes_;
  }
  // To be called for every change of memory, so that loops that wait for one can be told from others.
  void change() { ++changes_; }
  uint64_t changes() const { return changes_; }
  uint64_t time() const { return time_ + executed_; }
  // A phase of the mbarrier at that shared::cluster address is over.
  void wake_mbarrier(uint64_t address);
  // How much of what is left an operation does in one turn.
  size_t piece(size_t left) {
    return grid.options.schedule.policy == Policy::random && left > 1 ? 1 + random_() % left : left;
  }
  // Whether a wait that may time out should do so now: the random schedule wants that sometimes.
  bool times_out() { return grid.options.schedule.policy == Policy::random && random_() % 4 == 0; }
  // Whether a clusterlaunchcontrol.try_cancel comes too late, since clusters elsewhere have got all that is
  // left: the random schedule wants that sometimes. No other one of this cluster gets any then.
  bool outrun() { return grid.options.schedule.policy == Policy::random && random_() % 4 == 0; }
  bool launches_over = false;
  // To be called after what other warps or operations may observe: exploring schedules then choose again.
  void yield() { yielded_ = exploring_; }
  bool yielded() const { return yielded_; }
  // To be called at every access to shared or global memory: the random schedule may let others go on after
  // it.
  void touch() {
    if (touches_left_ != 0 && --touches_left_ == 0) preempt();
  }

  // barrier.cluster: the phase under way ends when every thread that still runs has arrived.
  uint64_t barrier_phase = 0;
  void try_release_barrier();

 private:
  bool watched_ = false;
  bool accesses_watched_ = false;
  void tell(const machine::Event& event) const;
  void tell(machine::OperationStep::Kind kind, const machine::Agent& agent) const;
  std::array<uint32_t, 3> first_;
  bool run_warp(Cta& cta, machine::Warp& warp);
  bool run_in_order();
  bool run_one();
  bool step(size_t agent);
  bool ended() const;
  [[noreturn]] void report_deadlock();

  std::vector<std::unique_ptr<machine::Agent>> agents_;  // in the order of issue
  // At random, or first of all: what has not run yet has waited longest.
  uint64_t first_priority() {
    return grid.options.schedule.policy == Policy::random ? random_() >> 1 | 1 : ~uint64_t{0};
  }
  void release_spinners();
  bool let_waits_time_out();
  void preempt();
  void report_progress();
  // Nothing where what spins could still be ended by a CTA that has not started: Unsupported.
  void refuse_waiting_for_later_ctas() const;

  bool woken_ = false;
  uint64_t changes_ = 0;
  uint64_t time_ = 0;        // when the turn began
  uint64_t executed_ = 0;    // in it
  uint64_t operations_ = 0;  // issued
  bool yielded_ = false;
  bool exploring_ = false;
  uint64_t turns_ = 0;
  bool spun_ = false;  // the last turn was used up
  // Of the random schedule: accesses to memory until it may choose again, drawn anew each time up to a limit
  // that hangs on the seed; 0: never.
  uint64_t touches_left_ = 0;
  uint64_t most_touches_ = 0;
  bool preempted_ = false;  // the warp that runs goes behind all others
  uint64_t time_outs_ = 0;  // rounds in which waits gave up, since something changed
  uint64_t time_outs_at_ = 0;
  uint64_t reported_ = 0;  // logical time of the last progress report
  std::mt19937_64 random_;
  std::vector<uint64_t> warp_priority_;   // by rank and warp
  std::vector<uint64_t> agent_priority_;  // as agents_
};

}  // namespace bitwell::isa
