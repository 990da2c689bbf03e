// The host threads of one launch.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "model/run/cluster.h"
#include "model/run/parallel/parallel.h"

namespace bitwell::run {

// Runs the clusters of a launch on several host threads, in rounds: so many in the order of the grid, each
// thread the next that nobody has. A round counts when all of its clusters have ended without a fault, none
// waited for another, and no two threads met in memory (machine::Claims): then it gives what its clusters
// would give one after the other. Else memory becomes what it was before, and the launch goes on from there
// in order. As long as a launch is short, its own thread is the only one.
class SideBySide {
 public:
  // Of a grid that has not started.
  SideBySide(Grid& grid, unsigned threads, const Unordered& unordered);
  ~SideBySide();
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;

  // As far as it goes: the grid then stands before the first cluster that is still to run, if any. Returns
  // what those have done that did.
  RunResult run();

 private:
  // A host thread, and what it has done in this round.
  struct Worker {
    Worker(Grid& of, const Options& options, machine::Claims& claims, SideBySide& all);
    Flight flight;
    Parallel parallel;
    Grid grid;
    RunResult result;
  };
  struct Round {
    size_t begin = 0, end = 0, piece = 1;  // clusters; those that a thread takes at once
  };

  std::array<uint32_t, 3> first_of(size_t cluster) const;
  void add_worker();
  void call_helpers();
  void help(Worker& worker);
  void work(Worker& worker);
  bool run_cluster(Worker& worker, size_t number);
  bool run_round(Round round);
  void keep(Round round, RunResult& result);
  void give_up(const std::string& why);

  Grid& grid_;
  const unsigned threads_;
  const Unordered& unordered_;
  const size_t ctas_;  // of a cluster
  machine::Before before_;
  std::array<std::mutex, Parallel::kLocks> locks_;
  std::vector<std::unique_ptr<machine::Claims>> claims_;  // as workers_
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Journal> journals_;  // of the round's clusters
  Round round_;
  // Apart from each other in the host's caches: threads look at the last one all the time.
  static constexpr size_t kLine = 64;
  alignas(kLine) std::atomic<size_t> next_ = 0;   // cluster of the round that nobody has
  alignas(kLine) std::atomic<size_t> ended_ = 0;  // clusters, of those that count and of this round
  alignas(kLine) std::atomic<bool> given_up_ = false;

  alignas(kLine) std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::string why_;      // they gave up
  uint64_t rounds_ = 0;  // begun
  unsigned busy_ = 0;    // helpers
  bool over_ = false;    // no other round comes
  std::vector<std::jthread> helpers_;
};

}  // namespace bitwell::run
