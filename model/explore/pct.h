// Turns by random priorities: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte,
// ASPLOS 2010).
#pragma once
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "model/run/turns/chooser.h"

namespace bitwell::explore {

// What a launch has, for the chance that one run finds a bug.
struct Extent {
  uint64_t agents = 0;  // warps and operations
  uint64_t turns = 0;
};

// Always the agent of the highest priority goes on, of those that can. Priorities are drawn at random as
// agents appear, and at depth - 1 turns, drawn at random from all, the agent that would go on falls below all
// others. A bug of that depth, one that so many orders between turns make happen, is found by one run with a
// chance of at least 1 / (agents * turns^(depth - 1)). So that loops that wait with changes of their own end,
// an agent that has had very many turns in a row though others could go on falls too.
class Pct : public run::Chooser {
 public:
  // depth: 1 or more. `turns`: that the launch is expected to take, as another run of it has counted; change
  // points behind its end are lost.
  Pct(uint32_t depth, uint64_t turns, uint64_t seed);

  size_t choose(std::span<const run::Taker> can) override;
  // Of the run so far.
  Extent extent() const { return {priorities_.size(), turns_}; }

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint64_t>;
  int64_t& priority_of(const run::Taker& taker);

  std::mt19937_64 random_;
  std::vector<uint64_t> changes_;  // turns, ascending
  size_t changed_ = 0;             // of those
  std::map<Key, int64_t> priorities_;
  int64_t lowest_ = 0;
  uint64_t turns_ = 0;
  run::Taker last_;
  uint64_t in_a_row_ = 0;
};

// That chance.
double chance(const Extent& extent, uint32_t depth);

}  // namespace bitwell::explore
