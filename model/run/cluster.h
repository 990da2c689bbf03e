// CTAs that share memory, and the work that goes on beside their warps.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "model/machine/agent.h"
#include "model/run/cta.h"
#include "model/run/journal.h"
#include "model/run/turns/random.h"
#include "model/run/watch/last_writers.h"

namespace bitwell::run {

class TakesRows;
class Timekeeper;
struct Earliest;
struct Taker;
struct Took;

// One cluster of a launch. Its warps and its asynchronous operations (agents) take turns on one host thread,
// in an order that Options::schedule fixes.
class Cluster {
 public:
  // `first`: ctaid of the CTA of rank 0. In the order of time its CTAs are made at its first turn, where no
  // other launch asks what they have done: thousands of them wait for that.
  Cluster(Grid& grid, std::array<uint32_t, 3> first);

  enum class Standing : uint8_t {
    ended,       // every thread has, and no operation is under way
    waits,       // for what other clusters do: nothing can run, or polls memory again until it changes
    gives_way,   // could go on, but only polled of late
    interrupted  // could go on: the schedule wants others to
  };
  // `alone`: no other cluster is there or can start, so that it goes on while it can. Throws Fault with its
  // place, also where nothing can run and no other cluster could change that.
  Standing run(bool alone);
  // Whether it has not been run yet, or something has changed since it could only wait.
  bool can_go_on() const { return !waits_ || waits_since_ != grid.flight.changes(); }
  // Lets waits that may time out do so. Returns whether any did.
  bool let_waits_time_out();
  // The report of a deadlock; `beside` says, on lines of their own, what the launch's other clusters do.
  [[noreturn]] void report_deadlock(const std::string& beside);
  // "(1,0,0)", where it starts.
  std::string first_cta() const { return machine::triple(first_); }

  Grid& grid;
  std::vector<std::unique_ptr<Cta>> ctas;  // by rank
  uint32_t number = 0;                     // in the order of start
  Journal journal{Notes(grid.options.strict), {}};

  // Of what a thread of it does, or an operation, that devices take and the manual does not promise.
  void note(const machine::Place& place, const std::string& text) { journal.notes.add(place, text); }
  // What its printf writes: passed on when all that started before it have ended.
  void print(std::string_view text);
  // They have.
  void is_first();

  // With a Chooser: who can go on; one of them has its turn, which returns whether the cluster has ended;
  // the changes that a warp could notice, and that its registers have been remembered (chooser.h).
  void add_takers(std::vector<Taker>& to);
  // Who can go on, and whose time is the earliest, which comes into `out`; false where none can.
  bool earliest(Timekeeper& keeper, Earliest& out);
  // The same behind the turn of who was it, where that let nobody else go on: no other is asked again. False
  // where it did.
  bool again(Earliest& of, Timekeeper& keeper) const;
  bool take(const Taker& taker, Took& took);
  // To be called when all its threads have executed their ends, of which their time is still to come: its
  // CTAs go, while the host has them at hand.
  void retire() {
    ctas.clear();
    retired_ = true;
  }
  bool retired() const { return retired_; }
  // Of each CTA.
  uint32_t warps_of_each() const {
    return (grid.shape.block[0] * grid.shape.block[1] * grid.shape.block[2] + machine::kLanes - 1) /
           machine::kLanes;
  }
  // Of the turn under way, where a Chooser counts what is done in it; else nullptr.
  Took* counted() const { return counted_; }
  uint64_t changes(const Cta& cta, const machine::Warp& warp) const;
  void remembered(const Cta& cta, const machine::Warp& warp) const;

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

  // Logical time: warp instructions that the launch has executed so far.
  void pass(uint64_t instructions) {
    grid.flight.pass(instructions);
    executed_ = 0;
  }
  // The same in the middle of a turn, of which so many are executed.
  void executed(uint64_t instructions) { executed_ = instructions; }

