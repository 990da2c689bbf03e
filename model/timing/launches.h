// How long each of several launches takes, one after the other: a clock of its own for each.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/run/turns/residency.h"
#include "model/timing/clock.h"

namespace bitwell::timing {

// Of one launch.
struct TimedLaunch {
  std::string entry;
  uint64_t ctas = 0, clusters = 0;
  uint32_t cluster_size = 1, groups = 1;  // of multiprocessors, on the device, that have work
  bool sampled = false;                   // not every cluster was run
  bool sure_of_residents = false;
  std::shared_ptr<const MachineCode> code{};  // that it was timed by; nullptr: by PTX alone
  Extent extent;
  Seen seen;
  double cycles = 0;  // of the whole launch
};

class Launches final : public run::ByTime {
 public:
  // `most`: clusters on a multiprocessor, one after the other, that are run; the others are like them. 0: all
  // clusters of the launch are. `shares`: by launch; the first behind its end begin with cold caches.
  Launches(const Device& device, uint32_t most, std::vector<Shares> shares);
  // Of launches of which not all is run, only some neighbours begin, to see what they read together.
  void look_at_neighbours() { at_neighbours_ = true; }

  // By launch: PTX lines whose instructions take half as long as the table says.
  void shorten(std::vector<std::set<int>> lines) { shortened_ = std::move(lines); }
  // What an assembler made of the launch that begins next; nullptr, and without it: not known.
  void set_code(std::shared_ptr<const MachineCode> code) { code_ = std::move(code); }
  // Of the turn under way, in microseconds since the first launch began: when it began, and how far it has
  // come. A launch begins when all of the one before has ended.
  struct Instant {
    double begin, now;
  };
  Instant instant() const;
  // Of all launches so far, in order.
  std::vector<TimedLaunch> timed() const;
  // What L2 would have had of what they asked; and gave once, where that was looked at.
  std::vector<Shares> shares() const;

  run::Timekeeper& begins(const run::Grid& grid) override;

 private:
  const Device& device_;
  uint32_t most_;
  std::vector<Shares> shares_;
  bool at_neighbours_ = false;
  std::vector<std::set<int>> shortened_;
  std::shared_ptr<const MachineCode> code_;
  std::vector<std::unique_ptr<Clock>> clocks_;
  Clock* clock_ = nullptr;  // of the launch that runs
  double before_ = 0;       // cycles of those that have
  std::vector<TimedLaunch> launches_;
};

// Microseconds, and between which.
struct Estimate {
  double us = 0, low = 0, high = 0;  // where launches like it follow each other, as benchmarks have it
  double alone = 0;                  // of one among others: power has not lowered the clock as far
  std::string_view kind;             // what it is bound by, which says how well it can be known
  std::string made;                  // how
};
Estimate estimate(const Device& device, const TimedLaunch& launch);

}  // namespace bitwell::timing
