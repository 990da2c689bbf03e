#include "model/timing/clock.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/isa/form/program.h"
#include "model/timing/op_kind.h"

namespace bitwell::timing {

using isa::Unit;
using machine::Task;

namespace {

constexpr size_t kGroupWarps = 4;
// Of a wait that began before: the warp looks at the barrier again.
constexpr double kClusterWait = 20;
constexpr double kSmallStep = 10;  // of operations that only arrive
constexpr double kQueue = 16;      // wavefronts that may wait for the port of shared memory and L1
constexpr double kUnknownInterval = 1, kUnknownLatency = 10;

double gigabytes_to_bytes_a_cycle(const Device& d, double gigabytes) {
  return gigabytes * 1000 / d.value(Key::clock);
}

// What a multiprocessor of those that are looked at gets of what all share.
double share(const Device& d, Key whole, const Extent& e, uint32_t looked_at) {
  return gigabytes_to_bytes_a_cycle(d, d.value(whole)) * std::min(1.0, double(looked_at) / e.active_sms);
}

// The same address always says the same.
bool falls_below(uint64_t address, double part) {
  const uint64_t mixed = (address / 128) * 0x9E3779B97F4A7C15;
  return static_cast<double>(mixed >> 40) < part * static_cast<double>(1 << 24);
}

}  // namespace

struct Clock::Info {
  bool has_row = false;
  OpKind kind = OpKind::arithmetic;
  double latency = 0, interval = 0;  // of a quarter
  Source source = Source::guess;
  Pipe pipe = Pipe::alu;
  bool ends_block = false;
  bool cached = true;  // in L1
  std::vector<uint32_t> sources, results;
};

struct Clock::WarpTime {
  double clock = 0;    // when it can issue next
  double pending = 0;  // when the last of what it has issued began
  double stall = 0;    // the longest of this turn, and the load that it waited for
  int stall_line = 0;
  uint64_t seen_at = 0;
  bool fresh = true;
  Role role = Role::other;
  int32_t link = Path::kNone;
  size_t quarter = 0;
  uint32_t rank = 0;
  std::vector<double> ready;  // by row
  std::vector<int> loaded;    // the line of the load that writes the row, or 0
  std::deque<double> multiplies;
};

struct Clock::Operation {
  double at = -1;  // when its next step is done; -1: not known
  double issued = 0;
  int32_t issued_by = Path::kNone;
  Cause cause = Cause::copy;
  int line = 0;
  int steps = 0;
  Role role = Role::copies;
};

struct Clock::ClusterTime {
  const isa::Cluster* cluster = nullptr;
  uint32_t group = 0;
  double began = 0;
  double last = 0;
  int32_t last_link = Path::kNone;
  uint64_t looks = 0;
  std::vector<WarpTime> warps;
  std::unordered_map<uint64_t, Operation> operations;
};

Clock::Clock(const Device& device, const Extent& extent, std::map<uint64_t, double> from_dram)
    : device_(device), extent_(extent), from_dram_(std::move(from_dram)), l2_(64, 1), dram_(64, 1) {}
Clock::~Clock() = default;

machine::Observer Clock::observer() {
  machine::Observer out;
  out.accesses = true;
  out.steps = false;
  out.tell = [this](const machine::Event& event) {
    const auto* access = std::get_if<machine::Access>(&event.what);
    if (access == nullptr || access->operation != 0 || warp_ == nullptr || access->mbarrier ||
        access->rows != 0)
      return;
    Reached& r = reached_.emplace_back();
    r.kind = access->kind;
    r.lanes = access->lanes;
    r.bytes = access->bytes;
    std::copy(access->addresses.begin(), access->addresses.end(), r.addresses.begin());
  };
  return out;
}

Multiprocessor& Clock::sm_of(const ClusterTime& cluster, uint32_t rank) const {
  return *sms_[cluster.group * cluster_size_ + rank];
}

void Clock::starts(const isa::Cluster& cluster) {
  global_ = &cluster.grid.global;
  if (sms_.empty()) {
    cluster_size_ = static_cast<uint32_t>(cluster.ctas.size());
    const uint32_t looked_at = extent_.groups * cluster_size_;
    const double port =
        gigabytes_to_bytes_a_cycle(device_, device_.value(Key::sm_bandwidth)) / (device_.value(Key::sms) / 4);
    for (uint32_t i = 0; i < looked_at; ++i) {
      sms_.push_back(std::make_unique<Multiprocessor>(port));
      sms_.back()->l1.set_size(extent_.l1_bytes);
    }
    l2_ = Server(64, share(device_, Key::l2_bandwidth, extent_, looked_at));
    dram_ = Server(64, share(device_, Key::memory_clock_free_bandwidth, extent_, looked_at));
    group_clusters_.resize(extent_.groups);
    group_free_.resize(extent_.groups);
    group_link_.resize(extent_.groups, Path::kNone);
  }
  uint32_t group = 0;
  for (uint32_t g = 1; g < extent_.groups; ++g) {
    const auto key = [&](uint32_t i) { return std::pair(group_clusters_[i].size(), group_free_[i]); };
    if (key(g) < key(group)) group = g;
  }
  auto& time = clusters_[cluster.number] = std::make_unique<ClusterTime>();
  time->cluster = &cluster;
  time->group = group;
  time->began = group_free_[group];
  begins_.push_back(time->began);
  const size_t warps = cluster.ctas.front()->warps.size();
  time->warps.resize(warps * cluster.ctas.size());
  for (size_t i = 0; i < time->warps.size(); ++i) {
    WarpTime& w = time->warps[i];
    w.clock = w.pending = time->began;
    w.rank = static_cast<uint32_t>(i / warps);
    w.quarter = (i % warps + group_clusters_[group].size() * warps) % kQuarters;
    w.link = group_link_[group];
  }
  group_clusters_[group].push_back(cluster.number);
}

void Clock::ends(const isa::Cluster& cluster) {
  const ClusterTime& time = *clusters_.at(cluster.number);
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
  clusters_.erase(cluster.number);
}

void Clock::looks_at(const isa::Cluster& cluster) { ++clusters_.at(cluster.number)->looks; }

double Clock::ready(const isa::Taker& taker, const machine::Agent* agent) {
  ClusterTime& cluster = *clusters_.at(taker.cluster);
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
  Operation& o = cluster.operations[taker.operation];
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

double Clock::part_from_dram(uint64_t address, Asked** asked) {
  if (address < last_base_ || address >= last_end_) {
    const machine::Region* region = global_->find(address, 1);
    if (region == nullptr) {
      if (asked != nullptr) *asked = nullptr;
      return 1;
    }
    last_base_ = region->base();
    last_end_ = region->base() + region->size();
    const auto known = from_dram_.find(last_base_);
    last_part_ = known == from_dram_.end() ? 1 : known->second;
    last_asked_ = &asked_[last_base_];
    last_asked_->name = region->name();
    last_asked_->size = region->size();
  }
  if (asked != nullptr) *asked = last_asked_;
  return last_part_;
}

// When so many bytes have come from L2 or DRAM.
double Clock::from_l2(uint64_t address, double bytes, Multiprocessor& sm, double start, double l2_latency,
                      double dram_latency, Cause* why) {
  Asked* asked = nullptr;
  const double part = part_from_dram(address, &asked);
  if (asked != nullptr) asked->read += bytes;
  const bool far = falls_below(address, part);
  const double latency = far ? dram_latency : l2_latency;
  double end = start + latency;
  if (why != nullptr) *why = Cause::copy;
  // What stands in a queue stands before the latency, which ends when the last byte is there.
  const double over_l2 = std::max(sm.l2.take(start, bytes), l2_.take(start, bytes)) + l2_latency / 2;
  if (over_l2 > end) {
    end = over_l2;
    if (why != nullptr) *why = Cause::l2;
  }
  if (part > 0) {
    const double over_dram = dram_.take(start, bytes * part) + (far ? dram_latency / 2 : 0);
    if (over_dram > end && far) {
      end = over_dram;
      if (why != nullptr) *why = Cause::dram;
    }
  }
  return end;
}

void Clock::schedule(const machine::Agent& agent, Operation& o) {
  const Task task = agent.task();
  const auto& ctas = at_->cluster->ctas;
  uint32_t rank = 0;
  while (rank + 1 < ctas.size() && ctas[rank]->index != agent.place.cta) ++rank;
  Multiprocessor& sm = sm_of(*at_, rank);
  o.line = agent.place.ptx_line;
  const double start = o.steps == 0 ? o.issued : now_;
  switch (task.kind) {
    case Task::Kind::load: {
      const double wait = device_.value(Key::mbarrier_wait);
      o.at = from_l2(task.global, static_cast<double>(task.bytes), sm, start,
                     device_.copy_latency(task.bytes, false) - wait,
                     device_.copy_latency(task.bytes, true) - wait, &o.cause);
      break;
    }
    case Task::Kind::store: {
      if (o.steps != 0) {
        o.at = start + kSmallStep;
        break;
      }
      const auto bytes = static_cast<double>(task.bytes);
      const double fixed = device_.value(Key::store_read);
      constexpr double kProbed = 32768;
      const double rate = kProbed / (device_.value(Key::store_rate) - fixed);
      o.cause = Cause::store;
      o.at =
          std::max({start + fixed + bytes / rate, l2_.take(start, bytes) + fixed, dram_.take(start, bytes)});
      Asked* asked = nullptr;
      part_from_dram(task.global, &asked);
      if (asked != nullptr) asked->written += bytes;
      break;
    }
    case Task::Kind::lanes: {
      const auto bytes = static_cast<double>(task.bytes);
      const double beside = device_.value(Key::cp_async_latency);
      if (task.global == 0)
        o.at = start + device_.value(Key::remote_latency);
      else
        o.at = from_l2(task.global, bytes, sm, start, device_.value(Key::l2_latency) + beside,
                       device_.value(Key::dram_latency) + beside, &o.cause);
      break;
    }
    case Task::Kind::multiply: {
      const auto first = static_cast<size_t>(agent.issuer) / kGroupWarps * kGroupWarps;
      const size_t warps = ctas.front()->warps.size();
      double issued = 0;
      for (size_t i = 0; i < kGroupWarps; ++i) {
        WarpTime& w = at_->warps[rank * warps + first + i];
        if (w.multiplies.empty()) continue;
        issued = std::max(issued, w.multiplies.front());
        if (issued == w.multiplies.front()) o.issued_by = w.link;
        w.multiplies.pop_front();
      }
      const double begin = std::max(issued, sm.tensor_free);
      const double interval = Device::wgmma_interval(task.n, task.from_registers);
      if (begin > issued) o.issued_by = Path::kNone;
      sm.tensor_free = begin + interval;
      sm.tensor_busy += interval;
      o.role = Role::multiplies;
      o.cause = Cause::tensor;
      o.at = begin + device_.wgmma_latency(task.n, task.from_registers);
      break;
    }
    default:
      o.at = start + kSmallStep;
      if (agent.ending == machine::Ending::none) break;
      ++without_row_[agent.describe().substr(0, agent.describe().find(" of "))];
  }
}

void Clock::has_turn(const isa::Taker& taker) {
  at_ = clusters_.at(taker.cluster).get();
  reached_.clear();
  if (taker.operation != 0) {
    operation_ = &at_->operations.at(taker.operation);
    warp_ = nullptr;
    turn_begin_ = now_ = operation_->at;
    return;
  }
  operation_ = nullptr;
  warp_ = &at_->warps[taker.warp];
  turn_begin_ = now_ = warp_->clock;
  warp_->stall = 0;
  warp_->stall_line = 0;
  turn_line_ = 0;
}

void Clock::took(const isa::Took&) {
  if (operation_ != nullptr) {
    now_link_ = path_.add(operation_->issued_by, now_, operation_->line, operation_->role, operation_->cause);
    operation_->issued_by = now_link_;
    operation_->at = -1;
    ++operation_->steps;
  } else if (turn_line_ != 0) {
    WarpTime& w = *warp_;
    const double end = std::max(now_, w.clock);
    const bool waited = w.stall_line != 0 && 2 * w.stall > end - turn_begin_;
    now_link_ = path_.add(w.link, now_, waited ? w.stall_line : turn_line_, w.role,
                          waited ? Cause::load : Cause::executes);
    w.link = now_link_;
  }
  if (now_ >= at_->last) {
    at_->last = now_;
    at_->last_link = now_link_;
  }
  warp_ = nullptr;
}

Clock::Info Clock::classify(const isa::Op& op, const isa::Line& line) const {
  Info out;
  const std::string& name = line.text;
  out.kind = kind_of(name, line.unit);
  out.ends_block = op.kind == isa::OpKind::branch || op.kind == isa::OpKind::leave ||
                   op.kind == isa::OpKind::call || op.kind == isa::OpKind::table;
  out.cached = name.find(".cg") == std::string::npos && name.find(".volatile") == std::string::npos &&
               name.find(".relaxed") == std::string::npos && name.find(".acquire") == std::string::npos;
  const auto source = [&](uint32_t row) {
    if (row > isa::kZero) out.sources.push_back(row / machine::kRowBytes);
  };
  for (const uint32_t row : {op.guard, op.a, op.b, op.c, op.e}) source(row);
  if (op.sources != nullptr)
    for (const uint32_t row : *op.sources) source(row);
  const auto result = [&](uint32_t row) {
    if (row > isa::kZero) out.results.push_back(row / machine::kRowBytes);
  };
  result(op.d);
  result(op.d2);
  if (op.results != nullptr)
    for (const uint32_t row : *op.results) result(row);
  if (out.kind == OpKind::multiply_warp) {
    const WarpMmaCost* row = device_.mma(name);
    out.has_row = row != nullptr;
    out.latency = row != nullptr ? row->latency : 33;
    out.interval = row != nullptr ? row->interval : 2;
    out.source = row != nullptr ? Source::device : Source::guess;
    return out;
  }
  if (out.kind == OpKind::memory || out.kind == OpKind::barrier || out.kind == OpKind::copy) {
    out.has_row = true;
    out.source = Source::device;
    return out;
  }
  const OpCost* row = device_.op(name);
  out.has_row = row != nullptr;
  out.latency = row != nullptr ? row->latency : kUnknownLatency;
  out.interval = kQuarters * (row != nullptr ? row->interval : kUnknownInterval);
  out.source = row != nullptr ? row->source : Source::guess;
  if (line.unit == Unit::fma) out.pipe = Pipe::fma;
  if (name == "shl.b32") out.pipe = Pipe::fma;  // machine code multiplies
  if (line.unit == Unit::fp64) out.pipe = Pipe::fp64;
  constexpr double kSlow = 6;  // conversions that the arithmetic pipe does not do
  if (line.unit == Unit::sfu || (line.unit == Unit::convert && out.interval > kSlow)) out.pipe = Pipe::sfu;
  return out;
}

// Machine code has three operands where PTX has two: of two operations of logic, or a shift and a sum, of
// which the second alone uses the first, it makes one.
void Clock::classify(const isa::Function& f, std::vector<Info>& out) const {
  out.reserve(f.code.size());
  for (const isa::Op& op : f.code) out.push_back(classify(op, f.lines[static_cast<size_t>(op.line)]));
  const auto name = [&](size_t i) -> std::string_view {
    return f.lines[static_cast<size_t>(f.code[i].line)].text;
  };
  const auto logic = [&](size_t i) {
    const std::string_view n = name(i);
    return n == "and.b32" || n == "or.b32" || n == "xor.b32" || n == "not.b32" || n == "and.b16" ||
           n == "or.b16" || n == "xor.b16";
  };
  constexpr size_t kFar = 256;
  std::vector<bool> full(f.code.size());  // has taken one in
  for (size_t i = 0; i < f.code.size(); ++i) {
    const bool first_logic = logic(i), shift = name(i) == "shl.b32";
    if ((!first_logic && !shift) || full[i] || out[i].results.size() != 1) continue;
    const uint32_t row = out[i].results.front();
    size_t uses = 0, user = 0;
    for (size_t j = i + 1; j < std::min(f.code.size(), i + kFar); ++j) {
      const auto n = static_cast<size_t>(std::count(out[j].sources.begin(), out[j].sources.end(), row));
      if (n != 0) user = j;
      uses += n;
      if (std::count(out[j].results.begin(), out[j].results.end(), row) != 0 || out[j].ends_block) break;
    }
    if (uses != 1 || full[user]) continue;
    if (!(first_logic ? logic(user) : name(user) == "add.s32" || name(user) == "or.b32")) continue;
    full[user] = true;
    out[i].interval = 0;
    out[i].latency = 0;
  }
}

const Clock::Info& Clock::info(const isa::Executed& e) {
  const auto f = static_cast<size_t>(e.function);
  if (infos_.size() <= f) infos_.resize(f + 1);
  if (infos_[f].empty()) classify(e.cta.grid.program.functions[f], infos_[f]);
  return infos_[f][e.pc];
}

void Clock::executed(const isa::Executed& e) {
  const Info& i = info(e);
  WarpTime& w = *warp_;
  Multiprocessor& sm = sm_of(*at_, w.rank);
  turn_line_ = e.line.ptx;
  if (!i.has_row) ++without_row_[e.line.text];
  if (i.kind == OpKind::arithmetic && i.interval == 0 && i.results.size() == 1) {  // a name for a register
    const size_t d = i.results.front();
    if (w.ready.size() <= d) {
      w.ready.resize(d + 64);
      w.loaded.resize(d + 64);
    }
    double at = 0;
    int line = 0;
    for (const uint32_t s : i.sources)
      if (s < w.ready.size() && w.ready[s] > at) {
        at = w.ready[s];
        line = w.loaded[s];
      }
    w.ready[d] = at;
    w.loaded[d] = line;
    reached_.clear();
    return;
  }
  double start = w.clock;
  int loaded = 0;
  for (const uint32_t s : i.sources)
    if (s < w.ready.size() && w.ready[s] > start) {
      start = w.ready[s];
      loaded = w.loaded[s];
    }
  if (start - w.clock > w.stall) {
    w.stall = start - w.clock;
    w.stall_line = loaded;
  }
  Quarter& quarter = sm.quarters[w.quarter];
  const double slot = quarter.issue.take(start, 1);
  issued_ += 1;
  issue_by_source_[i.source] += 1;
  start = std::max(start, slot - 1);
  w.clock += 1;
  w.pending = std::max(w.pending, start);
  double done = start;
  switch (i.kind) {
    case OpKind::arithmetic:
      if (e.line.unit == Unit::warp)
        done = sm.memory.take(start, i.interval / kQuarters) - i.interval / kQuarters + i.latency;
      else if (i.interval > 0)
        done = quarter.pipes[static_cast<size_t>(i.pipe)].take(start, i.interval) - i.interval + i.latency;
      w.pending = std::max(w.pending, done - i.latency);  // until then it cannot be issued
      break;
    case OpKind::multiply_warp:
      sm.tensor_busy += i.interval;
      done = sm.tensor_sync.take(start, i.interval) - i.interval + i.latency;
      break;
    case OpKind::memory: memory(e, i, w, start); break;
    case OpKind::barrier: matched_barrier(e, i, w); break;
    case OpKind::copy:
      w.role = Role::copies;
      w.clock = w.pending = std::max(w.clock, w.pending) + device_.value(Key::copy_issue);
      now_ = std::max(now_, w.pending - device_.value(Key::copy_issue));
      break;
    case OpKind::multiply:
      w.role = Role::multiplies;
      w.clock = w.pending = std::max(w.clock, w.pending) + i.latency;
      w.multiplies.push_back(w.clock);
      now_ = std::max(now_, w.clock);
      break;
    case OpKind::order:
      w.clock = w.pending = std::max(w.clock, w.pending) + i.latency;
      now_ = std::max(now_, w.clock);
      break;
  }
  if (i.kind == OpKind::arithmetic || i.kind == OpKind::multiply_warp)
    for (const uint32_t d : i.results) {
      if (w.ready.size() <= d) {
        w.ready.resize(d + 64);
        w.loaded.resize(d + 64);
      }
      w.ready[d] = done;
      w.loaded[d] = 0;
    }
  if (i.ends_block) w.clock = w.pending = std::max(w.clock, w.pending) + i.latency;
  now_ = std::max(now_, w.pending);
  reached_.clear();
}

// Wavefronts of shared memory: 128 bytes each, of banks of 4; lanes that read one word share it.
double Clock::shared(const Reached& r, Multiprocessor& sm, double start) {
  const auto bytes = static_cast<uint32_t>(std::clamp<uint64_t>(r.bytes, 4, 16));
  const uint32_t together = 128 / bytes;
  double fronts = 0;
  for (uint32_t first = 0; first < machine::kLanes; first += together) {
    std::array<std::array<uint64_t, 32>, 32> words;
    std::array<uint32_t, 32> count{};
    uint32_t most = 0;
    for (uint32_t lane = first; lane < first + together; ++lane) {
      if ((r.lanes >> lane & 1) == 0) continue;
      for (uint32_t b = 0; b < bytes; b += 4) {
        const uint64_t word = (r.addresses[lane] + b) / 4;
        auto& bank = words[word % 32];
        uint32_t& n = count[word % 32];
        if (std::find(bank.begin(), bank.begin() + n, word) != bank.begin() + n || n == 32) continue;
        bank[n++] = word;
        most = std::max(most, n);
      }
    }
    fronts += most;
  }
  fronts = std::max(fronts, 1.0);
  return sm.memory.take(start, fronts * device_.value(Key::shared_interval));
}

double Clock::global(const Reached& r, const Info& i, Multiprocessor& sm, double start) {
  std::array<uint64_t, 32 * 17> sectors;
  size_t count = 0;
  for (uint32_t lanes = r.lanes; lanes != 0; lanes &= lanes - 1) {
    const uint64_t from = r.addresses[static_cast<size_t>(std::countr_zero(lanes))];
    for (uint64_t s = from / 32; s <= (from + r.bytes - 1) / 32 && count < sectors.size(); ++s)
      if (count == 0 || sectors[count - 1] != s) sectors[count++] = s;
  }
  std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
  count = static_cast<size_t>(
      std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count)) - sectors.begin());
  size_t lines = 0;
  for (size_t k = 0; k < count; ++k) lines += k == 0 || sectors[k] / 4 != sectors[k - 1] / 4 ? 1 : 0;
  constexpr double kProbed = 512;
  const double data = static_cast<double>(count) * 32 * device_.value(Key::l1_interval) / kProbed;
  double end = sm.memory.take(start, std::max(static_cast<double>(lines), data));
  warp_->pending = std::max(warp_->pending, end - kQueue);
  if (r.kind == machine::AccessKind::write) {
    const double bytes = static_cast<double>(count) * 32;
    sm.l2.take(start, bytes);
    l2_.take(start, bytes);
    Asked* asked = nullptr;
    if (count != 0) part_from_dram(sectors[0] * 32, &asked);
    if (asked != nullptr) asked->written += bytes;
    dram_.take(start, bytes);
    return end;
  }
  const double queued = end;
  end = queued + device_.value(Key::l1_latency);
  for (size_t k = 0; k < count; ++k) {
    if (r.kind == machine::AccessKind::read && i.cached && sm.l1.has(sectors[k])) continue;
    size_t run = 1;  // sectors of one line
    while (k + run < count && sectors[k + run] == sectors[k] + run &&
           sectors[k + run] / 4 == sectors[k] / 4 &&
           !(r.kind == machine::AccessKind::read && i.cached && sm.l1.has(sectors[k + run])))
      ++run;
    end = std::max(end, from_l2(sectors[k] * 32, static_cast<double>(run) * 32, sm, queued,
                                device_.value(Key::l2_latency), device_.value(Key::dram_latency)));
    k += run - 1;
  }
  return end;
}

