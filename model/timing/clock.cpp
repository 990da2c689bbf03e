#include "model/timing/clock.h"

#include <algorithm>
#include <cmath>

#include "model/timing/clock/state.h"

namespace bitwell::timing {
namespace {

double gigabytes_to_bytes_a_cycle(const Device& d, double gigabytes) {
  return gigabytes * 1000 / d.value(Key::clock);
}

// What a multiprocessor of those that are looked at gets of what all share.
double share(const Device& d, Key whole, const Extent& e, uint32_t looked_at) {
  return gigabytes_to_bytes_a_cycle(d, d.value(whole)) * std::min(1.0, double(looked_at) / e.active_sms);
}

}  // namespace

Clock::Clock(const Device& device, const Extent& extent, Shares shares)
    : device_(device),
      values_(device.values()),
      times_([this] {
        std::array<Time, kKeys> out;
        std::transform(values_.begin(), values_.end(), out.begin(), time_of);
        return out;
      }()),
      extent_(extent),
      shares_(std::move(shares)),
      l2_beside_(beside()),
      sequences_(std::make_unique<Sequences>()) {}

// A device starts the clusters of one multiprocessor far from each other, and what they have to do may hang
// on where they are. Steps that are all alike would meet the same column of every row.
uint64_t Clock::chosen(uint64_t started) const {
  if (extent_.out_of == 0) return started * extent_.step;
  constexpr double kGolden = 0.6180339887498949;
  const auto number = static_cast<double>(started);
  const double in_step = number * kGolden - std::floor(number * kGolden);
  const uint64_t parts = extent_.starts != 0 ? extent_.starts : extent_.clusters + residents();
  return static_cast<uint64_t>((number + in_step) / static_cast<double>(parts) *
                               static_cast<double>(extent_.out_of));
}

Clock::~Clock() = default;

// By the probe, in which copies stood in the queue for all the time that their bytes took longer than one
// alone.
double Clock::beside() const {
  constexpr double kProbed = 8192, kStages = 16;
  const double rate = gigabytes_to_bytes_a_cycle(device_, value(Key::l2_bandwidth)) / value(Key::sms);
  const double queue = kStages * kProbed / rate - device_.copy_latency(static_cast<uint64_t>(kProbed), false);
  return std::clamp((value(Key::l2_beside) - value(Key::l2_latency)) / queue, 0.0, 1.0);
}

// Where CTAs go on an H200 that has nothing else to do, by %smid: without clusters one after the other to
// eight multiprocessors of a GPC; clusters to a GPC each, in turn.
void Clock::find_neighbours() {
  const bool known = value(Key::l2_own) > 0 && sms_.size() > 1;
  if (!known || (extent_.clusters != 0 && extent_.bytes == 0)) return;
  uint32_t gpcs = 0;
  for (uint32_t i = 0; i < sms_.size(); ++i) {
    sms_[i]->number = i;
    sms_[i]->gpc = cluster_size_ == 1 ? i / kGpcs : i / cluster_size_ * extent_.step % kGpcs;
    gpcs = std::max(gpcs, sms_[i]->gpc + 1);
  }
  neighbours_ = std::make_unique<Neighbours>(gpcs);
  // Two of the probe's CTAs read the same.
  again_ = std::clamp(2 * value(Key::l2_gpc) / value(Key::l2_own) - 1, 0.0, 1.0);
}

Multiprocessor& Clock::sm_of(const ClusterTime& cluster, uint32_t rank) const {
  return *sms_[cluster.group * cluster_size_ + rank];
}

void Clock::begin_launch(const run::Cluster& first) {
  global_ = &first.grid.global;
  program_ = &first.grid.program;
  cluster_size_ = static_cast<uint32_t>(first.grid.shape.ctas_a_cluster());
  warps_ = first.warps_of_each();
  const uint32_t looked_at = extent_.groups * cluster_size_;
  const double port =
      gigabytes_to_bytes_a_cycle(device_, value(Key::few_sms_bandwidth)) / value(Key::few_sms);
  for (uint32_t i = 0; i < looked_at; ++i) {
    sms_.push_back(std::make_unique<Multiprocessor>(port, &turn_begin_));
    sms_.back()->l1.set_size(extent_.l1_bytes);
  }
  constexpr double kLines = 128;  // of the probe, in which all multiprocessors ask
  const double asking = extent_.active_sms / value(Key::sms);
  a_line_ = std::max(kCycle, time_of(value(Key::l2_gpc_way) / kLines * asking));
  find_neighbours();
  l2_ = Server<64>(share(device_, Key::l2_bandwidth, extent_, looked_at));
  l2_loads_ = Server<64>(l2_.rate());
  dram_ = Server<64>(share(device_, Key::memory_clock_free_bandwidth, extent_, looked_at));
  for (size_t k = 0; k < of_sectors_.size(); ++k) of_sectors_[k] = amounts(32.0 * static_cast<double>(k));
  if (value(Key::dram_refresh_every) > 0) dram_latency_ = DramLatency(device_);
  group_clusters_.resize(extent_.groups);
  group_free_.resize(extent_.groups);
  group_link_.resize(extent_.groups, Path::kNone);
  const bool stops = !first.grid.stops.empty();
  // In a sample clusters count that have ended by time; a launch behind this one may ask who is left.
  to_ends_ = extent_.clusters == 0 && first.grid.before == nullptr && !first.grid.has_dependents;
  classify(first.grid.program, warps_,
           stops || !first.grid.options.observers.empty() || first.accesses_watched(), !stops);
}

void Clock::starts(const run::Cluster& cluster) {
  if (sms_.empty()) begin_launch(cluster);
  uint32_t group = 0;
  for (uint32_t g = 1; g < extent_.groups; ++g) {
    const auto key = [&](uint32_t i) { return std::pair(group_clusters_[i].size(), group_free_[i]); };
    if (key(g) < key(group)) group = g;
  }
  if (clusters_.size() <= cluster.number) clusters_.resize(cluster.number + 1);
  auto& time = clusters_[cluster.number];
  if (spare_.empty()) {
    time = std::make_unique<ClusterTime>();
  } else {
    time = std::move(spare_.back());
    spare_.pop_back();
  }
  const Time begin = group_free_[group] == 0 ? 0 : group_free_[group] + this->time(Key::cta_turn);
  std::vector<WarpTime> all = std::move(time->warps);  // for the room that they have
  std::vector<ClusterTime::Rows> rows = std::move(time->rows);
  *time = {};
  time->cluster = &cluster;
  time->group = group;
  time->meetings.resize(cluster_size_);
  time->warps = std::move(all);
  time->warps.resize(warps_ * cluster_size_);
  const size_t rounds = watched_->rounds.size();
  const size_t lines = (rounds + kept_rows_ + 1 + 3) / 4;
  warp_rows_ = lines * sizeof(ClusterTime::Rows);
  rows.assign(lines * time->warps.size(), {});
  time->rows = std::move(rows);
  begins_.push_back(begin);
  time->count = static_cast<uint32_t>(begins_.size());
  for (size_t i = 0; i < time->warps.size(); ++i) {
    WarpTime& w = time->warps[i];
    Ahead ahead = std::move(w.ahead);
    std::unique_ptr<Spread> spread = std::move(w.spread);
    w = {};
    w.ahead = std::move(ahead);
    w.spread = std::move(spread);
    if (w.spread != nullptr) w.spread->forget();
    w.clock = w.pending = begin;
    w.rows = time->rows[i * lines].four.data() + rounds;
    std::fill(w.rows - rounds, w.rows, WarpTime::Row{.at = -1});
    w.rank = static_cast<uint8_t>(i / warps_);
    w.index = static_cast<uint8_t>(i % warps_);
    w.quarter = static_cast<uint8_t>((w.index + group_clusters_[group].size() * warps_) % kQuarters);
    w.place = sms_[group * cluster_size_ + w.rank]->quarters[w.quarter].crowd.comes();
    w.link = group_link_[group];
  }
  group_clusters_[group].push_back(cluster.number);
  if (residents_.size() <= cluster.number) residents_.resize(cluster.number + 1);
  residents_[cluster.number] = {time->warps.data(), time.get(), time->rows.data(), group * cluster_size_};
}

void Clock::ends(const run::Cluster& cluster) {
  std::unique_ptr<ClusterTime>& at = clusters_[cluster.number];
  const ClusterTime& time = *at;
  auto& there = group_clusters_[time.group];
  there.erase(std::find(there.begin(), there.end(), cluster.number));
  group_free_[time.group] = time.last;
  group_link_[time.group] = time.last_link;
  ends_.push_back(time.last);
  ++ended_;
  if (time.last >= last_) {
    last_ = time.last;
    last_link_ = time.last_link;
  }
  if (at_ == &time) at_ = nullptr;
  if (looked_at_ == &time) looked_at_ = nullptr;
  spare_.push_back(std::move(at));
}

void Clock::looks_at(const run::Cluster& cluster) {
  looked_at_ = clusters_[cluster.number].get();
  ++looked_at_->looks;
}

run::Instant Clock::ready(const run::Taker& taker, const machine::Agent* agent) {
  ClusterTime& cluster = *looked_at_;
  if (agent == nullptr) {
    WarpTime& w = cluster.warps[taker.warp];
    // It could not go on when it was last asked: what has just happened let it.
    if (!w.fresh && w.seen_at + 1 != cluster.looks && now_ > w.clock) {
      w.clock = w.pending = now_;
      w.link = now_link_;
    }
    w.fresh = false;
    w.seen_at = cluster.looks;
    return w.clock;
  }
  Operation& o = cluster.operation(taker.operation);
  if (o.at < 0) {
    if (o.steps == 0) {
      o.issued = now_;
      o.issued_by = now_link_;
    }
    at_ = &cluster;
    schedule(*agent, o);
  }
  return o.at;
}

// Thousands of warps wait for their turns: what is known of one has left the host's nearest caches by then.
void Clock::expects(const run::Taker& taker, bool soon) const {
  if (taker.operation != 0) return;
  static constexpr size_t kHostLine = 64;
  const auto fetch = [](const void* from, size_t bytes, size_t at = 0) {
    for (const size_t end = at + bytes; at < end; at += kHostLine)
      __builtin_prefetch(static_cast<const char*>(from) + at);
  };
  const Resident& resident = residents_[taker.cluster];
  const WarpTime& w = resident.warps[taker.warp];
  if (!soon) {
    constexpr size_t kRows = 512;
    fetch(&w, 2 * kHostLine);
    fetch(resident.rows, std::min(kRows, warp_rows_), taker.warp * warp_rows_);
    fetch(resident.time, kHostLine);
    const Multiprocessor& its = *sms_[resident.first_sm];
    fetch(&its.memory, kHostLine);
    fetch(&its.l2, kHostLine);
    fetch(&its.quarters[taker.warp % kQuarters], kHostLine);  // most often that one
    return fetch(&its.l1, sizeof its.l1);
  }
  constexpr size_t kNotes = 128;
  if (w.noted != 0) fetch(w.ahead.next(), kNotes);
  const Multiprocessor& sm = *sms_[resident.first_sm + w.rank];
  const Quarter& quarter = sm.quarters[w.quarter];
  // Most often it waits for what it has loaded last.
  quarter.fetch(w.clock);
  const Time given = std::max(w.given, w.clock);
  quarter.fetch(given);
  sm.memory.fetch(given);
  if (w.soon[0] == 0) return;
  sm.l2.fetch(given);
  for (const uint64_t address : w.soon)
    if (address != 0) sm.l1.fetch(address / kLine);
}

run::Past Clock::has_turn(const run::Taker& taker, run::Instant& again) {
  at_ = clusters_[taker.cluster].get();
  reached_.clear();
  ahead_ = has_let_go_ = false;
  if (taker.operation != 0) {
    operation_ = &at_->operation(taker.operation);
    warp_ = nullptr;
    turn_begin_ = now_ = operation_->at;
    return run::Past::part;
  }
  operation_ = nullptr;
  warp_ = turns_ = &at_->warps[taker.warp];
  sm_ = &sm_of(*at_, warp_->rank);
  turn_begin_ = now_ = warp_->clock;
  stall_ = 0;
  stall_line_ = 0;
  turn_line_ = 0;
  const run::Past past = has_gone_ahead(*turns_);
  if (past == run::Past::part) return past;
  turn_is_over();
  again = turns_->clock;
  return past;
}

void Clock::waits(const run::Taker& taker) { at_->warps[taker.warp].seen_at = WarpTime::kWaits; }

run::Instant Clock::again(const run::Taker& taker, const machine::Agent* operation) {
  if (operation == nullptr) return at_->warps[taker.warp].clock;
  looked_at_ = at_;
  return ready(taker, operation);
}

void Clock::took(const run::Took& turn) {
  end_sequence();
  if (operation_ != nullptr) {
    // One that queues behind other products waits for what the first of them waited for.
    if (operation_->cause == Cause::tensor) {
      if (operation_->issued_by == Path::kNone) operation_->issued_by = at_->product_by;
      at_->product_by = operation_->issued_by;
    }
    now_link_ = path_.add(operation_->issued_by, cycles_of(now_), operation_->line, operation_->role,
                          operation_->cause);
    operation_->issued_by = now_link_;
    operation_->at = -1;
    ++operation_->steps;
    if (turn.over) at_->operations.erase(at_->operations.begin() + (operation_ - at_->operations.data()));
  }
  turn_is_over();
}

void Clock::turn_is_over() {
  if (operation_ == nullptr && turn_line_ != 0) {
    WarpTime& w = *warp_;
    const Time end = std::max(now_, w.clock);
    watch(w, end);
    const bool waited = stall_line_ != 0 && 2 * stall_ > end - turn_begin_;
    now_link_ = path_.add(w.link, cycles_of(now_), waited ? stall_line_ : turn_line_, w.role,
                          waited ? Cause::load : Cause::executes);
    w.link = now_link_;
  }
  if (now_ >= at_->last) {
    at_->last = now_;
    at_->last_link = now_link_;
  }
  warp_ = nullptr;
}

Seen Clock::seen() const {
  Seen out;
  Time last = last_;
  for (const auto& sm : sms_) last = std::max(last, sm->stored);
  out.cycles = cycles_of(last);
  std::transform(begins_.begin(), begins_.end(), std::back_inserter(out.begins), cycles_of);
  std::transform(ends_.begin(), ends_.end(), std::back_inserter(out.ends), cycles_of);
  std::sort(out.ends.begin(), out.ends.end());
  out.loops = loop_bounds();
  const double time = std::max(out.cycles, 1.0);
  const auto n = static_cast<double>(std::max<size_t>(sms_.size(), 1));
  for (const auto& sm : sms_) {
    out.tensor += cycles_of(sm->tensor_busy) / time / n;
    out.memory += sm->memory.served() / time / n;
  }
  for (size_t s = 0; s < kSources.size(); ++s) {
    double& cycles = out.issue_by_source[s];
    cycles = cycles_of(issued_by_source_[s]);
    for (const Block& b : blocks_) cycles += static_cast<double>(b.times) * cycles_of(b.by_source[s]);
    out.issue += cycles / time / n / kQuarters;
  }
  out.l2 = l2_.served() / l2_.rate() / time;
  out.dram = dram_.served() / dram_.rate() / time;
  out.path = path_.to(last_link_);
  out.asked = asked_;
  out.without_row = without_row_;
  return out;
}

}  // namespace bitwell::timing
