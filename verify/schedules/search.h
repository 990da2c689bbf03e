// An exploration on several host threads, which comes to what it comes to on one.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "model/explore/explorer.h"
#include "verify/schedules/exhaust.h"

namespace bitwell::schedules {

// How runs have ended that any thread has made, each way once.
class Ways {
 public:
  // The first line of the fault, and what is in buffers and variables.
  using Bytes = std::vector<std::vector<std::byte>>;
  using Way = std::tuple<std::string, Bytes, Bytes>;

  // That of a run.
  const Way& of(const Ended& end);

 private:
  std::shared_mutex mutex_;
  std::map<Way, bool> ways_;
};

// Runs in order.
struct Found {
  struct Run {
    const Ways::Way* way;  // nullptr: it was given up
    size_t turns;
  };
  struct First {
    std::string fault;
    explore::Order order;
  };
  std::vector<Run> runs;
  std::map<const Ways::Way*, First> firsts;  // the first run that ended so
  std::exception_ptr thrown;                 // by the run behind them
  bool complete = false;                     // there is none behind them

  void add(const Ways::Way* way, const Ended& end, const explore::Explorer& explorer);
  // They come behind these.
  void append(Found&& more);
  // Of the first `most` of them. Throws what was thrown, where that is among these.
  Exhausted told(uint64_t most) const;
};

// Threads that have nothing to do are given parts of what is explored (Explorer::give). Who comes in its own
// order to a part that is not yet explored waits for it, and its thread does something else. A part for which
// nobody waits yet may lie behind the last run that is asked for, so it rests after some runs.
class Search {
 public:
  // Makes a run by that explorer; nullopt: it was given up. `first`: of all.
  using Run = std::function<std::optional<Ended>(explore::Explorer&, bool first)>;
  // Runs to an end and those given up, so far; told on the caller's thread, behind runs of its own.
  using Progress = std::function<void(uint64_t runs, uint64_t pruned)>;

  Search(uint64_t most, Run run, Progress progress)
      : most_(most), run_(std::move(run)), progress_(std::move(progress)) {}

  // At most so many runs; throws what one of them threw.
  Exhausted run(std::unique_ptr<explore::Explorer> all, unsigned threads);

 private:
  struct Part {
    Part(std::unique_ptr<explore::Explorer> its, uint64_t most_runs)
        : explorer(std::move(its)), most(most_runs) {}
    const std::unique_ptr<explore::Explorer> explorer;
    const uint64_t most;  // runs that anybody will ask for
    Found found;
    std::chrono::steady_clock::duration took{};  // by its own thread
    bool begun = false, over = false;
    bool rests = false;               // until somebody waits for it
    std::atomic<bool> asked = false;  // somebody does, or it is the whole
    Part* waiting = nullptr;
  };

  void work(bool own);
  void go_on(Part& part, bool own);
  bool rests(Part& part);
  bool goes_on_behind(Part& part);
  void make_run(Part& part, bool own);
  void give(Part& part);
  void end(Part& part);

  const uint64_t most_;
  const explore::Explorer* whole_ = nullptr;
  const Run run_;
  const Progress progress_;
  Ways ways_;
  std::atomic<uint64_t> ended_ = 0, pruned_ = 0;  // runs
  std::atomic<size_t> idle_ = 0, offered_ = 0;    // threads; parts that are ready for one
  std::atomic<bool> over_ = false;
  std::atomic<size_t> behind_;  // parts that who gives one away keeps, as Explorer::give has it

  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  std::map<const explore::Explorer*, Part> parts_;
  std::deque<Part*> ready_;  // for a thread, those that come first in front
};

}  // namespace bitwell::schedules