void Clock::memory(const isa::Executed& e, const Info& i, WarpTime& w, double start) {
  Multiprocessor& sm = sm_of(*at_, w.rank);
  const bool loads = !i.results.empty();
  double done = start + 4;
  bool slow = false;
  for (const Reached& r : reached_) {
    const uint64_t address = r.addresses[static_cast<size_t>(std::countr_zero(r.lanes))];
    if (r.lanes == 0) continue;
    if (address >= machine::kSharedWindow && address < machine::kLocalWindow) {
      const uint64_t rank = (address - machine::kSharedWindow) >> machine::kRankShift;
      const bool remote = rank != w.rank;
      const double front = shared(r, sm, start);
      w.pending = std::max(w.pending, front - kQueue);
      done = std::max(done,
                      front + (remote                                  ? device_.value(Key::remote_latency)
                               : r.kind == machine::AccessKind::update ? device_.value(Key::shared_atomic)
                                                                       : device_.value(Key::shared_latency)));
      slow = true;
    } else if (address >= machine::kBuffers || address < machine::kSharedWindow) {
      if (r.kind == machine::AccessKind::update) {
        const double fetched = global(r, i, sm, start);
        done = std::max(done, fetched + device_.value(Key::global_atomic) - device_.value(Key::l2_latency));
      } else {
        done = std::max(done, global(r, i, sm, start));
      }
      slow = true;
    } else if (address < machine::kConstWindow) {
      done = std::max(done, sm.memory.take(start, 4) + device_.value(Key::l1_latency));
    }
  }
  if (!loads) {
    now_ = std::max(now_, start);
    return;
  }
  for (const uint32_t d : i.results) {
    if (w.ready.size() <= d) {
      w.ready.resize(d + 64);
      w.loaded.resize(d + 64);
    }
    w.ready[d] = done;
    w.loaded[d] = slow ? e.line.ptx : 0;
  }
}

