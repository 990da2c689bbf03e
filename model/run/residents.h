// The clusters that a device holds at once, as they take turns.
#pragma once
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/run/cluster.h"

namespace bitwell::isa {

// Clusters that a device holds at once, 1 or more, and what that number rests on, in words.
struct Room {
  uint64_t clusters;
  std::string rests_on;
};

// All clusters of a launch, started in the order of their ctaid as room becomes free. One runs until it has
// ended or can only wait or poll; then the next resident one, or one that starts, has its turn. What polls
// goes on when memory has changed.
class Residents {
 public:
  Residents(Grid& grid, Room room);

  // Until every cluster has ended. Throws Fault with its place, also where all that are resident can only
  // wait.
  RunResult run();

 private:
  RunResult run_chosen(Chooser& chooser);
  Cluster* next();
  bool has_room() const { return grid_.next && clusters_.size() < room_.clusters; }
  void end(const Cluster& cluster);
  bool let_waits_time_out();
  [[noreturn]] void report_deadlock();

  Grid& grid_;
  Room room_;
  std::vector<std::unique_ptr<Cluster>> clusters_;  // in the order of their start
  size_t turn_ = 0;  // the cluster that goes next; their number: one that starts
  RunResult result_;
  std::mt19937_64 random_;
  uint64_t few_;
};

}  // namespace bitwell::isa
