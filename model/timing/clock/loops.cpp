// What a clock says of loops: how fast they could go round, and how fast they did; and what warps are by what
// they do.
#include <algorithm>
#include <bit>
#include <cmath>

#include "model/timing/clock/state.h"

namespace bitwell::timing {
namespace {

Role role_of(uint8_t does) {
  if ((does & kMultiplies) != 0) return (does & kCopies) != 0 ? Role::both : Role::multiplies;
  if ((does & kCopies) != 0) return Role::copies;
  return (does & kReads) != 0 ? Role::reads : Role::other;
}

}  // namespace

void Clock::watch(const isa::Program& program) {
  watched_ = std::make_unique<Watched>();
  Watched& all = *watched_;
  const auto at_line = [](auto& vector, int line) -> auto& {
    if (vector.size() <= static_cast<size_t>(line)) vector.resize(static_cast<size_t>(line) + 1);
    return vector[static_cast<size_t>(line)];
  };
  for (size_t k = 0; k < program.functions.size(); ++k) {
    const isa::Function& f = program.functions[k];
    for (size_t pc = 0; pc < f.code.size(); ++pc) {
      const isa::Line& line = f.lines[static_cast<size_t>(f.code[pc].line)];
      at_line(all.does, line.ptx) |= does(line.text);
      at_line(all.mark, line.ptx);
      if (shortened_.count(line.ptx) == 0) continue;
      Info& i = infos_[k][pc];
      i.table.latency /= 2;
      i.table.interval /= 2;
      for (double& work : i.table.work) work /= 2;
      i.table.seen /= 2;
    }
  }
  const std::vector<Loop> loops = loops_of(program);
  for (const Loop& loop : loops) {
    if (!loop.innermost) continue;
    const isa::Function& f = program.functions[loop.function];
    const std::vector<Info>& infos = infos_[loop.function];
    Watched::Round round;
    round.bound.first = loop.first;
    round.bound.last = loop.last;
    const auto waits_only = [&](uint32_t pc) {
      return std::any_of(loops.begin(), loops.end(), [&](const Loop& other) {
        return other.spins && other.function == loop.function &&
               std::binary_search(other.ops.begin(), other.ops.end(), pc);
      });
    };
    int mark = 0, guarded = 0;
    for (const uint32_t pc : loop.ops) {
      const Info& i = infos[pc];
      const isa::Line& line = f.lines[static_cast<size_t>(f.code[pc].line)];
      if (i.table.interval == 0 && i.table.latency == 0 && i.kind == OpKind::arithmetic) continue;
      round.issues += i.table.issues;
      for (size_t p = 0; p < kPipes; ++p) round.pipes[p] += i.table.work[p];
      if (i.kind == OpKind::memory || i.in_warp) round.port += 1;
      if ((does(line.text) & kMultiplies) != 0) round.products += 1;
      // Behind each of these a turn ends, once a round.
      const bool ends = i.kind != OpKind::arithmetic && i.kind != OpKind::multiply_warp && !i.goes_on;
      // An instruction whose guard holds for none is not told of.
      if (ends && !waits_only(pc)) (f.code[pc].guard == 0 ? mark : guarded) = line.ptx;
    }
    round.bound.recurrence = recurrence(f, infos, loop.ops);
    if (mark == 0) mark = guarded;
    if (mark == 0) continue;
    all.rounds.push_back(round);
    at_line(all.mark, mark) = static_cast<int>(all.rounds.size());
  }
}

// Cycles from one round to the next if every part of the multiprocessor were free: what depends on itself.
double Clock::recurrence(const isa::Function& f, const std::vector<Info>& infos,
                         const std::vector<uint32_t>& ops) const {
  std::vector<double> rows(rows_ + 1);
  double ordered = 0;
  const auto latency = [&](uint32_t pc) {
    const Info& i = infos[pc];
    if (i.kind != OpKind::memory) return i.table.latency;
    const std::string& name = f.lines[static_cast<size_t>(f.code[pc].line)].text;
    return value(name.find(".shared") != std::string::npos   ? Key::shared_latency
                 : name.find(".global") != std::string::npos ? Key::l2_latency
                                                             : Key::l1_latency);
  };
  // After some rounds all grow by the longest circle.
  constexpr int kRounds = 24;
  std::vector<double> half;
  for (int round = 0; round < kRounds; ++round) {
    for (const uint32_t pc : ops) {
      const Info& i = infos[pc];
      double start = 0;
      for (const uint32_t s : sources(i)) start = std::max(start, rows[s]);
      const bool in_order = i.kind == OpKind::barrier || i.kind == OpKind::order || i.kind == OpKind::copy ||
                            i.kind == OpKind::multiply || i.kind == OpKind::tensor || i.branches_within;
      if (in_order) {
        start = std::max(start, ordered);
        ordered = start + (i.kind == OpKind::barrier || i.kind == OpKind::multiply ? i.table.interval
                                                                                   : i.table.latency);
      }
      const double end = start + latency(pc);
      for (const uint32_t d : results(i)) rows[d] = end;
    }
    rows[rows_] = ordered;
    if (round + 1 == kRounds / 2) half = rows;
  }
  double most = 0;
  for (size_t i = 0; i < rows.size(); ++i) most = std::max(most, rows[i] - half[i]);
  return most / (kRounds - kRounds / 2);
}

// A turn of a warp has ended.
void Clock::watch(WarpTime& w, Time end) {
  Watched& all = *watched_;
  const auto line = static_cast<size_t>(turn_line_);
  if (line >= all.does.size()) return;
  w.does |= all.does[line];
  w.role = role_of(w.does);
  if (all.mark[line] == 0) return;
  const auto n = static_cast<size_t>(all.mark[line] - 1);
  Watched::Round& round = all.rounds[n];
  Time& last = w.rows[-1 - static_cast<std::ptrdiff_t>(n)].at;
  if (last >= 0) {
    round.cycles += end - last;
    ++round.between;
  }
  last = end;
  ++round.times;
  round.warps |= uint64_t{1} << w.index % 64;
}

std::vector<LoopBound> Clock::loop_bounds() const {
  std::vector<LoopBound> out;
  if (watched_ == nullptr) return out;
  double products = 0;
  for (const Watched::Round& r : watched_->rounds) products += r.products * static_cast<double>(r.times);
  double busy = 0;
  for (const auto& sm : sms_) busy += cycles_of(sm->tensor_busy);
  for (const Watched::Round& r : watched_->rounds) {
    if (r.times == 0) continue;
    LoopBound b = r.bound;
    b.warps = static_cast<uint32_t>(std::popcount(r.warps));
    b.times = r.times;
    const double together = static_cast<double>(b.warps) * extent_.residents;  // warps of a multiprocessor
    const double a_quarter = std::ceil(together / kQuarters);
    const auto take = [&](double cycles, std::string_view what) {
      if (cycles <= b.resource) return;
      b.resource = cycles;
      b.by = what;
    };
    take(r.issues * a_quarter, "issue");
    for (const double pipe : r.pipes) take(pipe * a_quarter, "arithmetic");
    take(r.port * together, "shared memory and L1");
    if (products > 0 && r.products > 0) {
      const double part = r.products * static_cast<double>(r.times) / products;
      take(busy * part / (static_cast<double>(r.times) / together), "tensor core");
    }
    if (r.between > 0) b.modelled = cycles_of(r.cycles) / static_cast<double>(r.between);
    out.push_back(b);
  }
  return out;
}

}  // namespace bitwell::timing
