// Who takes each turn, where more than a policy decides it: enumeration, replay, priorities.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/isa/form/unit.h"
#include "model/machine/agent.h"
#include "model/run/turns/reach.h"

namespace bitwell::run {

// A time, in parts of a cycle as small as who keeps it likes.
using Instant = int64_t;

class ByTime;
class Cluster;
class Timekeeper;
struct Grid;

// One who can take a turn: a warp, or an operation under way.
struct Taker {
  uint32_t cluster = 0;    // counted in the order of their start
  uint32_t warp = 0;       // counted through the CTAs of the cluster; of an operation: 0
  uint64_t operation = 0;  // its number in the cluster; 0: a warp

  bool operator==(const Taker&) const = default;
};

// Who can go on in a cluster, and when, by a timekeeper's time; and who of them is the first. One is looked
// at each turn: it is to lie in few lines of the host.
struct alignas(64) Earliest {
  Cluster* cluster = nullptr;
  // Side by side, in the order in which they are asked.
  std::vector<Instant> at;
  std::vector<Taker> all;
  uint32_t first = 0;
  uint32_t operations : 31 = 0;  // of them
  uint32_t looks : 1 = 0;        // one waits for a change that anyone may make

  const Taker& taker() const { return all[first]; }
};

// What a turn came to.
struct Took {
  uint64_t changes = 0;  // of memory and of what can be waited for, that the launch has made so far
  // Where the chooser counts: the instructions of a warp's turn, by unit (a timekeeper is told of each as it
  // is executed, and finds none here); what an operation did in its own.
  std::array<uint32_t, isa::kUnits.size()> instructions{};
  machine::Work work;
  bool over = false;  // an operation that is done
  // Who keeps the time, and where the lanes of a warp's turn note what they reach; nullptr: nobody does, nor
  // wants to know.
  Timekeeper* keeper = nullptr;
  Reaches* reaches = nullptr;
  bool leads = false;  // the warp executes aside from turns (Timekeeper::leads)
};

// Asked before each turn (Options::chooser). A turn of a warp ends behind each instruction that does more
// than compute in registers and jump; one of an operation does what is left of it, or one of the operations
// that it carries.
class Chooser {
 public:
  virtual ~Chooser() = default;
  // Which of those that can go on does; one or more, the same ones after the same choices. What it throws
  // ends the run.
  virtual size_t choose(std::span<const Taker> can) = 0;
  // That turn is over, without a fault.
  virtual void took(const Took&) {}
  // Whether it wants to know what a turn did: that makes each dearer.
  virtual bool counts() const { return false; }
  // Itself, where everyone gets a time; else nullptr.
  virtual ByTime* by_time() { return nullptr; }
  // A loop that comes round with its registers as they were waits for the next change: of all that were made
  // so far in the launch, how many a warp could notice.
  virtual uint64_t changes(uint32_t /*cluster*/, uint32_t /*warp*/, uint64_t all) { return all; }
  // The registers of a warp whose threads go together have been remembered: only what it reads from now on
  // need concern changes().
  virtual void remembered(uint32_t /*cluster*/, uint32_t /*warp*/) {}
  // Whether loops are compared each time they come round, and not only when a turn has become long.
  virtual bool thorough() const { return false; }
};

// Of a turn, what its warp has executed before: a part, which may be nothing; all; all, and its end is the
// warp's or a barrier of the CTA, where a warp may wait or let others go on.
enum class Past : uint8_t { part, all, meets };

// How far a warp may go ahead of its time in a function.
struct GoesAhead {
  enum : uint8_t { kTogether = 1, kApart = 2 };  // if all its threads do, or some
  const uint8_t* ops = nullptr;                  // by pc
  const uint32_t* noted = nullptr;               // what the keeper has of it
  uint32_t most = 0;

