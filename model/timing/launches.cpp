#include "model/timing/launches.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/isa/form/reserved_shared.h"
#include "model/machine/arch.h"
#include "model/timing/loops.h"

namespace bitwell::timing {

namespace {

constexpr uint64_t kMegabyte = 1000000;

// By the clusters that were run, as many as a group of multiprocessors gets.
double whole(const TimedLaunch& l) {
  const std::vector<double>& ends = l.seen.ends;
  if (ends.empty()) return l.seen.cycles;
  if (!l.sampled) return l.seen.cycles;
  const double each = static_cast<double>(l.clusters) / l.groups;
  // The last wave is as long as the others, however few it has.
  const double rounded = each < 8 ? std::ceil(each) : each;
  const double run = static_cast<double>(ends.size()) / l.extent.groups;
  if (rounded <= run) return ends.back();
  const size_t from = ends.size() > 2 * l.extent.residents ? l.extent.residents : ends.size() / 2;
  // Those that are resident together may all end at once: what counts begins when the last before them did.
  const double slope =
      (ends.back() - (from == 0 ? 0 : ends[from - 1])) / static_cast<double>(ends.size() - from);
  return ends.back() + (rounded - run) * slope;
}

// What a row holds at an instruction, where that is a constant, or the last before it that makes the row
// moves one there; else 0.
uint64_t constant(const isa::Function& f, size_t at, uint32_t row) {
  const auto of = [&](uint32_t r) -> uint64_t {
    for (const isa::ConstantRow& c : f.constants)
      if (c.row == r) return c.value;
    return 0;
  };
  while (at > 0) {
    const isa::Op& op = f.code[--at];
    if (op.d != row && op.d2 != row) continue;
    return f.lines[static_cast<size_t>(op.line)].text.rfind("mov", 0) == 0 ? of(op.a) : 0;
  }
  return of(row);
}

// So many CTAs have columns of tensor memory at once; others wait for theirs, behind which they have all to
// do.
uint64_t ctas_by_tensor_memory(const isa::Program& program) {
  uint64_t columns = 0;
  for (const isa::Function& f : program.functions)
    for (size_t i = 0; i < f.code.size(); ++i)
      if (f.lines[static_cast<size_t>(f.code[i].line)].text.rfind("tcgen05.alloc", 0) == 0)
        columns = std::max(columns, constant(f, i, f.code[i].b));
  constexpr uint64_t kColumns = 512;
  return columns == 0 ? UINT64_MAX : std::max<uint64_t>(1, kColumns / columns);
}

// The first clusters of a GPC, one on each multiprocessor, until each has read what some stages hold.
void take_neighbours(uint64_t clusters, TimedLaunch& l) {
  Extent& e = l.extent;
  constexpr uint32_t kClusters = 4;
  constexpr double kRead = 192 << 10;  // bytes
  e.step = l.cluster_size == 1 ? 1 : kGpcs;
  e.groups = static_cast<uint32_t>(
      std::min<uint64_t>(l.cluster_size == 1 ? kGpcs : kClusters, (clusters + e.step - 1) / e.step));
  e.residents = 1;
  e.clusters = e.starts = e.groups;
  e.out_of = 0;
  e.bytes = kRead * e.groups * l.cluster_size;
}

}  // namespace

Launches::Launches(const Device& device, uint32_t most, std::vector<Shares> shares)
    : device_(device), most_(most), shares_(std::move(shares)) {}

run::Timekeeper& Launches::begins(const run::Grid& grid) {
  run::Shape shape = grid.shape;
  if (shape.registers == 0 && code_ != nullptr) shape.registers = code_->registers;
  const run::Residency held = run::residency(grid.program, shape);
  TimedLaunch l;
  l.code = std::exchange(code_, nullptr);
  l.entry = grid.name();
  l.ctas = grid.ctas();
  l.clusters = held.all;
  l.cluster_size = static_cast<uint32_t>(l.ctas / held.all);
  const auto sms = static_cast<uint64_t>(device_.value(Key::sms));
  const uint64_t groups = l.cluster_size == 1 ? sms : std::max<uint64_t>(1, held.room / held.ctas_per_sm);
  l.groups = static_cast<uint32_t>(std::min(groups, held.all));
  l.sure_of_residents = held.sure_per_sm == held.ctas_per_sm;
  Extent& e = l.extent;
  e.active_sms = l.groups * l.cluster_size;
  e.residents =
      static_cast<uint32_t>(std::min({uint64_t{held.ctas_per_sm}, (held.all + l.groups - 1) / l.groups,
                                      ctas_by_tensor_memory(grid.program)}));
  const machine::Arch& arch = machine::arch(grid.program.sm);
  const uint64_t shared = e.residents * run::allocated_shared(grid.program.sm, grid.program.dynamic_shared +
                                                                                   grid.shape.dynamic_shared);
  constexpr uint64_t kWhole = 256 << 10;  // of L1 and shared memory
  e.l1_bytes = kWhole - std::min<uint64_t>(shared, arch.sm_shared);
  const bool all_at_once = held.all <= uint64_t{e.residents} * l.groups;
  if (most_ == 0 || (all_at_once && takes_work(grid.program))) {
    e.groups = l.groups;
  } else {
    const uint64_t each = (held.all + l.groups - 1) / l.groups;
    e.groups = 1;
    e.clusters = std::min<uint64_t>(each, std::max<uint64_t>(most_, 3 * uint64_t{e.residents}));
    l.sampled = e.clusters < held.all;
    // The last of them have the multiprocessor for themselves.
    if (e.clusters == each) e.starts = each;
    if (l.sampled) e.out_of = held.all;
    if (l.sampled && at_neighbours_) take_neighbours(held.all, l);
  }
  const size_t number = launches_.size();
  clocks_.push_back(
      std::make_unique<Clock>(device_, e, number < shares_.size() ? shares_[number] : Shares{}));
  if (clock_ != nullptr) before_ += clock_->seen().cycles;
  clock_ = clocks_.back().get();
  if (number < shortened_.size()) clock_->shorten(shortened_[number]);
  clock_->set_code(l.code);
  launches_.push_back(std::move(l));
  return *clock_;
}

Launches::Instant Launches::instant() const {
  const double clock = device_.value(Key::clock);
  return {(before_ + clock_->turn_begin()) / clock, (before_ + clock_->now()) / clock};
}

std::vector<TimedLaunch> Launches::timed() const {
  std::vector<TimedLaunch> out = launches_;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].seen = clocks_[i]->seen();
    out[i].cycles = whole(out[i]);
  }
  return out;
}

