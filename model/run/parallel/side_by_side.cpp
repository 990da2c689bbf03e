#include "model/run/parallel/side_by_side.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace bitwell::run {
namespace {

// Warp instructions after which other threads are called, and nanoseconds of processor time, whatever comes
// first: to start one takes some twenty microseconds. An instruction may be a copy or a matrix product.
constexpr uint64_t kShort = uint64_t{1} << 16, kShortTime = 2'000'000;
// Clusters of the first round for each thread, and how many times as many the next one has: when a round ends
// some threads have nothing to do. Whether it goes at all shows when each thread has ended one, which all
// stop for.
constexpr size_t kFirst = 16, kGrowth = 16, kMostClusters = size_t{1} << 16;
// Clusters that follow each other write to the same pages, of which each thread keeps its own account: one
// takes some together, as far as all have enough to do.
constexpr size_t kPieces = 8, kMostTogether = 32;
// Pages, about, that a round may change: copies of them are held until it is over, and are used again.
constexpr size_t kMostPages = size_t{1} << 14;
// Where somebody looks on: clusters of a round for each thread, and events that a thread holds at most.
constexpr size_t kMostWatched = 16, kMostEvents = size_t{1} << 18;
// Of the first round, where clusters are told apart: from it is learnt what is only read, which is to hang on
// no number of threads.
constexpr size_t kFirstApart = 16;
// Warp instructions of a cluster, a tenth of a second or more, after which threads look whether they have
// met; again after twice as many.
constexpr uint64_t kLong = uint64_t{1} << 24;
// How often who waits for the last ones tells of progress.
constexpr std::chrono::milliseconds kTell{100};

Options of_worker(const Options& options) {
  Options out = options;
  out.progress = nullptr;                              // the launch's own thread tells of it
  if (out.print) out.print = [](std::string_view) {};  // its journal has it
  out.observers.clear();
  return out;
}

// That the calling thread has taken, in nanoseconds.
uint64_t processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

std::string they_share(const machine::Region& region) {
  return "clusters share bytes of '" + region.name() + "' that one of them changes";
}

// By `instructions` later.
void shift(machine::Event& event, uint64_t instructions) {
  if (auto* turn = std::get_if<machine::Turn>(&event.what)) {
    turn->begin += instructions;
    turn->end += instructions;
  } else if (auto* step = std::get_if<machine::OperationStep>(&event.what)) {
    step->time += instructions;
  } else {
    std::get<machine::PhaseOver>(event.what).time += instructions;
  }
}

}  // namespace

SideBySide::Worker::Worker(SideBySide& threads, const Options& options, machine::Claims& of_now,
                           machine::Claims* those_before)
    : Parallel(of_now, threads.unordered_, threads.locks_),
      all(threads),
      before(those_before),
      grid{threads.grid_.program,
           threads.grid_.shape,
           with_observer(options),
           threads.grid_.global,
           threads.grid_.constants,
           machine::Region(threads.grid_.parameters.save()),
           flight,
           0,
           nullptr,
           false,
           threads.grid_.stops} {
  grid.parallel = this;
}

// Who looks on is told when the round counts.
Options SideBySide::Worker::with_observer(Options options) {
  if (all.grid_.options.observers.empty()) return options;
  if (all.apart_ != nullptr) {
    options.observers = all.grid_.options.observers;
    options.observers.front().tell = [this](const machine::Event& event) {
      if (const std::string_view why = now.watched->tell(event); !why.empty()) all.give_up(std::string(why));
    };
    return options;
  }
  options.observers.push_back({[this](const machine::Event& event) {
    if (++told > kMostEvents) return all.give_up("they do more than is remembered for who looks on");
    now.events.push_back(event);
    shift(now.events.back(), -begun);
  }});
  return options;
}

bool SideBySide::Worker::goes_on(uint64_t time) const {
  if (own && !all.called_) [[unlikely]]
    if (processor_time() - all.begun_ >= kShortTime) all.call_helpers();
  if (time - begun >= look_at) [[unlikely]] {
    look_at *= 2;
    all.looking_ = true;
  }
  if (all.looking_) [[unlikely]]
    all.look();
  return !all.given_up_;
}

bool SideBySide::Worker::passes_over(const machine::Region& at, const std::array<uint32_t, 3>& cta, int warp,
                                     int ptx_line) const {
  const bool unchanged = &at == &grid.parameters || &at == &grid.constants || claims.unchanged(at);
  return unchanged && all.apart_ != nullptr && now.watched->passes_over(cta, warp, ptx_line);
}