// Barriers, fences and what waits: nothing behind them goes before.
void Clock::matched_barrier(const isa::Executed& e, const Info& i, WarpTime& w) {
  const std::string& name = e.line.text;
  const auto begins = [&](std::string_view text) { return name.compare(0, text.size(), text) == 0; };
  const auto has = [&](const char* text) { return name.find(text) != std::string::npos; };
  const double start = std::max(w.clock, w.pending);
  double issue = 2, seen = 2, result = 4;
  const auto warps = static_cast<double>(e.cta.warps.size());
  if (begins("barrier.cluster.arrive")) {
    const double one = device_.value(Key::cluster_barrier),
                 eight = device_.value(Key::cluster_barrier_a_warp);
    issue = kSmallStep;
    seen = one + (eight - one) / 7 * (warps - 1) - kClusterWait;
  } else if (begins("barrier.cluster.wait")) {
    issue = seen = kClusterWait;
  } else if (begins("bar.warp")) {
    issue = seen = 2;
  } else if (begins("bar.arrive") || begins("barrier.arrive") || begins("barrier.cta.arrive")) {
    issue = kSmallStep;
    seen = device_.value(Key::bar_sync);
  } else if (begins("bar")) {
    const double one = device_.value(Key::bar_sync), all = device_.value(Key::bar_sync_a_warp);
    issue = seen = one + (all - one) / 31 * (warps - 1);
  } else if (has("try_wait") || has("test_wait")) {
    result = device_.value(Key::mbarrier_wait);
  } else if (begins("mbarrier.arrive")) {
    const double hand_over = device_.value(Key::mbarrier_handover) - device_.value(Key::mbarrier_wait);
    issue = device_.value(has("expect_tx") ? Key::mbarrier_arrive_expect : Key::mbarrier_arrive);
    seen = hand_over;
    result = 39;
    if (has("shared::cluster")) seen = device_.value(Key::remote_latency) + hand_over;
  } else if (begins("mbarrier")) {
    issue = seen = device_.value(Key::mbarrier_arrive);
  } else if (begins("fence.proxy.async")) {
    issue = seen = device_.value(has("shared::cta") ? Key::fence_proxy_shared : Key::fence_proxy);
    if (has(".global")) issue = seen = 4;
  } else if (begins("fence.mbarrier_init")) {
    issue = seen = 2;
  } else if (begins("fence") || begins("membar")) {
    const Key key = has(".sys") ? Key::fence_sys : has(".cta") ? Key::fence_cta : Key::fence_gpu;
    issue = seen = device_.value(key);
  } else if (begins("cp.async.wait") || begins("cp.async.bulk.wait")) {
    issue = seen = 7;
  }
  w.clock = w.pending = start + issue;
  now_ = std::max(now_, start + seen);
  for (const uint32_t d : i.results) {
    if (w.ready.size() <= d) {
      w.ready.resize(d + 64);
      w.loaded.resize(d + 64);
    }
    w.ready[d] = start + result;
    w.loaded[d] = 0;
  }
}

Seen Clock::seen() const {
  Seen out;
  out.cycles = last_;
  out.begins = begins_;
  out.ends = ends_;
  std::sort(out.ends.begin(), out.ends.end());
  const double time = std::max(last_, 1.0);
  const auto n = static_cast<double>(std::max<size_t>(sms_.size(), 1));
  for (const auto& sm : sms_) {
    out.tensor += sm->tensor_busy / time / n;
    out.memory += sm->memory.served() / time / n;
  }
  out.issue = issued_ / time / n / kQuarters;
  out.l2 = l2_.served() / l2_.rate() / time;
  out.dram = dram_.served() / dram_.rate() / time;
  out.path = path_.to(last_link_);
  out.asked = asked_;
  out.without_row = without_row_;
  out.issue_by_source = issue_by_source_;
  return out;
}

}  // namespace bitwell::timing
