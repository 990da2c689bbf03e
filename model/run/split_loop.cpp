// The run loop: which split of a warp runs next, and how.
#include <algorithm>
#include <tuple>
#include <utility>

#include "model/run/cluster.h"
#include "model/run/turns/chooser.h"
#include "model/run/wait.h"
#include "model/run/watch/definedness.h"
#include "model/run/watch/unsure.h"

namespace bitwell::run {

using machine::Fault;
using machine::kQuantum;
using machine::Split;
using machine::Warp;

// The split to run next: deepest call first, so that callees return to where the others wait; then the
// longest without a turn; then the lowest pc, which is earliest in reverse post-order. splits.size() if none
// can run.
size_t Cta::choose(const Warp& warp) const {
  size_t best = warp.splits.size();
  for (size_t i = 0; i < warp.splits.size(); ++i) {
    const Split& s = warp.splits[i];
    if (s.wait != nullptr) continue;
    if (best == warp.splits.size()) {
      best = i;
      continue;
    }
    const Split& b = warp.splits[best];
    const auto key = [](const Split& v) { return std::tuple(v.turn, -v.activation->depth, v.pc); };
    if (key(s) < key(b)) best = i;
  }
  return best;
}

static bool can_meet(const Split& s) { return s.wait == nullptr || s.wait == &kMeets; }

// Splits that stand at the same instruction of the same call become one, which then tries again what it
// waited for.
void Cta::merge(Warp& warp) {
  auto& splits = warp.splits;
  for (size_t i = 0; i < splits.size(); ++i)
    for (size_t j = i + 1; j < splits.size();) {
      const bool meet = splits[i].pc == splits[j].pc && splits[i].activation == splits[j].activation &&
                        can_meet(splits[i]) && can_meet(splits[j]);
      if (!meet) {
        ++j;
        continue;
      }
      splits[i].mask |= splits[j].mask;
      splits[i].passed_by |= splits[j].passed_by;
      splits[i].wait = nullptr;
      splits[i].turn = std::max(splits[i].turn, splits[j].turn);
      splits[i].polls_global = splits[i].polls_global || splits[j].polls_global;
      splits[i].budget = std::min(splits[i].budget, splits[j].budget);
      splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

bool Cta::run_warp(Warp& warp) {
  bool progress = false;
  const uint64_t start = clock_;
  for (;;) {
    if (warp.splits.size() > 1) merge(warp);
    const size_t at = choose(warp);
    if (at == warp.splits.size()) return progress;
    if (warp.splits[at].turn > start) return true;  // everyone has had a quantum: let other warps run
    if (progress && cluster.yielded()) return true;
    progress = true;
    uint32_t limit = UINT32_MAX;
    for (size_t i = 0; i < warp.splits.size(); ++i)
      if (i != at && warp.splits[i].activation == warp.splits[at].activation &&
          warp.splits[i].pc > warp.splits[at].pc)
        limit = std::min(limit, warp.splits[i].pc);
    const bool in_time = cluster.counted() != nullptr && cluster.counted()->keeper != nullptr;
    if (grid.options.checked)
      in_time ? run_split<true, true>(warp, at, limit) : run_split<true, false>(warp, at, limit);
    else
      in_time ? run_split<false, true>(warp, at, limit) : run_split<false, false>(warp, at, limit);
    if (warp_instructions > grid.options.step_limit)
      throw Fault(warp.splits.empty() ? machine::Place{} : called_place(warp, warp.splits[0], -1),
                  "no end after " + std::to_string(grid.options.step_limit) +
                      " warp instructions of this CTA: it hangs, or the step limit is too low");
  }
}

namespace {

// Most often they are all: hosts that need not have an instruction for it are asked for a call else.
[[gnu::always_inline]] inline uint64_t lanes_of(uint32_t mask) {
  return mask == UINT32_MAX ? machine::kLanes : static_cast<uint64_t>(__builtin_popcount(mask));
}

// These are the inner loop: inlined, they keep pc, rows and counts in registers (4 % of an ALU loop).

// The lanes of `active` that an op's guard lets through.
template <bool Checked>
[[gnu::always_inline]] inline uint32_t guarded(const isa::Op& op, Context& context, const std::byte* rows,
                                               const uint32_t* defined, uint32_t active, uint32_t pc) {
  if (op.guard == 0) return active;
  const uint32_t predicate = *reinterpret_cast<const uint32_t*>(rows + op.guard);
  if constexpr (Checked)
    if (const uint32_t missing = active & ~defined[op.guard / machine::kRowBytes]; missing != 0)
        [[unlikely]] {
      context.split().pc = pc;
      return guarded_by_unknown(op, context, active, missing);
    }
  return active & (op.guard_negated ? ~predicate : predicate);
}

template <bool Checked>
[[gnu::always_inline]] inline void run_lanes(const isa::Op& op, Context& context, std::byte* rows,
                                             uint32_t* defined, uint32_t mask) {
  if constexpr (Checked) {
    const auto row = [&](uint32_t offset) -> uint32_t& { return defined[offset / machine::kRowBytes]; };
    uint32_t known = row(op.a) & row(op.b) & row(op.c) & row(op.e);
    if (op.sources != nullptr)
      for (const uint32_t r : *op.sources) known &= row(r);
    if ((mask & ~known) != 0) [[unlikely]]
      return run_unknown(op, context, mask);
    op.lanes(op, rows, mask);
    row(op.d) |= mask;
    row(op.d2) |= mask;
    if (op.results != nullptr)
      for (const uint32_t r : *op.results) row(r) |= mask;
  } else {
    op.lanes(op, rows, mask);
  }
}

// The lanes of `mask` go to `target`, the others of the split to the next instruction.
void diverge(Warp& warp, size_t at, uint32_t mask, uint32_t target, uint32_t pc) {
  warp.splits[at].told_at = Split::kNotTold;
  Split taken = warp.splits[at];
  taken.pc = target;
  taken.mask = mask;
  warp.splits[at].mask &= ~mask;
  warp.splits[at].pc = pc + 1;
  warp.splits.push_back(std::move(taken));
}

}  // namespace

// Back edges, divergent branches and calls use up the split's turn; with none left, the others go first.
// `pc`: where a back edge leads to; ~pc of any other, which may stand just there.
bool Cta::spend(const Warp& warp, Split& split, uint32_t pc, uint64_t instructions) {
  if (--split.budget != 0 && warp_instructions + instructions <= grid.options.step_limit) return false;
  split.turn = ++clock_;
  if (split.polls_global) cluster.polled();
  if (repeats(warp, split, pc)) split.wait = &kSpins;
  split.budget = split.looks != 0 ? 1 : kQuantum;
  return true;
}

// The lanes that do not know the guard of the branch at `pc` go to where its ways meet; the others come to it
// again.
void Cta::pass_over(Context& context, uint32_t pc, Counts& counts) {
  Warp& warp = context.warp;
  const size_t at = context.split_index;
  const uint32_t lanes = std::exchange(context.unsure, 0);
  const uint32_t meet = pass_ways(context, lanes);
  counts.lanes += lanes_of(lanes);
  counts.moved = true;
  spend(warp, warp.splits[at], meet <= pc ? meet : ~pc, counts.instructions);
  if (lanes != warp.splits[at].mask) return diverge(warp, at, lanes, meet, pc - 1);
  ++counts.instructions;
  warp.splits[at].pc = meet;
}

// Runs until the split waits, ends, diverges, comes to `limit` or has had its turn. pc and counts are of the
// caller, so that they are right where it throws.
template <bool Checked>
[[gnu::always_inline]] inline void Cta::run_ops(Context& context, uint32_t limit, uint32_t& pc,
                                                Counts& counts) {
  Warp& warp = context.warp;
  const size_t at = context.split_index;
  const isa::Op* code =
      grid.program.functions[static_cast<size_t>(warp.splits[at].activation->function)].code.data();
  std::byte* rows = context.rows();
  uint32_t* defined = context.defined();
  const uint32_t active = warp.splits[at].mask;
  const bool in_parts =
      !grid.stops.empty() || cluster.counted() != nullptr;  // the caller goes on behind each
  const bool watched = !grid.options.observers.empty();
  const uint64_t lanes = lanes_of(active);
  const auto count = [&](uint32_t mask) {  // counting bits anew costs 7 % of an ALU loop
    counts.lanes += mask == active ? lanes : static_cast<uint64_t>(__builtin_popcount(mask));
    ++counts.instructions;
  };
  while (pc != limit) {
    const isa::Op& op = code[pc];
    const uint32_t mask = guarded<Checked>(op, context, rows, defined, active, pc);
    if (op.kind == isa::OpKind::lanes) {
      if (mask != 0) run_lanes<Checked>(op, context, rows, defined, mask);
      count(mask);
      ++pc;
      continue;
    }
    if (op.kind == isa::OpKind::jump || op.kind == isa::OpKind::branch) {
      if constexpr (Checked)
        if (context.unsure != 0) [[unlikely]]
          return pass_over(context, pc, counts);
      if (op.kind == isa::OpKind::branch) count(mask);
      if (mask == 0) {
        ++pc;
        continue;
      }
      if (mask != active) {
        spend(warp, warp.splits[at], ~pc, counts.instructions);
        diverge(warp, at, mask, op.target, pc);
        counts.moved = true;
        return;
      }
      const bool back = op.target <= pc;
      pc = op.target;
      if (back && spend(warp, warp.splits[at], pc, counts.instructions)) return;
      if (pc > limit || (back && in_parts)) {  // passed another split: choose again
        counts.at_limit = true;
        return;
      }
      continue;
    }
    if (mask != 0) {
      warp.splits[at].pc = pc;
      if (op.kind == isa::OpKind::call || op.kind == isa::OpKind::table)
        spend(warp, warp.splits[at], ~pc, counts.instructions);
      if (watched) [[unlikely]]
        cluster.executed(counts.instructions);
      const isa::Next next = op.effect(op, context, mask);
      if (next == isa::Next::wait) return;
      counts.moved = next == isa::Next::moved;
    }
    count(mask);
    if (counts.moved) return;
    ++pc;
    if (mask != 0 && cluster.yielded()) return;
  }
  counts.at_limit = true;
}

// As run_ops, one op after the other, each of which is counted by its unit.
template <bool Checked>
[[gnu::noinline]] void Cta::run_counted(Context& context, uint32_t limit, uint32_t& pc, Counts& counts) {
  const isa::Function& f = grid.program.functions[static_cast<size_t>(context.activation().function)];
  do {
    const isa::Line& line = f.lines[static_cast<size_t>(f.code[pc].line)];
    const uint64_t before = counts.instructions;
    counts.at_limit = false;
    run_ops<Checked>(context, std::min(limit, pc + 1), pc, counts);
    if (counts.instructions != before) ++cluster.counted()->instructions[static_cast<size_t>(line.unit)];
  } while (counts.at_limit && pc < limit);
}

// As run_ops, but a timekeeper is told of each op that was executed; of those that compute in registers all
// at once. What stands behind one another is looked up before, and not where memory is written.
template <bool Checked>
[[gnu::always_inline]] inline void Cta::run_in_time(Context& context, uint32_t limit, uint32_t& pc,
                                                    Counts& counts) {
  Timekeeper& keeper = *cluster.counted()->keeper;
  Warp& warp = context.warp;
  const size_t at = context.split_index;
  const int function = warp.splits[at].activation->function;
  const std::vector<isa::Op>& all = grid.program.functions[static_cast<size_t>(function)].code;
  const isa::Op* const code = all.data();
  const auto last = static_cast<uint32_t>(std::min<size_t>(limit, all.size()));
  std::byte* const rows = context.rows();
  uint32_t* const defined = context.defined();
  const uint32_t active = warp.splits[at].mask;
  const uint64_t lanes = lanes_of(active);
  const auto count = [&](uint32_t mask) {
    counts.lanes += mask == active ? lanes : static_cast<uint64_t>(__builtin_popcount(mask));
    ++counts.instructions;
  };
  // Of these run_ops would do no more than is done here.
  const bool unwatched = grid.options.observers.empty();
  const auto is_effect = [](isa::OpKind k) {
    return k == isa::OpKind::effect || k == isa::OpKind::collective || k == isa::OpKind::barrier;
  };
  // Threads that go together wait for none of their own, and some of one call for none where all can run:
  // they stop where the next ones stand, as in turns, if none stands behind them. Whoever watches wants each
  // turn in its time.
  const bool together = warp.splits.size() == 1;
  const auto runs_here = [&](const Split& s) {
    return s.wait == nullptr && s.activation == warp.splits[at].activation &&
           (&s == &warp.splits[at] || s.pc > pc);
  };
  const bool may_go_ahead = (together || (keeper.goes_through() &&
                                          std::all_of(warp.splits.begin(), warp.splits.end(), runs_here))) &&
                            grid.stops.empty() && unwatched && !cluster.accesses_watched();
  bool ahead = cluster.counted()->leads, any_ahead = false;
  if (ahead && !may_go_ahead) return;
  const GoesAhead goes = keeper.may_go_ahead(function);
  const uint8_t how = together ? GoesAhead::kTogether : GoesAhead::kApart;
  do {
    if (ahead && (warp.splits[at].budget <= 1 || !goes.may(pc, how, false))) return;
    const uint32_t from = pc;
    const isa::Op* op = code + from;
    for (; pc < last && op->kind == isa::OpKind::lanes; ++op) {
      const uint32_t mask = guarded<Checked>(*op, context, rows, defined, active, pc);
      if (mask != 0) run_lanes<Checked>(*op, context, rows, defined, mask);
      count(mask);
      ++pc;
    }
    uint32_t to = pc;
    counts.at_limit = true;
    if (pc < last && op->kind == isa::OpKind::branch &&
        (pc == from || !ahead || (warp.splits[at].budget > 1 && goes.may(pc, how, true)))) {
      const uint32_t mask = guarded<Checked>(*op, context, rows, defined, active, pc);
      const bool sure = std::exchange(context.unsure, 0) == 0;
      if (sure && (mask == 0 || mask == active)) {
        ++to;
        count(mask);
        const bool back = mask != 0 && op->target <= pc;
        pc = mask == 0 ? pc + 1 : op->target;
        counts.at_limit = !back || !spend(warp, warp.splits[at], pc, counts.instructions);
      }
    }
    bool goes_on = ahead;
    if (to != from) {
      if (!keeper.computed(function, from, to)) counts.at_limit = false;
    } else {
      const uint64_t before = counts.instructions, lanes_before = counts.lanes;
      counts.at_limit = false;
      if (unwatched && is_effect(op->kind)) [[likely]] {
        const uint32_t mask = guarded<Checked>(*op, context, rows, defined, active, pc);
        if (mask != 0) {
          warp.splits[at].pc = pc;
          const isa::Next next = op->effect(*op, context, mask);
          if (next == isa::Next::wait) continue;
          counts.moved = next == isa::Next::moved;
        }
        count(mask);
        if (!counts.moved) {
          ++pc;
          counts.at_limit = mask == 0 || !cluster.yielded();
        }
      } else {
        run_ops<Checked>(context, from + 1, pc, counts);
        if (counts.instructions == before) continue;
      }
      goes_on = keeper.executed(function, from, static_cast<uint32_t>(counts.lanes - lanes_before));
    }
    any_ahead = ahead;
    const bool turn_over = !goes_on && !counts.at_limit && !counts.moved;
    if (turn_over && may_go_ahead) goes_on = ahead = keeper.goes_ahead();
    if (goes_on && !counts.moved) counts.at_limit = true;
  } while (counts.at_limit && pc < limit);
  const bool waits = !counts.at_limit && !counts.moved;
  if (ahead && (any_ahead || waits)) keeper.turn_ends(waits);
}

template <bool Checked, bool InTime>
[[gnu::always_inline]] inline void Cta::run_part(Context& context, uint32_t limit, uint32_t& pc,
                                                 Counts& counts) {
  if constexpr (InTime)
    run_in_time<Checked>(context, limit, pc, counts);
  else if (cluster.counted() == nullptr) [[likely]]
    run_ops<Checked>(context, limit, pc, counts);
  else
    run_counted<Checked>(context, limit, pc, counts);
}

// As run_ops, but for telling of stops: nothing else may come of being watched.
template <bool Checked, bool InTime>
[[gnu::noinline]] void Cta::run_to_stops(Context& context, uint32_t limit, uint32_t& pc, Counts& counts) {
  do {
    arrive(context, pc, counts.instructions);
    const uint64_t before = counts.instructions;
    counts.at_limit = false;
    run_part<Checked, InTime>(context, std::min(limit, next_stop(context, pc + 1)), pc, counts);
    if (counts.instructions != before && !counts.moved)
      context.warp.splits[context.split_index].told_at = machine::Split::kNotTold;
  } while (counts.at_limit && pc < limit);
}

// Under a timekeeper thousands of warps wait for their turns. One that will only end needs no registers any
// more: the next one gets them while the host has them at hand.
static void free_registers(Warp& warp, const isa::Program& program) {
  if (warp.splits.size() != 1 || warp.splits.front().activation.use_count() != 1) return;
  machine::Activation& activation = *warp.splits.front().activation;
  const std::vector<isa::Op>& code = program.functions[static_cast<size_t>(activation.function)].code;
  const isa::Op* op = &code[warp.splits.front().pc];
  if (op->kind == isa::OpKind::jump) op = &code[op->target];
  if (op->kind == isa::OpKind::leave && op->guard == 0 && activation.caller == nullptr)
    activation.rows = machine::Rows(0);
}

// `InTime`: for a timekeeper.
template <bool Checked, bool InTime>
void Cta::run_split(Warp& warp, size_t at, uint32_t limit) {
  if (warp.splits[at].activation == nullptr)
    warp.splits[at].activation = activate(grid.program.entry, warp, warp.exists, nullptr);
  Context context(*this, warp, at, Checked);
  uint32_t pc = warp.splits[at].pc;
  Counts counts;
  const auto leave = [&] {
    lane_instructions += counts.lanes;
    warp_instructions += counts.instructions;
    cluster.pass(counts.instructions);
  };
  try {
    if (grid.stops.empty())
      run_part<Checked, InTime>(context, limit, pc, counts);
    else
      run_to_stops<Checked, InTime>(context, limit, pc, counts);
  } catch (Fault& fault) {
    leave();
    warp.splits[at].pc = pc;
    if (fault.placed) throw;
    throw fault.at(called_place(warp, warp.splits[at], fault.lane));
  } catch (const machine::Unsupported& what) {
    warp.splits[at].pc = pc;
    if (what.placed) throw;
    throw machine::Unsupported(called_place(warp, warp.splits[at], -1), what.what());
  }
  if (!counts.moved) warp.splits[at].pc = pc;
  leave();
  if (InTime && grid.stops.empty() && grid.options.observers.empty() && grid.options.follow == nullptr)
    free_registers(warp, grid.program);
}

}  // namespace bitwell::run
