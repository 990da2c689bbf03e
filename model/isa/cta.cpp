#include "model/isa/cta.h"

#include <algorithm>
#include <tuple>

#include "model/isa/effects.h"

namespace bitwell::isa {

using machine::Activation;
using machine::Fault;
using machine::kLanes;
using machine::Split;
using machine::Wait;
using machine::Warp;

namespace {

using machine::kQuantum;

uint32_t arrived(const machine::CtaBarrier& barrier) {
  uint32_t threads = barrier.arrived;
  for (const uint32_t lanes : barrier.lanes) threads += static_cast<uint32_t>(__builtin_popcount(lanes));
  return threads;
}

// Lanes whose result does not hang on an operand that was never written, for ops that choose among their
// operands.
uint32_t known_lanes(const Op& op, const std::byte* rows, const uint32_t* defined) {
  const auto bits = [&](uint32_t row) { return *reinterpret_cast<const uint32_t*>(rows + row); };
  const auto known = [&](uint32_t row) { return defined[row / machine::kRowBytes]; };
  const uint32_t a = known(op.a);
  const uint32_t b = known(op.b);
  switch (op.flags) {
    case kSelects: {
      const uint32_t choose = (op.imm & 4) != 0 ? ~bits(op.c) : bits(op.c);
      return known(op.c) & ((choose & a) | (~choose & b));
    }
    case kPredicateAnd: return (a & b) | (a & ~bits(op.a)) | (b & ~bits(op.b));
    default: return (a & b) | (a & bits(op.a)) | (b & bits(op.b));
  }
}

}  // namespace

Cta::Cta(Grid& g, std::array<uint32_t, 3> at)
    : grid(g),
      index(at),
      shared("shared memory", 0, g.program.dynamic_shared + g.shape.dynamic_shared, !g.options.checked) {
  const auto& b = g.shape.block;
  const uint32_t threads = b[0] * b[1] * b[2];
  warps.resize((threads + kLanes - 1) / kLanes);
  for (size_t w = 0; w < warps.size(); ++w) {
    warps[w].index = static_cast<int>(w);
    const uint32_t lanes = std::min<uint32_t>(threads - static_cast<uint32_t>(w) * kLanes, kLanes);
    warps[w].exists = lanes == kLanes ? ~0u : (1u << lanes) - 1;
    warps[w].splits.push_back(
        {activate(g.program.entry, warps[w], warps[w].exists, nullptr), 0, warps[w].exists});
  }
}

std::array<uint32_t, 3> Cta::thread_index(const Warp& warp, int lane) const {
  const auto& b = grid.shape.block;
  const uint32_t linear = static_cast<uint32_t>(warp.index * kLanes + lane);
  return {linear % b[0], linear / b[0] % b[1], linear / (b[0] * b[1])};
}

uint64_t Cta::special(Special s, const Warp& warp, int lane, const Activation& activation) const {
  const auto tid = thread_index(warp, lane);
  const auto& shape = grid.shape;
  const auto at = [&](const std::array<uint32_t, 3>& v, Special first) {
    return v[static_cast<size_t>(s) - static_cast<size_t>(first)];
  };
  if (s <= Special::tid_z) return at(tid, Special::tid_x);
  if (s <= Special::ntid_z) return at(shape.block, Special::ntid_x);
  if (s <= Special::ctaid_z) return at(index, Special::ctaid_x);
  if (s <= Special::nctaid_z) return at(shape.grid, Special::nctaid_x);
  const uint32_t bit = 1u << lane;
  switch (s) {
    case Special::laneid: return static_cast<uint32_t>(lane);
    case Special::warpid: return static_cast<uint32_t>(warp.index);
    case Special::nwarpid: return 64;
    case Special::smid:
    case Special::gridid: return 0;
    case Special::nsmid: return 1;
    case Special::lanemask_eq: return bit;
    case Special::lanemask_le: return bit | (bit - 1);
    case Special::lanemask_lt: return bit - 1;
    case Special::lanemask_ge: return ~(bit - 1);
    case Special::lanemask_gt: return ~(bit | (bit - 1));
    case Special::clusterid_x:
    case Special::clusterid_y:
    case Special::clusterid_z: return at(index, Special::clusterid_x);
    case Special::nclusterid_x:
    case Special::nclusterid_y:
    case Special::nclusterid_z: return at(shape.grid, Special::nclusterid_x);
    case Special::cluster_nctaid_x:
    case Special::cluster_nctaid_y:
    case Special::cluster_nctaid_z:
    case Special::cluster_nctarank: return 1;  // launches with a larger cluster are refused
    case Special::total_smem_size:
    case Special::aggr_smem_size: return shared.size();
    case Special::dynamic_smem_size: return shape.dynamic_shared;
    case Special::local_base: return activation.local_base;
    default: return 0;  // ranks and indices in a cluster of one
  }
}

std::shared_ptr<Activation> Cta::activate(int function, Warp& warp, uint32_t mask,
                                          std::shared_ptr<Activation> caller) {
  const Function& f = grid.program.functions[static_cast<size_t>(function)];
  auto activation = std::make_shared<Activation>(function, f.rows);
  if (caller != nullptr) {
    const Function& up = grid.program.functions[static_cast<size_t>(caller->function)];
    activation->local_base = (caller->local_base + up.local_size + 15) & ~15u;
    activation->depth = caller->depth + 1;
    if (activation->depth > 8192) throw Fault("8192 calls deep: endless recursion?");
  }
  activation->caller = std::move(caller);
  const size_t top = activation->local_base + f.local_size;
  if (top > 512u << 10) throw Fault("the local stack passes 512 KiB a thread: endless recursion?");
  std::byte* rows = activation->rows.data();
  uint32_t* defined = activation->rows.defined();
  const auto put = [&](uint32_t row, int bits, int lane, uint64_t value) {
    const size_t bytes = static_cast<size_t>(std::max(bits, 16)) / 8;
    std::memcpy(rows + row + bytes * static_cast<size_t>(lane), &value, std::min<size_t>(bytes, 8));
  };
  for (const uint32_t r : {kSink, kZero, kZero + 128}) defined[r / machine::kRowBytes] = ~0u;
  for (const ConstantRow& c : f.constants) {
    for (int lane = 0; lane < kLanes; ++lane) put(c.row, c.bits, lane, c.value);
    defined[c.row / machine::kRowBytes] = ~0u;
  }
  for (const SpecialRow& s : f.specials) {
    for (int lane = 0; lane < kLanes; ++lane)
      put(s.row, s.bits, lane, special(s.special, warp, lane, *activation));
    defined[s.row / machine::kRowBytes] = ~0u;
  }
  for (int lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0 && warp.local[static_cast<size_t>(lane)].size() < top) {
      warp.local[static_cast<size_t>(lane)].resize(top);
      warp.local_defined[static_cast<size_t>(lane)].resize(top);
    }
  // A new frame's bytes were never written, whatever an earlier call left there.
  for (int lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0 && f.local_size != 0)
      std::fill_n(warp.local_defined[static_cast<size_t>(lane)].begin() + activation->local_base,
                  f.local_size, uint8_t{0});
  return activation;
}

const Op& Cta::op_at(const Split& split) const {
  return grid.program.functions[static_cast<size_t>(split.activation->function)].code[split.pc];
}

machine::Place Cta::place(const Warp& warp, const Split& split, int lane) const {
  const Function& f = grid.program.functions[static_cast<size_t>(split.activation->function)];
  const Line& line = f.lines[static_cast<size_t>(f.code[split.pc].line)];
  const int active = split.mask != 0 ? __builtin_ctz(split.mask) : 0;
  return {line.ptx, line.source, index, thread_index(warp, lane >= 0 ? lane : active), true};
}

void Cta::run() {
  for (;;) {
    bool progress = false;
    bool alive = false;
    barrier_changed = false;
    for (Warp& warp : warps) {
      if (warp.splits.empty()) continue;
      progress = run_warp(warp) || progress;
      alive = alive || !warp.splits.empty();
    }
    if (!alive) return;
    if (!progress && !barrier_changed) report_deadlock();
  }
}

// The split to run next: deepest call first, so that callees return to where the others wait; then the
// longest without a turn; then the lowest pc, which is earliest in reverse post-order. splits.size() if none
// can run.
size_t Cta::choose(const Warp& warp) const {
  size_t best = warp.splits.size();
  for (size_t i = 0; i < warp.splits.size(); ++i) {
    const Split& s = warp.splits[i];
    if (s.wait != Wait::none) continue;
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

// Splits that stand at the same instruction of the same call become one, which then tries again what it
// waited for.
void Cta::merge(Warp& warp) {
  auto& splits = warp.splits;
  for (size_t i = 0; i < splits.size(); ++i)
    for (size_t j = i + 1; j < splits.size();) {
      const bool meet = splits[i].pc == splits[j].pc && splits[i].activation == splits[j].activation &&
                        (splits[i].wait == Wait::none || splits[i].wait == Wait::converge) &&
                        (splits[j].wait == Wait::none || splits[j].wait == Wait::converge);
      if (!meet) {
        ++j;
        continue;
      }
      splits[i].mask |= splits[j].mask;
      splits[i].wait = Wait::none;
      splits[i].turn = std::max(splits[i].turn, splits[j].turn);
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
    progress = true;
    uint32_t limit = UINT32_MAX;
    for (size_t i = 0; i < warp.splits.size(); ++i)
      if (i != at && warp.splits[i].activation == warp.splits[at].activation &&
          warp.splits[i].pc > warp.splits[at].pc)
        limit = std::min(limit, warp.splits[i].pc);
    if (grid.options.checked)
      run_split<true>(warp, at, limit);
    else
      run_split<false>(warp, at, limit);
    if (warp_instructions > grid.options.step_limit)
      throw Fault(warp.splits.empty() ? machine::Place{} : place(warp, warp.splits[0], -1),
                  "no end after " + std::to_string(grid.options.step_limit) +
                      " warp instructions of this CTA: it hangs, or the step limit is too low");
  }
}

template <bool Checked>
void Cta::run_split(Warp& warp, size_t at, uint32_t limit) {
  Context context(*this, warp, at, Checked);
  const Op* code =
      grid.program.functions[static_cast<size_t>(warp.splits[at].activation->function)].code.data();
  std::byte* rows = context.rows();
  uint32_t* defined = context.defined();
  const auto defined_row = [&](uint32_t offset) -> uint32_t& { return defined[offset / machine::kRowBytes]; };
  uint32_t pc = warp.splits[at].pc;
  const uint32_t active = warp.splits[at].mask;
  // Back edges, divergent branches and calls use up the split's turn; with none left, the others go first.
  const auto spend = [&](Split& split) {
    if (--split.budget != 0) return false;
    split.budget = kQuantum;
    split.turn = ++clock_;
    return true;
  };
  uint64_t lanes = 0;
  uint64_t instructions = 0;
  const auto leave = [&] {
    lane_instructions += lanes;
    warp_instructions += instructions;
  };
  try {
    for (; pc != limit;) {
      const Op& op = code[pc];
      uint32_t mask = active;
      if (op.guard != 0) {
        const uint32_t predicate = *reinterpret_cast<const uint32_t*>(rows + op.guard);
        if constexpr (Checked)
          if (const uint32_t missing = active & ~defined_row(op.guard); missing != 0)
            throw Fault("the guard predicate was never written", __builtin_ctz(missing));
        mask &= op.guard_negated ? ~predicate : predicate;
      }
      if (op.kind == OpKind::lanes) {
        if (mask != 0) {
          op.lanes(op, rows, mask);
          if constexpr (Checked) {
            uint32_t known = defined_row(op.a) & defined_row(op.b) & defined_row(op.c) & defined_row(op.e);
            if (op.flags != 0) known = known_lanes(op, rows, defined);
            if (op.sources != nullptr)
              for (const uint32_t r : *op.sources) known &= defined_row(r);
            const auto set = [&](uint32_t r) { defined_row(r) = (defined_row(r) & ~mask) | (known & mask); };
            set(op.d);
            set(op.d2);
            defined_row(kSink) = ~0u;
            if (op.results != nullptr)
              for (const uint32_t r : *op.results) set(r);
          }
        }
        lanes += static_cast<uint64_t>(__builtin_popcount(mask));
        ++instructions;
        ++pc;
        continue;
      }
      if (op.kind == OpKind::jump || op.kind == OpKind::branch) {
        if (op.kind == OpKind::branch) {
          lanes += static_cast<uint64_t>(__builtin_popcount(mask));
          ++instructions;
        }
        if (mask == 0) {
          ++pc;
          continue;
        }
        if (mask == active) {
          const bool back = op.target <= pc;
          pc = op.target;
          if (back && spend(warp.splits[at])) break;
          if (pc > limit) break;  // passed another split: choose again
          continue;
        }
        spend(warp.splits[at]);
        Split taken = warp.splits[at];
        taken.pc = op.target;
        taken.mask = mask;
        warp.splits[at].mask &= ~mask;
        warp.splits[at].pc = pc + 1;
        warp.splits.push_back(std::move(taken));
        leave();
        return;
      }
      if (mask == 0) {
        ++instructions;
        ++pc;
        continue;
      }
      warp.splits[at].pc = pc;
      if (op.effect == call || op.kind == OpKind::table) spend(warp.splits[at]);
      const Next next = op.effect(op, context, mask);
      if (next == Next::wait) break;
      lanes += static_cast<uint64_t>(__builtin_popcount(mask));
      ++instructions;
      if (next == Next::moved) {
        leave();
        return;
      }
      ++pc;
    }
  } catch (Fault& fault) {
    leave();
    warp.splits[at].pc = pc;
    if (fault.placed) throw;
    throw Fault(place(warp, warp.splits[at], fault.lane), fault.what());
  }
  warp.splits[at].pc = pc;
  leave();
}

void Cta::try_release(uint32_t number) {
  machine::CtaBarrier& barrier = barriers[number];
  // A warp has arrived when every thread of it that still runs has.
  for (const Warp& w : warps) {
    uint32_t& lanes = barrier.lanes[static_cast<size_t>(w.index)];
    if (lanes == 0 || (w.live() & ~lanes) != 0) continue;
    lanes = 0;
    barrier.arrived += kLanes;
  }
  if (barrier.arrived == 0) return;
  uint32_t expected = barrier.expected;
  if (expected == 0)
    for (const Warp& w : warps)
      if (w.live() != 0) expected += kLanes;
  if (barrier.arrived < expected) return;
  const bool all = barrier.count_true == barrier.count_voted;
  const bool any = barrier.count_true != 0;
  const uint32_t count = barrier.count_true;
  barrier = {};
  barrier_changed = true;
  for (Warp& w : warps)
    for (Split& s : w.splits) {
      if (s.wait != Wait::cta_barrier || s.barrier != number) continue;
      const Op& op = op_at(s);
      auto* rows = s.activation->rows.data();
      if (op.d != kSink) {  // bar.red
        const uint32_t kind = op.imm & 0xFF;
        if (kind == 2) {
          for (int lane = 0; lane < kLanes; ++lane)
            if ((s.mask >> lane & 1) != 0) reinterpret_cast<uint32_t*>(rows + op.d)[lane] = count;
        } else {
          auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
          const bool value = kind == 3 ? all : any;
          *d = (*d & ~s.mask) | (value ? s.mask : 0);
        }
        s.activation->rows.defined()[op.d / machine::kRowBytes] |= s.mask;
      }
      ++s.pc;
      s.wait = Wait::none;
    }
}

void Cta::try_release_warp(Warp& warp) {
  for (const Split& s : warp.splits) {
    if (s.wait != Wait::warp_barrier) continue;
    uint32_t together = 0;
    for (const Split& other : warp.splits)
      if (other.wait == Wait::warp_barrier && other.members == s.members) together |= other.mask;
    if ((s.members & warp.live() & ~together) != 0) continue;
    const uint32_t members = s.members;
    for (Split& other : warp.splits)
      if (other.wait == Wait::warp_barrier && other.members == members) {
        other.wait = Wait::none;
        ++other.pc;
      }
    return try_release_warp(warp);
  }
}

void Cta::report_deadlock() {
  std::string text = "deadlock: nothing can run";
  int shown = 0;
  machine::Place first;
  for (const Warp& w : warps)
    for (const Split& s : w.splits) {
      const Function& f = grid.program.functions[static_cast<size_t>(s.activation->function)];
      const Line& line = f.lines[static_cast<size_t>(op_at(s).line)];
      if (shown == 0) first = place(w, s, -1);
      if (++shown > 8) continue;
      text += "\n  warp " + std::to_string(w.index) + ", " + std::to_string(__builtin_popcount(s.mask)) +
              " of " + std::to_string(__builtin_popcount(w.live())) + " threads, waits at PTX line " +
              std::to_string(line.ptx) + " '" + line.text + "'";
      if (s.wait == Wait::cta_barrier)
        text += " on barrier " + std::to_string(s.barrier) + ": " +
                std::to_string(arrived(barriers[s.barrier])) + " threads arrived of " +
                (barriers[s.barrier].expected == 0 ? "all" : std::to_string(barriers[s.barrier].expected));
      else
        text += " for the other threads that its member mask names";
    }
  if (shown > 8) text += "\n  and " + std::to_string(shown - 8) + " more";
  throw Fault(first, text);
}

}  // namespace bitwell::isa
