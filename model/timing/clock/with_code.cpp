// What instructions of PTX cost by the machine code that was made of them.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "model/isa/form/program.h"
#include "model/timing/clock/counts.h"
#include "model/timing/clock/state.h"

namespace bitwell::timing {

namespace {

// Numbers, and how many lines have each; of equally many the largest counts.
using Votes = std::map<uint32_t, uint32_t>;
uint32_t most_voted(const Votes& votes) {
  uint32_t out = 0, times = 0;
  for (const auto& [number, voters] : votes)
    if (voters >= times) {
      out = number;
      times = voters;
    }
  return out;
}

}  // namespace

// A branch over what follows it that machine code has no branch for: that executes under its predicate.
std::vector<uint32_t> Clock::predicated_in_code(const isa::Function& f) const {
  std::vector<uint32_t> out(f.code.size());
  const auto has_branch = [&](size_t i) {
    return counts_of(*code_, f.lines[static_cast<size_t>(f.code[i].line)].ptx).of(CodeKind::branch) != 0;
  };
  for (size_t i = 0; i < f.code.size(); ++i) {
    const isa::Op& branch = f.code[i];
    if (branch.kind != isa::OpKind::branch || branch.guard == 0 || branch.target <= i + 1 || has_branch(i))
      continue;
    const auto goes_through = [&](size_t k) {
      const isa::Op& op = f.code[k];
      if (op.kind == isa::OpKind::lanes || op.kind == isa::OpKind::effect) return true;
      return op.kind == isa::OpKind::branch && op.guard != 0 && op.target > k && op.target <= branch.target &&
             !has_branch(k);
    };
    size_t k = i + 1;
    while (k < branch.target && goes_through(k)) ++k;
    if (k < branch.target) continue;
    for (k = i; k < branch.target; ++k)
      if (out[k] == 0) out[k] = branch.guard;
  }
  return out;
}

// What a line was made into takes the place of the table's row, but for what the row has from a probe of the
// whole: division and its like, exchanges between lanes, memory, barriers. What a load or a store has beside
// itself is issued with it.
void Clock::cost_by_code(const isa::Function& f, std::vector<Info>& out) const {
  std::vector<CodeCounts> counts;
  std::vector<bool> begins(f.code.size() + 1);
  uint64_t any = 0;
  for (size_t i = 0; i < f.code.size(); ++i) {
    const isa::Op& op = f.code[i];
    const auto line = [&](size_t k) { return f.lines[static_cast<size_t>(f.code[k].line)].ptx; };
    // Of several operations of a line the first has all: the registers of wmma.load come by one instruction.
    const bool again = i != 0 && line(i) == line(i - 1);
    counts.push_back(again ? CodeCounts{} : counts_of(*code_, line(i)));
    if (again && out[i].kind == OpKind::memory && code_->lines.contains(line(i))) out[i].table.issues = 0;
    any += counts.back().all;
    if (op.kind == isa::OpKind::branch || op.kind == isa::OpKind::jump) begins[op.target] = true;
    if (op.targets != nullptr)
      for (const uint32_t to : *op.targets) begins[to] = true;
    if (out[i].ends_block || op.kind == isa::OpKind::jump) begins[i + 1] = true;
  }
  if (any == 0) return;  // another function's code has its lines, or nothing is known of it

  // How often a block stands in the code. An access, an exchange or a product and sum is one instruction of
  // each copy. Without these: operations that take no more than one, where most of them agree, or where none
  // stands there once.
  const auto copies_of = [&](size_t from, size_t to) -> uint32_t {
    Votes sure, others;
    uint32_t all = 0;
    for (size_t i = from; i < to; ++i) {
      const Info& info = out[i];
      const isa::Line& line = f.lines[static_cast<size_t>(f.code[i].line)];
      const CodeCounts& c = counts[i];
      uint32_t n = 0;
      if (info.kind == OpKind::memory)
        n = c.of(CodeKind::memory);
      else if (info.in_warp)
        n = c.of(CodeKind::exchange);
      else if (info.kind != OpKind::arithmetic || info.branches_within || info.ends_block)
        continue;
      else if (line.unit == isa::Unit::fma && line.text.ends_with("f32"))
        n = c.of(CodeKind::fp32);
      else if (line.unit == isa::Unit::sfu)
        n = c.of(CodeKind::special);
      else if (line.unit == isa::Unit::fp64)
        n = c.of(CodeKind::fp64);
      if (n != 0) ++sure[n];
      constexpr double kOne = 2.3;  // cycles of a quarter
      if (info.kind == OpKind::arithmetic && !info.in_warp && c.all != 0 && info.table.interval > 0 &&
          info.table.interval < kOne && line.text.find("64") == std::string::npos) {
        ++others[c.all];
        ++all;
      }
    }
    if (!sure.empty()) return most_voted(sure);
    if (others.empty()) return 1;
    const uint32_t most = most_voted(others);
    return others.begin()->first > 1 || 2 * others[most] > all ? most : 1;
  };
  for (size_t from = 0, to = 0; from < f.code.size(); from = to) {
    to = from + 1;
    while (to < f.code.size() && !begins[to]) ++to;
    const double each = 1.0 / copies_of(from, to);
    for (size_t i = from; i < to; ++i)
      cost_by_counts(counts[i], each, out[i].ends_block || f.code[i].kind == isa::OpKind::jump, out[i]);
  }
  // What a predicate leaps over is issued all the same.
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].predicates) continue;
    Info::Costs& all = out[i].table;
    for (size_t k = i + 1; k < f.code[i].target; ++k) {
      if (out[k].kind != OpKind::arithmetic || out[k].in_warp) continue;
      all.issues += std::exchange(out[k].table.issues, 0);
      all.stalls += std::exchange(out[k].table.stalls, 0);
      for (size_t p = 0; p < kPipes; ++p) all.work[p] += std::exchange(out[k].table.work[p], 0);
    }
  }
}

