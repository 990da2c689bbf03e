// Every schedule of a launch that can end otherwise than another: source-DPOR with sleep sets (Abdulla,
// Aronis, Jonsson, Sagonas, POPL 2014). Of all runs that differ only in the order of turns that commute,
// one goes to its end.
//
// Which turns are to be tried in a place is found out by the runs behind it, so that no list of what there is
// to do stands at the start. But a turn that is to be tried stays so, and what comes behind it hangs on the
// way to it and on what was tried in its place before, and on nothing else. So another host thread may
// explore it at once, by an Explorer of its own (give()). What that finds is to be tried in places before,
// which are not its own, it notes; this one takes it over when it comes there in its own order, and what is
// run, and in which order, is the same as if nobody had helped.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/explore/order.h"

namespace bitwell::explore {

// The launch is run from its start once for each schedule:
//   Explorer e(shape, most_turns);
//   while (e.next() == Explorer::Next::run) {
//     try { run with e as chooser and e.observer() } catch (Pruned) {} ...; e.end();
//   }
class Explorer : public Follower {
 public:
  // What is left of a run comes to nothing new. Thrown through the run.
  struct Pruned {};
  // A run took more turns than it may: what is explored is not small.
  struct TooLong : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  // Of a launch whose shape has the cluster that the entry gives it (isa::cluster_of).
  Explorer(const run::Shape& shape, size_t most_turns)
      : Follower(shape), shape_(shape), most_turns_(most_turns) {}

  enum class Next : uint8_t {
    run,   // one is set up
    part,  // what comes next was given away: take() or keep() it, and ask again
    over   // there is none that was not run, or could end otherwise than one that was
  };
  Next next();
  // The run is over, be it by what was thrown through it.
  void end();

  // Between runs: a part of what is left, for another thread, which explores it by next() and so on; nullptr:
  // there is none. It is independent of this one. So many parts that come before it are kept, where there are
  // as many and one more: what is near the end of the last run comes soon, and is small; what is near its
  // beginning may be more than anybody will ask for.
  std::unique_ptr<Explorer> give(size_t behind = 2);
  // The part that next() has come to.
  const Explorer* part() const { return nodes_.back().given; }
  // It is explored: its schedules are run.
  void take(const Explorer& part);
  // Nobody has begun with it: it is explored here.
  void keep() { nodes_.back().given = nullptr; }

  // The turns of the last run.
  size_t turns() const { return depth_; }
  // By which the last run can be replayed.
  Order order() const;

  size_t choose(std::span<const run::Taker> can) override;
  void took(const run::Took& turn) override;

 private:
  struct Tried {
    Actor actor;
    Footprint footprint;
  };
  // A turn of the run under way, and what else is to be tried in its place.
  struct Node {
    std::vector<Actor> can;     // go on there
    std::vector<Tried> asleep;  // turns whose effect was explored from an equivalent place
    std::vector<Tried> done;    // turns that were explored from here
    std::vector<Actor> to_try;  // and those that were, in the order in which that was found
    Actor taken;
    size_t actor = 0;  // its number
    Footprint footprint;
    Clock clock;
    const Explorer* given = nullptr;  // who explores the next of `to_try`
  };
  // One of `first` is to be tried in a place, so that `later` comes before what was taken there; where none
  // of them can go on there, all that can are.
  struct Reversal {
    size_t place;
    std::vector<Actor> first;
    Actor later;
    auto operator<=>(const Reversal&) const = default;
  };

  size_t number_of(const Actor& actor);
  bool is_asleep(const Node& node, const Actor& actor) const;
  const Actor* left(const Node& node) const;
  std::optional<Actor> before(size_t turn) const;
  std::optional<Actor> fresh(const Node& node) const;
  void close(Node& node, bool changed);
  void reverse(Reversal reversal);
  std::vector<Actor> initials(size_t earlier, const Node& later) const;

  run::Shape shape_;
  size_t most_turns_;
  std::vector<Node> nodes_;
  size_t own_ = 0;                   // nodes before are of whoever gave this part away, and stay as they are
  std::vector<Reversal> elsewhere_;  // that are in those
  std::set<Reversal> known_elsewhere_;
  size_t depth_ = 0;     // turns of the run under way that have begun
  size_t known_ = 0;     // turns at its start that were run before
  bool open_ = false;    // the last has begun and is not over
  bool first_ = true;    // no run was yet
  bool counted_ = true;  // the last node's turn is among those that are done
  std::map<Actor, size_t> numbers_;
};

}  // namespace bitwell::explore
