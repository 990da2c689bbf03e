// The clusters that a device holds at once, as they take turns.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/run/cluster.h"
#include "model/run/turns/journals.h"
#include "model/run/turns/random.h"

namespace bitwell::run {

class ByTime;

// Clusters that a device holds at once, 1 or more, and what that number rests on, in words.
struct Room {
  uint64_t clusters;
  std::string rests_on;
};

// A launch, with the room that it would have alone.
struct InFlight {
  Grid& grid;
  Room room;
  uint64_t resident = 0;  // clusters
};

// All clusters of a launch, started in the order of their ctaid as room becomes free. One runs until it has
// ended or can only wait or poll; then the next resident one, or one that starts, has its turn. What polls
// goes on when memory has changed. The random schedule has few of them resident, where no more are needed,
// that interrupt each other, and draws whose turn it is. A launch behind it starts when all of the first are
// started and have executed griddepcontrol.launch_dependents or ended, in what room they leave; under some
// schedules (starts_late) only when they have ended. Under the others the CTAs that have let it start give
// way to it, so that it reads as early as may be.
class Residents {
 public:
  // In the order of the stream.
  explicit Residents(std::vector<InFlight> launches);

  // To be called before run, of one launch whose first clusters have ended elsewhere: what came of them.
  void begin_behind(uint64_t clusters, RunResult result);
  // Until every cluster has ended. Returns the result of each launch. Throws Fault with its place, also where
  // all that are resident can only wait.
  std::vector<RunResult> run();

 private:
  void run_all();
  void run_chosen(Chooser& chooser);
  void run_timed(ByTime& times);
  Cluster* next();
  void start(InFlight& launch);
  void draw();
  InFlight* starting();
  bool may_start(const Grid& grid) const;
  bool fits(const InFlight& launch) const;
  bool more_to_start() const;
  void count(const Cluster& cluster);
  void end(size_t which);
  void print_rest() const;
  void report_progress() const;
  bool let_waits_time_out();
  std::string not_started() const;
  std::string waiting_launches() const;
  [[noreturn]] void report_deadlock();

  std::vector<InFlight> launches_;
  std::vector<RunResult> results_;                 // as launches_
  std::deque<std::unique_ptr<Cluster>> clusters_;  // in the order of their start; most end in it
  uint32_t started_ = 0;
  Journals journals_;
  size_t turn_ = 0;  // the cluster that goes next; their number: one that starts
  Random random_;
  uint64_t few_ = 0;  // clusters that the random schedule draws from
  bool late_;         // a launch starts when the one before has ended
};

}  // namespace bitwell::run