std::vector<Shares> Launches::shares() const {
  std::vector<Shares> out;
  const double held = device_.value(Key::l2_bytes) * kMegabyte;
  std::map<uint64_t, bool> warm;
  for (const TimedLaunch& l : timed()) {
    Shares& parts = out.emplace_back();
    const double times =
        static_cast<double>(l.clusters) / static_cast<double>(std::max<size_t>(l.seen.ends.size(), 1));
    for (const auto& [base, asked] : l.seen.asked) {
      const double all = asked.read * times;
      // Whoever comes first fetches it for all.
      Share& part = parts[base];
      part.dram =
          warm.count(base) != 0 ? 0 : std::min(1.0, static_cast<double>(asked.size) / std::max(all, 1.0));
      if (asked.l2 > 0) part.l2 = asked.l2 / asked.read;
    }
    for (const auto& [base, asked] : l.seen.asked)
      if (asked.written > 0 && static_cast<double>(asked.size) < held / 2) warm[base] = true;
  }
  return out;
}

Estimate estimate(const Device& d, const TimedLaunch& l) {
  Estimate out;
  const double launch = d.value(Key::launch);
  constexpr double kProbedCtas = 16896, kFew = 132;
  const double many = d.value(l.cluster_size > 1 ? Key::launch_a_cluster : Key::launch_a_cta);
  const double a_cta = (many - launch) / (kProbedCtas - kFew);
  // Power lowers the clock where tensor cores are busy.
  const double clock = d.value(Key::clock);
  const auto us = [&](Key busy) {
    const double body = l.cycles / (clock - std::min(1.0, l.seen.tensor) * (clock - d.value(busy)));
    return launch + std::max(body, a_cta * static_cast<double>(l.ctas));
  };
  out.us = us(Key::loaded_clock);
  out.alone = us(Key::alone_clock);
  const Seen& s = l.seen;
  struct Class {
    std::string_view kind;
    double share, error;
  };
  // How far off a model of PTX is, by what binds.
  const std::array<Class, 4> all{{{"tensor cores", s.tensor, 0.15},
                                  {"DRAM", s.dram, 0.20},
                                  {"L2", s.l2, 0.15},
                                  {"instructions", std::max(s.issue, s.memory), 0.35}}};
  const Class* most = &all[0];
  for (const Class& c : all)
    if (c.share > most->share) most = &c;
  double error = most->error;
  out.kind = most->kind;
  constexpr double kBusy = 0.4;
  if (most->share < kBusy) {
    out.kind = "latency";
    error = 0.35;
  }
  double issued = 0;
  for (const double cycles : s.issue_by_source) issued += cycles;
  const double unknown = s.issue_by_source[static_cast<size_t>(Source::guess)];
  if (!s.without_row.empty()) error += 0.15;
  if (out.kind == "instructions" && issued > 0) error += 0.1 * unknown / issued;
  out.low = out.us * (1 - error);
  out.high = out.us * (1 + error);
  out.made = l.sampled ? std::to_string(s.ends.size()) + " of " + std::to_string(l.clusters) +
                             " clusters, on " + std::to_string(l.extent.groups * l.cluster_size) + " of " +
                             std::to_string(l.extent.active_sms) + " multiprocessors"
                       : "every cluster";
  return out;
}

}  // namespace bitwell::timing
