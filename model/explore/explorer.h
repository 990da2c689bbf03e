// Every schedule of a launch that can end otherwise than another: source-DPOR with sleep sets (Abdulla,
// Aronis, Jonsson, Sagonas, POPL 2014). Of all runs that differ only in the order of turns that commute,
// one goes to its end.
#pragma once
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/explore/order.h"

namespace bitwell::explore {

// The launch is run from its start once for each schedule:
//   Explorer e(shape, most_turns);
//   while (e.next()) { try { run with e as chooser and e.observer() } catch (Pruned) {} ...; e.end(faulted);
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
  Explorer(const run::Shape& shape, size_t most_turns) : Follower(shape), most_turns_(most_turns) {}

  // Sets up the next run. False: there is none that was not run, or could end otherwise than one that was.
  bool next();
  // The run is over, be it by what was thrown through it.
  void end();

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
    std::set<Actor> to_try;     // and those that were
    Actor taken;
    size_t actor = 0;  // its number
    Footprint footprint;
    Clock clock;
  };

  size_t number_of(const Actor& actor);
  bool is_asleep(const Node& node, const Actor& actor) const;
  std::optional<Actor> before(size_t turn) const;
  std::optional<Actor> fresh(const Node& node) const;
  void close(Node& node, bool changed);
  void reverse(size_t earlier, const Node& later);
  std::vector<Actor> initials(size_t earlier, const Node& later) const;

  size_t most_turns_;
  std::vector<Node> nodes_;
  size_t depth_ = 0;   // turns of the run under way that have begun
  size_t known_ = 0;   // turns at its start that were run before
  bool open_ = false;  // the last has begun and is not over
  std::map<Actor, size_t> numbers_;
  bool first_ = true;
};

}  // namespace bitwell::explore
