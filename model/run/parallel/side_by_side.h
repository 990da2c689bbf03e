// The host threads of one launch.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "model/run/cluster.h"
#include "model/run/parallel/apart.h"
#include "model/run/parallel/parallel.h"
#include "model/run/watch/losses.h"

namespace bitwell::run {

// Runs the clusters of a launch on several host threads, in rounds: so many in the order of the grid, each
// thread the next that nobody has. A round counts when all of its clusters have ended without a fault, none
// waited for another, and no two threads met in memory (machine::Claims): then it gives what its clusters
// would give one after the other. Else memory becomes what it was before, and the launch goes on from there
// in order. As long as a launch is short, its own thread is the only one. Where a cluster runs for long, all
// stop and look whether threads have met so far: what it has read may be of no run in order.
//
// Where somebody watches every access (apart.h), all rounds count or none: no two clusters of the launch may
// meet, on one thread neither, and what was said of them stands when the last one has ended.
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
  // What a cluster has said, apart from all others.
  struct Said {
    size_t cluster = 0;
    Journal journal{Notes(false), {}};
    LossesApart lost{};
    std::vector<machine::Event> events{};  // their times from its start on
    std::unique_ptr<Apart::One> watched{};
    uint64_t instructions = 0;  // of warps
  };
  // A host thread, and what it has done in this round.
  struct Worker : Parallel {
    // `those_before`: what its clusters before have claimed, where they are told apart; else nullptr.
    Worker(SideBySide& threads, const Options& options, machine::Claims& of_now,
           machine::Claims* those_before);
    bool goes_on(uint64_t time) const override;
    bool passes_over(const machine::Region& at, const std::array<uint32_t, 3>& cta, int warp,
                     int ptx_line) const override;
    TakesRows* taker_of_rows() const override { return now.watched.get(); }
    Options with_observer(Options options);
    SideBySide& all;
    machine::Claims* const before;
    Flight flight;
    Grid grid;
    RunResult result;
    bool own = false;              // the launch's own thread, which tells of progress and calls the others
    uint64_t begun = 0;            // its cluster
    std::vector<Said> said;        // by those of its clusters that said anything
    Said now;                      // by the one that runs
    size_t told = 0;               // events of this round
    mutable uint64_t look_at = 0;  // so late in it, threads look whether they have met
  };
  struct Round {
    size_t begin = 0, end = 0, piece = 1;  // clusters; those that a thread takes at once
  };

  std::array<uint32_t, 3> first_of(size_t cluster) const;
  void add_worker();
  void call_helpers();
  void help(Worker& worker);
  void work(Worker& worker);
  std::string run_cluster(Worker& worker, size_t number);
  bool run_round(Round round);
  void keep(RunResult& result);
  void tell_all();
  void tell(Said& said);
  size_t next_size(Round done) const;
  void give_up(const std::string& why);
  void look();
  void look_if_all_stand();
  void wait_for_all(std::unique_lock<std::mutex>& lock);
  void tell_progress(uint64_t warp_instructions);

  Grid& grid_;
  Apart* const apart_;  // who is told of every access, or nullptr
  const unsigned threads_;
  const Unordered& unordered_;
  const size_t ctas_;     // of a cluster
  const uint64_t begun_;  // processor time of the launch's own thread
  bool called_ = false;   // the other threads
  machine::Before before_;
  std::array<std::mutex, Parallel::kLocks> locks_;
  std::vector<std::unique_ptr<machine::Claims>> claims_;  // of each worker, and of its clusters before
  std::vector<std::unique_ptr<Worker>> workers_;
  Round round_;
  // Apart from each other in the host's caches: threads look at the last one all the time.
  static constexpr size_t kLine = 64;
  alignas(kLine) std::atomic<size_t> next_ = 0;   // cluster of the round that nobody has
  alignas(kLine) std::atomic<size_t> ended_ = 0;  // clusters, of those that count and of this round
  alignas(kLine) std::atomic<bool> given_up_ = false;
  alignas(kLine) std::atomic<bool> looking_ = false;  // all threads are to stop and look

  alignas(kLine) std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::string why_;                  // they gave up
  machine::Claims::Meeting met_;     // that was seen while they ran
  bool learns_ = true;               // from the launch's first clusters, which regions are only read
  std::exception_ptr thrown_;        // by the launch's progress
  uint64_t rounds_ = 0, looks_ = 0;  // begun; over
  size_t at_work_ = 0, stand_ = 0;   // threads; those of them that have stopped to look
  bool over_ = false;                // no other round comes
  std::vector<std::jthread> helpers_;
};

}  // namespace bitwell::run
