#include "model/run/parallel/side_by_side.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace bitwell::run {
namespace {

// Warp instructions, about two milliseconds, after which other threads are called: to start one takes some
// twenty microseconds.
constexpr uint64_t kShort = uint64_t{1} << 16;
// A round has so many times the clusters of the one before: the first ones show soon whether it goes at all,
// the later ones end seldom, as then some threads have nothing to do.
constexpr size_t kGrowth = 4, kMostClusters = size_t{1} << 16;
// Clusters that follow each other write to the same pages, of which each thread keeps its own account: one
// takes some together, as far as all have enough to do.
constexpr size_t kPieces = 8, kMostTogether = 32;

Options of_worker(const Options& options) {
  Options out = options;
  out.progress = nullptr;
  if (out.print) out.print = [](std::string_view) {};  // its journal has it
  return out;
}

}  // namespace

SideBySide::Worker::Worker(Grid& of, const Options& options, machine::Claims& claims, SideBySide& all)
    : parallel{claims, all.unordered_, all.given_up_, all.locks_},
      grid{of.program, of.shape, options, of.global, of.constants, machine::Region(of.parameters.save()),
           flight} {
  grid.parallel = &parallel;
}

SideBySide::SideBySide(Grid& grid, unsigned threads, const Unordered& unordered)
    : grid_(grid),
      threads_(threads),
      unordered_(unordered),
      ctas_(size_t{grid.shape.cluster[0]} * grid.shape.cluster[1] * grid.shape.cluster[2]),
      before_(grid.global) {
  add_worker();
  Flight& own = workers_.front()->flight;
  own.call_at(kShort, [this] { call_helpers(); });
}

SideBySide::~SideBySide() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = given_up_ = true;
  }
  changed_.notify_all();
}

void SideBySide::add_worker() {
  claims_.push_back(std::make_unique<machine::Claims>(before_));
  workers_.push_back(std::make_unique<Worker>(grid_, of_worker(grid_.options), *claims_.back(), *this));
}

// By the launch's own thread, in the middle of a round.
void SideBySide::call_helpers() {
  const size_t all = grid_.ctas() / ctas_;
  const size_t most = std::min<size_t>(threads_, all);
  const std::scoped_lock lock(mutex_);
  try {
    while (workers_.size() < most) {
      add_worker();
      helpers_.emplace_back([this, &worker = *workers_.back()] { help(worker); });
      ++busy_;
    }
  } catch (const std::system_error&) {  // no more threads: those that there are do the work
    workers_.resize(helpers_.size() + 1);
    claims_.resize(helpers_.size() + 1);
  }
}

void SideBySide::help(Worker& worker) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (seen = rounds_;; seen = rounds_) {
    lock.unlock();
    work(worker);
    lock.lock();
    --busy_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return over_ || rounds_ != seen; });
    if (over_) return;
  }
}

void SideBySide::give_up(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  if (!given_up_) why_ = why;
  given_up_ = true;
}

std::array<uint32_t, 3> SideBySide::first_of(size_t cluster) const {
  const auto& shape = grid_.shape;
  std::array<uint32_t, 3> out{};
  for (size_t i = 0; i < 3; ++i) {
    const size_t extent = shape.grid[i] / shape.cluster[i];
    out[i] = static_cast<uint32_t>(cluster % extent) * shape.cluster[i];
    cluster /= extent;
  }
  return out;
}

// Returns whether it has ended.
bool SideBySide::run_cluster(Worker& worker, size_t number) {
  Cluster cluster(worker.grid, first_of(number));
  cluster.number = static_cast<uint32_t>(number);
  if (cluster.run(false) != Cluster::Standing::ended) return false;
  for (const auto& cta : cluster.ctas) {
    worker.result.lane_instructions += cta->lane_instructions;
    worker.result.warp_instructions += cta->warp_instructions;
    add(worker.result.footprint, *cta);
  }
  journals_[number - round_.begin] = std::move(cluster.journal);
  return true;
}

void SideBySide::work(Worker& worker) {
  try {
    while (!given_up_) {
      const size_t first = next_.fetch_add(round_.piece);
      if (first >= round_.end) return;
      for (size_t i = first; i < std::min(first + round_.piece, round_.end); ++i) {
        if (!run_cluster(worker, i)) return give_up("clusters wait for each other");
        ++ended_;
        if (&worker == workers_.front().get() && grid_.options.progress)
          grid_.options.progress({ended_ * ctas_, grid_.ctas(), 0});
      }
    }
  } catch (...) {
    // Who runs it again in order finds the same, or what comes before it.
    give_up("one of them faults");
  }
}

// Returns whether it counts.
bool SideBySide::run_round(Round round) {
  // Before any helper may see that it begins.
  for (const auto& claims : claims_) claims->clear();
  for (const auto& worker : workers_) worker->result = {};
  {
    const std::scoped_lock lock(mutex_);
    round_ = round;
    next_ = round.begin;
    ended_ = round.begin;
    given_up_ = false;
    journals_.clear();
    for (size_t i = round.begin; i < round.end; ++i) journals_.push_back({Notes(grid_.options.strict), {}});
    ++rounds_;
    busy_ = static_cast<unsigned>(helpers_.size());
  }
  changed_.notify_all();
  work(*workers_.front());
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return busy_ == 0; });
  if (given_up_) return false;
  const auto meeting = machine::Claims::meeting(claims_, before_);
  if (meeting.region == nullptr) return true;
  why_ = "clusters share bytes of '" + meeting.region->name() + "' that one of them changes";
  if (!meeting.only_read) return false;
  // Not known to the byte: once more, with a closer look at that region.
  before_.set_only_read(meeting.region->number, false);
  before_.put_back();
  lock.unlock();
  return run_round(round);
}

// What a round has done counts.
void SideBySide::keep(Round round, RunResult& result) {
  for (const Journal& journal : journals_) {
    grid_.notes.add(journal.notes);
    if (!journal.printed.empty()) grid_.options.print(journal.printed);
  }
  for (const auto& worker : workers_) {
    result.lane_instructions += worker->result.lane_instructions;
    result.warp_instructions += worker->result.warp_instructions;
    merge(result.footprint, worker->result.footprint);
    grid_.flight.pass(worker->result.warp_instructions);
  }
  if (round.begin == 0) machine::Claims::learn(claims_, before_);
  before_.forget();
}

RunResult SideBySide::run() {
  RunResult result;
  const size_t all = grid_.ctas() / ctas_;
  size_t done = 0;
  for (size_t size = threads_; done < all; size = std::min(size * kGrowth, kMostClusters)) {
    const size_t end = all - done <= size ? all : done + size;
    const Round round{done, end, std::clamp<size_t>((end - done) / (kPieces * threads_), 1, kMostTogether)};
    if (!run_round(round)) {
      before_.put_back();
      result.host.why_not_all = why_;
      break;
    }
    keep(round, result);
    done = end;
  }
  grid_.ended = done * ctas_;
  grid_.last_end = grid_.flight.time();
  grid_.next = done == all ? std::nullopt : std::optional(first_of(done));
  result.host.threads = static_cast<unsigned>(workers_.size());
  result.host.clusters = done;
  return result;
}

}  // namespace bitwell::run