// Of one operation, by what its line has in all copies, each of which has that part of it.
void Clock::cost_by_counts(const CodeCounts& c, double each, bool leaps, Info& info) const {
  Info::Costs& costs = info.table;
  if ((info.kind == OpKind::arithmetic && !info.branches_within) || info.kind == OpKind::memory)
    costs.stalls = (c.stalls + c.meets * value(Key::reconverge)) * each;
  if (info.predicates || (info.kind == OpKind::memory && c.of(CodeKind::memory) != 0)) {
    costs.issues = c.all * each;
    return;
  }
  if (info.kind != OpKind::arithmetic || info.in_warp || info.branches_within) return;
  if (c.all == 0 && info.results > 1) return;
  constexpr double kIssued = 0.01, kLatency = 5;  // of what computes in no pipe; and where PTX only names
  const double probed = costs.interval;
  costs.issues = c.all * each;
  costs.work = {};
  costs.fp32 = 0;
  costs.interval = c.all == 0 ? 0 : kIssued;
  const auto take = [&](Pipe pipe, double work) {
    costs.work[static_cast<size_t>(pipe)] = work;
    if (work <= costs.interval) return;
    costs.interval = work;
    info.pipe = pipe;
  };
  for (const ComputesLike& one : computes_like())
    if (const uint32_t n = c.of(one.kind); n != 0) {
      const double work = n * each * kQuarters * device_.op(one.ptx).value_or(OpCost{}).interval;
      if (one.kind == CodeKind::fp32) costs.fp32 = work;
      take(one.pipe, costs.work[static_cast<size_t>(one.pipe)] + work);
    }
  // A warp stalls until what is always as late is there; other results say themselves when they are.
  const auto has = [&](CodeKind kind) { return c.of(kind) != 0; };
  info.stalled = leaps || !(has(CodeKind::special) || has(CodeKind::fp64) || has(CodeKind::exchange) ||
                            has(CodeKind::memory));
  if (leaps) return;
  // A conversion is no slower than its probe says because its opcode is one of sums too.
  constexpr double kOne = 2.3;
  if (std::lround(c.all * each) == 1 && c.of(CodeKind::fp32) + c.of(CodeKind::half) == c.all &&
      probed > costs.interval && probed < kOne)
    take(info.pipe, probed);
  if (c.all == 0)
    costs.latency = 0;
  else if (probed == 0)
    costs.latency = kLatency;
}

}  // namespace bitwell::timing