  // `how`: whether its threads go together. `untold`: the operation stands behind what is still to be told
  // of.
  bool may(uint32_t pc, uint8_t how, bool untold) const {
    return ops != nullptr && (ops[pc] & how) != 0 && *noted + (untold ? 1 : 0) < most;
  }
};

// One who knows of a launch when each can go on: whose time is the earliest has the turn. It is asked cluster
// by cluster, and only again when something has happened there.
class Timekeeper {
 public:
  virtual ~Timekeeper() = default;
  // How many clusters of the launch may be resident at once.
  virtual uint64_t residents() const = 0;
  // Which cluster of the launch, counted in the order of their ctaid, starts when so many have: those before
  // it that have not started never do. One that has started, or is none of the launch: the next.
  virtual uint64_t chosen(uint64_t started) const { return started; }
  // A cluster is resident from now on, or has ended.
  virtual void starts(const Cluster& cluster) = 0;
  virtual void ends(const Cluster& cluster) = 0;
  // What follows are all who can go on there.
  virtual void looks_at(const Cluster& cluster) = 0;
  // `operation`: the one that it is, or nullptr.
  virtual Instant ready(const Taker& taker, const machine::Agent* operation) = 0;
  // Its turn comes after some twenty others at most; `soon`: after fewer than five. The host then fetches
  // meanwhile what is known of it.
  virtual void expects(const Taker& /*taker*/, bool /*soon*/) const {}
  // The turn begins. Returns what of it a warp has executed before: where that is not just a part, the turn
  // is over, as if took() had been called, and `again` is when the warp can go on, if it can.
  virtual Past has_turn(const Taker& taker, Instant& again) = 0;
  // Where what the lanes of that turn reach is to be noted.
  virtual Reaches* reaches() = 0;
  // A warp has executed an operation of a function, by so many lanes; by none where its guard held for none.
  // Returns whether the turn may go on behind one that would end it.
  virtual bool executed(int /*function*/, uint32_t /*pc*/, uint32_t /*lanes*/) { return false; }
  // Instead of executed(): of operations that compute in registers alone; the last may be a branch of all
  // lanes or of none. Returns whether the turn may go on: one that only computes may last for long.
  virtual bool computed(int function, uint32_t from, uint32_t to) = 0;
  // A warp may execute before its time what no other can tell from its doing so later: its registers are at
  // hand now, and not when its turn comes. The keeper notes what it is told of that, and has it cost its time
  // in the turns to come. Whether the warp whose turn is over by time does so from now on.
  virtual bool goes_ahead() { return false; }
  // What that warp may execute so; where that is nothing, it waits for its time. To be asked in its turn.
  virtual GoesAhead may_go_ahead(int /*function*/) const { return {}; }
  // A turn would end here: that of what it was told last, if it has not ended with that; or, `another`, one
  // that begins behind that if it has.
  virtual void turn_ends(bool /*another*/) {}
  // Whether warps go ahead through the barriers of their CTAs as well: nothing else lets one wait for another
  // in this launch, and the keeper has them wait there in time, whatever they have executed.
  virtual bool goes_through() const { return false; }
  // Likewise, to the ends of warps: a cluster all of whose threads have ended then goes on in time, until no
  // warp of it can go on any more.
  virtual bool goes_to_ends() const { return false; }
  // That warp of the cluster whose turn it is executes aside from turns: what it is told from now on is of
  // that. Whether there is room for more.
  virtual bool leads(const Taker& /*taker*/) { return false; }
  // None does any longer.
  virtual void has_led() {}
  // A warp has executed its end; where it did so before its time, that counts when it comes.
  virtual void ends(const Taker& /*taker*/) {}
  // Whether a warp can go on, where the keeper has it wait in time or knows what it has executed before.
  virtual std::optional<bool> can_go_on(const Taker& /*taker*/) const { return {}; }
  // Whether this turn let warps go on that waited in time.
  virtual bool has_let_go() const { return false; }
  // A warp that has just had its turn cannot go on: the next time that it is asked something has let it.
  virtual void waits(const Taker& /*taker*/) {}
  // Of who has just had its turn, where nobody else is another than before: when it can go on.
  virtual Instant again(const Taker& taker, const machine::Agent* operation) = 0;
  // Whether another cluster may begin; where not, those that are there go on to their end.
  virtual bool more() const { return true; }
  // Whether it has seen what it wants: the launch then ends as it is.
  virtual bool enough() const = 0;
  // The turn of a warp or an operation that was not over at once is, without a fault.
  virtual void took(const Took& turn) = 0;
};

// Turns go in the order of time.
class ByTime : public Chooser {
 public:
  // A launch begins. Returns who keeps its time.
  virtual Timekeeper& begins(const Grid& grid) = 0;

  bool counts() const final { return true; }
  ByTime* by_time() final { return this; }
  size_t choose(std::span<const Taker>) final { return 0; }
};

}  // namespace bitwell::run
