// A chooser that sees what turns reach, so that a warp in a loop that only waits has no turn until something
// that it looks at has changed.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "model/explore/witness.h"

namespace bitwell::explore {

class Follower : public run::Chooser {
 public:
  // Of a launch whose shape has the cluster that the entry gives it (isa::cluster_of).
  explicit Follower(const run::Shape& shape) : witness_(shape) {}
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // To be told of the run's events; valid as long as this.
  machine::Observer observer() {
    machine::Observer out;
    out.tell = [this](const machine::Event& event) { witness_.tell(event); };
    out.accesses = true;
    out.steps = false;
    return out;
  }
  uint64_t changes(uint32_t cluster, uint32_t warp, uint64_t) override {
    return witness_.noticed({cluster, warp, 0});
  }
  void remembered(uint32_t cluster, uint32_t warp) override { witness_.remembered({cluster, warp, 0}); }
  bool thorough() const override { return true; }

 protected:
  // Whether the turn that is over has changed anything; to be called once for each.
  bool changed(uint64_t changes) { return std::exchange(changes_, changes) != changes; }
  void start_over() {
    changes_ = 0;
    witness_.clear();
  }
  std::vector<Actor> actors_of(std::span<const run::Taker> takers) const {
    std::vector<Actor> out;
    for (const run::Taker& t : takers) out.push_back(witness_.names().of(t));
    return out;
  }

  Witness witness_;

 private:
  uint64_t changes_ = 0;
};

}  // namespace bitwell::explore