SideBySide::SideBySide(Grid& grid, unsigned threads, const Unordered& unordered)
    : grid_(grid),
      apart_(grid.options.observers.empty() ? nullptr : apart_of(grid.options.observers.front())),
      threads_(threads),
      unordered_(unordered),
      ctas_(grid.shape.ctas_a_cluster()),
      begun_(processor_time()),
      before_(grid.global) {
  add_worker();
  workers_.front()->own = true;
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
  Options options = of_worker(grid_.options);
  if (workers_.empty() && grid_.options.progress)
    options.progress = [this](const Progress& p) { tell_progress(p.warp_instructions); };
  claims_.push_back(std::make_unique<machine::Claims>(before_));
  machine::Claims& now = *claims_.back();
  if (apart_ != nullptr) claims_.push_back(std::make_unique<machine::Claims>(before_));
  machine::Claims* const before = apart_ == nullptr ? nullptr : claims_.back().get();
  workers_.push_back(std::make_unique<Worker>(*this, options, now, before));
}

// By the launch's own thread, in the middle of a round.
void SideBySide::call_helpers() {
  if (std::exchange(called_, true)) return;
  const size_t all = grid_.ctas() / ctas_;
  const size_t most = std::min<size_t>(threads_, all);
  const std::scoped_lock lock(mutex_);
  try {
    while (workers_.size() < most) {
      add_worker();
      helpers_.emplace_back([this, &worker = *workers_.back()] { help(worker); });
      ++at_work_;
    }
  } catch (const std::system_error&) {  // no more threads: those that there are do the work
    workers_.resize(helpers_.size() + 1);
    claims_.resize(workers_.size() * (apart_ == nullptr ? 1 : 2));
  }
}