  // Whether someone wants to hear of every access to memory.
  bool accesses_watched() const { return accesses_watched_; }
  // Whether someone wants to hear of each by itself, before the next is made.
  bool each_access_watched() const { return each_access_watched_; }
  // An event of the cluster with those parts of a `What`. It is made where it stays, which a conversion does:
  // who copies what was just written part by part waits for that.
  template <class What, class... Parts>
  machine::Event event_of(const Parts&... parts) const {
    const auto make = [&] { return What{parts...}; };
    struct Made {
      const decltype(make)& as;
      operator What() const { return as(); }
    };
    return {first_, decltype(machine::Event::what)(std::in_place_type<What>, Made{make})};
  }
  void tell_access(const machine::Event& event) const;
  // Who alone watches, if he takes rows; or nullptr.
  TakesRows* taker_of_rows() const { return taker_of_rows_; }
  // To be called only where not each access is watched.
  void tell(const machine::ByTurns& accesses) const;
  // To be called only where accesses are watched.
  void tell_synchronisation(const machine::Event& event) const;
  void tell_reached(const machine::Event& event) const;
  // From now on every write is noted: for who finds bytes changed that should have stayed. It makes every
  // access dearer.
  void note_writers();
  // nullptr: nobody wanted it.
  const LastWriters* writers() const { return writers_.get(); }
  // Of an operation that is no agent of its own: a number for it, and what became of it.
  uint64_t next_operation() { return ++operations_; }
  void tell(machine::OperationStep::Kind kind, const machine::IssuePlace& place, int warp, uint64_t id,
            const std::string& state) const;

  // To be called when something that a split may wait for has changed.
  void wake() {
    woken_ = true;
    grid.flight.change();
  }
  // To be called for every change of memory, so that loops that wait for one can be told from others.
  void change() { grid.flight.change(); }
  // A split has used up its turn and polled global memory in it.
  void polled();
  uint64_t time() const { return grid.flight.time() + executed_; }
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
  // To be called when a CTA has let the launch behind this one start: schedules that start it early let
  // others go on.
  void let_dependents_start();
  // To be called at every access to shared or global memory: the random schedule may let others go on after
  // it.
  void touch() {
    if (touches_left_ != 0 && --touches_left_ == 0) preempt();
  }

  // barrier.cluster: the phase under way ends when every thread that still runs has arrived.
  uint64_t barrier_phase = 0;
  void try_release_barrier();

 private:
  bool first_to_end_ = false;
  Took* counted_ = nullptr;
  bool watched_ = false;
  bool accesses_watched_ = false, each_access_watched_ = false;
  TakesRows* taker_of_rows_ = nullptr;
  std::unique_ptr<LastWriters> writers_;
  void tell(const machine::Event& event) const;
  void tell(machine::OperationStep::Kind kind, const machine::Agent& agent) const;
  std::array<uint32_t, 3> first_;
  bool run_warp(Cta& cta, machine::Warp& warp);
  bool run_in_order();
  bool run_one();
  bool step(size_t agent);
  bool ended() const;
  bool waits_for_others() const;
  bool only_polled() const;

  std::vector<std::unique_ptr<machine::Agent>> agents_;  // in the order of issue
  // At random, or first of all: what has not run yet has waited longest.
  uint64_t first_priority() {
    return grid.options.schedule.policy == Policy::random ? random_() >> 1 | 1 : ~uint64_t{0};
  }
  void release_spinners();
  void release_spinners(const Cta& cta, machine::Warp& warp) const;
  void lead(Cta& cta, const Taker& taker, Took& took);
  void make_ctas();
  bool retired_ = false;
  uint64_t until_preemption();
  void preempt();
  static uint32_t warp_number(const Cta& cta, const machine::Warp& warp);
  void report_progress();

  bool woken_ = false;
  bool waits_ = false;        // could only do so when it ran last
  uint64_t waits_since_ = 0;  // the launch's changes then
  // Since it last gave way: turns that were used up polling, and those of them since something last changed.
  uint64_t polls_ = 0;
  uint64_t idle_polls_ = 0;
  uint64_t idle_since_ = 0;  // the launch's changes then
  uint64_t gave_way_ = 0;    // when that was
  uint64_t executed_ = 0;    // instructions of the turn under way
  uint64_t operations_ = 0;  // issued
  bool yielded_ = false;
  bool exploring_ = false;
  uint64_t turns_ = 0;
  bool spun_ = false;  // the last turn was used up
  // Of the random schedule: accesses to memory until it may choose again, 0: never; how many are drawn each
  // time hangs on a limit, and both on the seed, as does in how many of these cases other clusters go on.
  uint64_t touches_left_ = 0;
  uint64_t preemptions_ = 0;
  uint64_t preemptions_of_all_ = 0;
  bool preempted_ = false;    // the warp that runs goes behind all others
  bool interrupted_ = false;  // so does the cluster
  uint64_t time_outs_ = 0;    // rounds in which waits gave up, since something changed
  uint64_t time_outs_at_ = 0;
  uint64_t reported_ = 0;  // logical time of the last progress report
  Random random_;
  std::vector<uint64_t> warp_priority_;   // by rank and warp
  std::vector<uint64_t> agent_priority_;  // as agents_
};

}  // namespace bitwell::run