void SideBySide::help(Worker& worker) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (seen = rounds_;; seen = rounds_) {
    lock.unlock();
    work(worker);
    lock.lock();
    --at_work_;
    look_if_all_stand();
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

// By each thread that is at work, between turns: returns when all of them have come, and one has looked.
void SideBySide::look() {
  std::unique_lock lock(mutex_);
  if (!looking_) return;
  const uint64_t before = looks_;
  ++stand_;
  look_if_all_stand();
  changed_.wait(lock, [&] { return looks_ != before; });
}

// By the last that comes, or that has no more to do; with the lock.
void SideBySide::look_if_all_stand() {
  if (!looking_ || stand_ != at_work_) return;
  if (!given_up_) met_ = machine::Claims::meeting(claims_, before_, apart_ != nullptr);
  if (met_.region != nullptr) given_up_ = true;
  // What has run to its end shows what is only read; what has just begun does not.
  if (learns_ && apart_ == nullptr && !given_up_ && round_.begin == 0 && ended_ >= threads_)
    machine::Claims::learn(claims_, before_);
  stand_ = 0;
  ++looks_;
  looking_ = false;
  changed_.notify_all();
}

// By the launch's own thread.
void SideBySide::tell_progress(uint64_t warp_instructions) {
  if (!grid_.options.progress) return;
  try {
    grid_.options.progress({grid_.show(ended_ * ctas_), grid_.ctas(), warp_instructions});
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (thrown_ == nullptr) thrown_ = std::current_exception();
    given_up_ = true;
  }
}

// Until no thread is at work.
void SideBySide::wait_for_all(std::unique_lock<std::mutex>& lock) {
  while (!changed_.wait_for(lock, kTell, [&] { return at_work_ == 0; })) {
    if (thrown_ != nullptr) continue;
    lock.unlock();
    tell_progress(0);
    lock.lock();
  }
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

// Returns why what it has done does not count; empty: it does.
std::string SideBySide::run_cluster(Worker& worker, size_t number) {
  Said& said = worker.now = {number, {Notes(grid_.options.strict), {}}, {}, {}, {}, 0};
  if (apart_ != nullptr) said.watched = apart_->one();
  Cluster cluster(worker.grid, first_of(number));
  cluster.number = static_cast<uint32_t>(number);
  const LossesApart::Here apart(said.lost);
  worker.begun = worker.flight.time();
  worker.look_at = kLong;
  if (cluster.run(false) != Cluster::Standing::ended) return "clusters wait for each other";
  if (apart_ != nullptr) {
    if (std::string why = said.watched->ended(); !why.empty()) return why;
    if (const auto met = worker.before->take_over(worker.claims); met.region != nullptr)
      return they_share(*met.region);
  }
  for (const auto& cta : cluster.ctas) {
    worker.result.lane_instructions += cta->lane_instructions;
    worker.result.warp_instructions += cta->warp_instructions;
    add(worker.result.footprint, *cta);
  }
  worker.grid.last_end = worker.flight.time();
  said.journal = std::move(cluster.journal);
  said.instructions = worker.flight.time() - worker.begun;
  if (!said.journal.notes.all().empty() || !said.journal.printed.empty() || !said.lost.empty() ||
      !grid_.options.observers.empty())
    worker.said.push_back(std::move(said));
  return "";
}

void SideBySide::work(Worker& worker) {
  try {
    while (!given_up_) {
      const size_t first = next_.fetch_add(round_.piece);
      if (first >= round_.end) return;
      for (size_t i = first; i < std::min(first + round_.piece, round_.end); ++i) {
        if (const std::string why = run_cluster(worker, i); !why.empty()) return give_up(why);
        // Once: each thread has ended about one.
        if (++ended_ == threads_ && round_.begin == 0) looking_ = true;
        if (worker.own) tell_progress(0);
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
  if (apart_ == nullptr) {
    for (const auto& claims : claims_) claims->clear();
    for (const auto& worker : workers_) {
      worker->result = {};
      worker->said.clear();
      worker->told = 0;
    }
  }
  met_ = {};
  {
    const std::scoped_lock lock(mutex_);
    round_ = round;
    next_ = round.begin;
    ended_ = round.begin;
    given_up_ = false;
    ++rounds_;
    at_work_ = helpers_.size() + 1;
  }
  changed_.notify_all();
  work(*workers_.front());
  std::unique_lock lock(mutex_);
  --at_work_;
  look_if_all_stand();
  wait_for_all(lock);
  if (thrown_ != nullptr) {
    machine::Claims::put_back(claims_, before_);
    std::rethrow_exception(thrown_);
  }
  if (given_up_ && met_.region == nullptr) return false;
  const auto meeting = given_up_ ? met_ : machine::Claims::meeting(claims_, before_, apart_ != nullptr);
  if (meeting.region == nullptr) return true;
  why_ = they_share(*meeting.region);
  if (!meeting.only_read || apart_ != nullptr) return false;
  // Not known to the byte: once more, with a closer look at that region.
  before_.set_only_read(meeting.region->number, false);
  learns_ = false;
  machine::Claims::put_back(claims_, before_);
  lock.unlock();
  return run_round(round);
}

// In the order of the grid.
void SideBySide::tell_all() {
  std::vector<Said*> all;
  for (const auto& worker : workers_)
    for (Said& said : worker->said) all.push_back(&said);
  std::sort(all.begin(), all.end(), [](const Said* a, const Said* b) { return a->cluster < b->cluster; });
  for (Said* said : all) tell(*said);
}

// As if the cluster ran now.
void SideBySide::tell(Said& said) {
  grid_.notes.add(said.journal.notes);
  if (!said.journal.printed.empty()) grid_.options.print(said.journal.printed);
  said.lost.add();
  if (apart_ != nullptr) apart_->add(*said.watched);
  for (machine::Event& event : said.events) {
    shift(event, grid_.flight.time());
    for (const machine::Observer& observer : grid_.options.observers)
      if (observer.steps) observer.tell(event);
  }
  if (!grid_.options.observers.empty()) grid_.flight.pass(said.instructions);
}

// Clusters of the round behind one.
size_t SideBySide::next_size(Round done) const {
  const size_t clusters = done.end - done.begin;
  if (apart_ != nullptr) return std::min(clusters * kGrowth, kMostClusters);
  const size_t by_pages = clusters * kMostPages / std::max<size_t>(before_.pages(), 1);
  const size_t most = grid_.options.observers.empty() ? kMostClusters : kMostWatched * threads_;
  return std::max<size_t>(std::min({clusters * kGrowth, by_pages, most}), threads_);
}

// What a round has done counts, or all of them.
void SideBySide::keep(RunResult& result) {
  uint64_t instructions = grid_.flight.time();
  tell_all();
  for (const auto& worker : workers_) {
    result.lane_instructions += worker->result.lane_instructions;
    result.warp_instructions += worker->result.warp_instructions;
    merge(result.footprint, worker->result.footprint);
    instructions += worker->result.warp_instructions;
  }
  grid_.flight.pass(instructions - grid_.flight.time());  // of those that said nothing too
}

RunResult SideBySide::run() {
  RunResult result;
  const size_t all = grid_.ctas() / ctas_;
  size_t done = 0;
  if (apart_ != nullptr) apart_->begin();
  for (size_t size = apart_ == nullptr ? kFirst * threads_ : kFirstApart; done < all;) {
    const size_t end = all - done <= size ? all : done + size;
    const Round round{done, end, std::clamp<size_t>((end - done) / (kPieces * threads_), 1, kMostTogether)};
    if (!run_round(round)) {
      machine::Claims::put_back(claims_, before_);
      result.host.why_not_all = why_;
      if (apart_ != nullptr) done = 0;
      break;
    }
    if (round.begin == 0 && learns_) machine::Claims::learn(claims_, before_);
    if (apart_ == nullptr || end == all) keep(result);
    size = next_size(round);
    if (apart_ == nullptr) before_.forget();
    done = end;
    if (done == all && grid_.shown != grid_.ctas() && grid_.options.progress)
      grid_.options.progress({grid_.show(grid_.ctas()), grid_.ctas(), 0});
  }
  grid_.ended = done * ctas_;
  grid_.last_end = grid_.flight.time();
  grid_.next = done == all ? std::nullopt : std::optional(first_of(done));
  result.host.threads = static_cast<unsigned>(workers_.size());
  result.host.clusters = done;
  return result;
}

}  // namespace bitwell::run
