// Collectives of a warp: shfl, vote, match, redux, elect, bar.warp (PTX ISA 9.0, 9.7.9.7, 9.7.13).
#include <algorithm>
#include <cstring>

#include "model/isa/family/atomic_update.h"
#include "model/isa/family/emit.h"
#include "model/run/context.h"
#include "model/run/definedness.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;
using machine::Wait;

namespace {

enum class ShuffleMode : uint8_t { up, down, bfly, idx };
struct ShuffleUse : Payload {
  ShuffleMode mode{};
};
enum class VoteMode : uint8_t { all, any, uni, ballot };
struct VoteUse : Payload {
  VoteMode mode{};
  bool negated = false;
};
struct MatchUse : Payload {
  bool all = false;
  int size = 0;  // bytes of a lane's value
};
struct ReduceUse : Payload {
  AtomicOperation operation{};
  bool is_signed = false;
};

// The lanes of `mask` whose member mask is the lowest lane's.
struct Group {
  uint32_t lanes;
  uint32_t members;
};
Group first_group(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.e, mask, "a member mask");
  const auto* row = context.row<uint32_t>(op.e);
  Group out{0, row[__builtin_ctz(mask)]};
  for (int i = 0; i < kLanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    if ((row[i] >> i & 1) == 0) throw Fault("the member mask does not name the thread that executes it", i);
    if (row[i] == out.members) out.lanes |= 1u << i;
  }
  return out;
}

// Performs a collective for every group of lanes with one member mask whose members are all here. The others
// stay and wait. Threads that have exited are not waited for.
using Collective = void (*)(const Op& op, Context& context, uint32_t group);
Next by_members(const Op& op, Context& context, uint32_t mask, Collective perform) {
  uint32_t through = 0;
  for (uint32_t rest = mask; rest != 0;) {
    const Group group = first_group(op, context, rest);
    rest &= ~group.lanes;
    if ((group.members & context.warp.live() & ~group.lanes) != 0) continue;
    perform(op, context, group.lanes);
    through |= group.lanes;
  }
  if (through == mask) return Next::advance;
  if (through == 0) {
    context.split().wait = Wait::converge;
    return Next::wait;
  }
  machine::Split rest = context.split();
  rest.mask = mask & ~through;
  rest.wait = Wait::converge;
  take_lanes(context, mask);
  context.split().mask = through;
  ++context.split().pc;
  context.warp.splits.push_back(std::move(rest));
  return Next::moved;
}

void set_predicate(Context& context, uint32_t row, uint32_t value, uint32_t mask, uint32_t known) {
  uint32_t* d = context.row<uint32_t>(row);
  *d = (*d & ~mask) | (value & mask);
  context.set_known(row, mask, known);
}

Next warp_barrier(const Op& op, Context& context, uint32_t mask) {
  const Group group = first_group(op, context, mask);
  if (group.lanes == mask && (group.members & context.warp.live() & ~mask) == 0) return Next::advance;
  // Members may meet at different bar.warp.sync instructions.
  machine::Split& split = take_lanes(context, mask);
  split.mask = group.lanes;
  split.wait = Wait::warp_barrier;
  split.members = group.members;
  if (group.lanes != mask) {  // the others stay here and come again
    machine::Split rest = split;
    rest.mask = mask & ~group.lanes;
    rest.wait = Wait::none;
    context.warp.splits.push_back(std::move(rest));
  }
  Cta::try_release_warp(context.warp);
  return Next::moved;
}

// shfl.sync: c holds the clamp value (bits 4..0) and the segment mask (bits 12..8).
void perform_shuffle(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.b, mask, "a shuffle's lane");
  context.require_defined(op.c, mask, "a shuffle's clamp");
  uint32_t a[kLanes];
  std::memcpy(a, context.row<uint32_t>(op.a), sizeof a);
  const auto* b = context.row<uint32_t>(op.b);
  const auto* c = context.row<uint32_t>(op.c);
  uint32_t result[kLanes];
  const uint32_t a_known = context.defined_at(op.a);
  uint32_t in_range = 0;
  uint32_t known = 0;
  int source[kLanes];
  const auto mode = op.as<ShuffleUse>().mode;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int value = static_cast<int>(b[lane] & 31);
    const int clamp = static_cast<int>(c[lane] & 31);
    const int segment = static_cast<int>(c[lane] >> 8 & 31);
    const int max_lane = (lane & segment) | (clamp & ~segment);
    const int min_lane = lane & segment;
    int from = 0;
    bool valid = false;
    switch (mode) {
      case ShuffleMode::up:
        from = lane - value;
        valid = from >= max_lane;
        break;
      case ShuffleMode::down:
        from = lane + value;
        valid = from <= max_lane;
        break;
      case ShuffleMode::bfly:
        from = lane ^ value;
        valid = from <= max_lane;
        break;
      case ShuffleMode::idx:
        from = min_lane | (value & ~segment);
        valid = from <= max_lane;
        break;
    }
    if (!valid) from = lane;
    in_range |= static_cast<uint32_t>(valid) << lane;
    source[lane] = from & 31;
    result[lane] = a[from & 31];
    // A source lane that does not take part gives an undefined value.
    if ((mask >> (from & 31) & 1) != 0) known |= (a_known >> (from & 31) & 1) << lane;
  }
  // What the source lanes lack, before a destination that is the source changes it.
  LaneBits unknown[kLanes];
  for (uint32_t lanes = context.checked ? mask & ~known : 0; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    const bool there = (mask >> source[lane] & 1) != 0;
    unknown[lane] = there ? unknown_of(context, op.a, source[lane], 4) : LaneBits{~uint32_t{0}, 0};
  }
  auto* d = context.row<uint32_t>(op.d);
  for (int lane = 0; lane < kLanes; ++lane) d[lane] = (mask >> lane & 1) != 0 ? result[lane] : d[lane];
  context.set_defined(op.d, mask & known);
  for (uint32_t lanes = context.checked ? mask & ~known : 0; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    machine::Origin from;
    from.kind = machine::Origin::Kind::shuffle;
    from.ptx_line = context.cta.line(context.split()).ptx;
    from.lane = source[lane];
    set_unknown(context, op.d, lane, 4, unknown[lane], from);
  }
  set_predicate(context, op.d2, in_range, mask, mask);
}
Next shuffle(const Op& op, Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_shuffle);
}

void perform_vote(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a vote's predicate");
  uint32_t p = *context.row<uint32_t>(op.a);
  if (op.as<VoteUse>().negated) p = ~p;
  p &= mask;
  const auto mode = op.as<VoteUse>().mode;
  if (mode == VoteMode::ballot) {
    auto* d = context.row<uint32_t>(op.d);
    for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? p : d[i];
    context.set_defined(op.d, mask);
    return;
  }
  const bool all = p == mask;
  const bool result = mode == VoteMode::all ? all : mode == VoteMode::any ? p != 0 : all || p == 0;
  set_predicate(context, op.d, result ? ~0u : 0u, mask, mask);
}
Next vote(const Op& op, Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_vote);
}

void perform_match_lanes(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a match's value");
  uint64_t value[kLanes];
  for (int i = 0; i < kLanes; ++i)
    value[i] = op.as<MatchUse>().size == 8 ? context.row<uint64_t>(op.a)[i] : context.row<uint32_t>(op.a)[i];
  uint32_t same[kLanes] = {};
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < kLanes; ++j)
      if ((mask >> i & 1) != 0 && (mask >> j & 1) != 0 && value[i] == value[j]) same[i] |= 1u << j;
  auto* d = context.row<uint32_t>(op.d);
  bool all = true;
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) all = all && same[i] == mask;
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) d[i] = !op.as<MatchUse>().all ? same[i] : all ? mask : 0;
  context.set_defined(op.d, mask);
  set_predicate(context, op.d2, all ? ~0u : 0u, mask, mask);
}
Next match_lanes(const Op& op, Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_match_lanes);
}

void perform_reduce(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a reduction's value");
  const auto* a = context.row<uint32_t>(op.a);
  const auto& use = op.as<ReduceUse>();
  const auto less = [&](uint32_t x, uint32_t y) {
    return use.is_signed ? static_cast<int32_t>(x) < static_cast<int32_t>(y) : x < y;
  };
  uint32_t r = a[__builtin_ctz(mask)];
  for (int i = __builtin_ctz(mask) + 1; i < kLanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    switch (use.operation) {
      case AtomicOperation::add: r += a[i]; break;
      case AtomicOperation::min: r = less(a[i], r) ? a[i] : r; break;
      case AtomicOperation::max: r = less(r, a[i]) ? a[i] : r; break;
      case AtomicOperation::band: r &= a[i]; break;
      case AtomicOperation::bor: r |= a[i]; break;
      default: r ^= a[i]; break;
    }
  }
  auto* d = context.row<uint32_t>(op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? r : d[i];
  context.set_defined(op.d, mask);
}
Next reduce(const Op& op, Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_reduce);
}

Next active_mask(const Op& op, Context& context, uint32_t mask) {
  auto* d = context.row<uint32_t>(op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? mask : d[i];
  context.set_defined(op.d, mask);
  return Next::advance;
}

// elect.sync: the lowest lane of the member mask is elected; its number goes to d of all (PTX leaves the
// choice open).
void perform_elect(const Op& op, Context& context, uint32_t mask) {
  const auto leader = static_cast<uint32_t>(__builtin_ctz(mask));
  auto* d = context.row<uint32_t>(op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? leader : d[i];
  context.set_defined(op.d, mask);
  set_predicate(context, op.d2, 1u << leader, mask, mask);
}
Next elect(const Op& op, Context& context, uint32_t mask) {
  return by_members(op, context, mask, perform_elect);
}

void bar_warp(Builder& b, const Match&) {
  Op op = effect(warp_barrier);
  op.e = b.values()[0].row;
  b.emit(op);
}

// d or d|p
void pair_destination(Builder& b, Op& op, const Type& type, bool required) {
  const ptx::Operand& d = b.operand(0);
  bool negated = false;
  if (d.kind == ptx::OperandKind::pair) {
    op.d = b.destination(d.elements[0], type, false, true).row;
    op.d2 = b.predicate(d.elements[1], true, negated).row;
  } else {
    if (required) throw Invalid("a destination of the form d|p is needed");
    op.d = b.destination(d, type).row;
    op.d2 = b.new_predicate();
  }
}

void need(const Builder& b, const Match& m, size_t n) {
  if (b.operand_count() != n) throw Invalid("'" + m.name + "' takes " + std::to_string(n) + " operands");
}

void shfl(Builder& b, const Match& m) {
  need(b, m, 5);
  Op op = effect(shuffle, OpKind::collective);
  pair_destination(b, op, b.type(".b32"), false);
  op.a = b.source(b.operand(1), b.type(".b32")).row;
  op.b = b.source(b.operand(2), b.type(".b32")).row;
  op.c = b.source(b.operand(3), b.type(".b32")).row;
  op.e = b.source(b.operand(4), b.type(".b32")).row;
  b.payload<ShuffleUse>(op).mode = m.choice[0] == ".up"     ? ShuffleMode::up
                                   : m.choice[0] == ".down" ? ShuffleMode::down
                                   : m.choice[0] == ".bfly" ? ShuffleMode::bfly
                                                            : ShuffleMode::idx;
  b.emit(op);
}

void vote_form(Builder& b, const Match& m) {
  need(b, m, 3);
  Op op = effect(vote, OpKind::collective);
  const bool ballot = has(b.instruction(), ".ballot");
  bool negated = false;
  if (ballot)
    op.d = b.destination(b.operand(0), b.type(".b32")).row;
  else
    op.d = b.predicate(b.operand(0), true, negated).row;
  op.a = b.predicate(b.operand(1), false, negated).row;
  op.e = b.source(b.operand(2), b.type(".b32")).row;
  const VoteMode mode = ballot                  ? VoteMode::ballot
                        : m.choice[0] == ".all" ? VoteMode::all
                        : m.choice[0] == ".any" ? VoteMode::any
                                                : VoteMode::uni;
  auto& use = b.payload<VoteUse>(op);
  use.mode = mode;
  use.negated = negated;
  b.emit(op);
}

void match_form(Builder& b, const Match& m) {
  need(b, m, 3);
  Op op = effect(match_lanes, OpKind::collective);
  const bool all = m.choice[0] == ".all";
  const Type& type = b.type(m.choice[1]);
  if (!all && b.operand(0).kind == ptx::OperandKind::pair) throw Invalid("'match.any' has one destination");
  pair_destination(b, op, b.type(".u32"), false);
  op.a = b.source(b.operand(1), type).row;
  op.e = b.source(b.operand(2), b.type(".u32")).row;
  auto& use = b.payload<MatchUse>(op);
  use.size = type.bits / 8;
  use.all = all;
  b.emit(op);
}

void redux(Builder& b, const Match& m) {
  Op op = effect(reduce, OpKind::collective);
  op.d = b.values()[0].row;
  op.a = b.values()[1].row;
  op.e = b.values()[2].row;
  const std::string& o = m.choice[0];
  const AtomicOperation operation = o == ".add"   ? AtomicOperation::add
                                    : o == ".min" ? AtomicOperation::min
                                    : o == ".max" ? AtomicOperation::max
                                    : o == ".and" ? AtomicOperation::band
                                    : o == ".or"  ? AtomicOperation::bor
                                                  : AtomicOperation::bxor;
  auto& use = b.payload<ReduceUse>(op);
  use.operation = operation;
  use.is_signed = m.choice[1] == ".s32";
  b.emit(op);
}

void activemask(Builder& b, const Match&) {
  Op op = effect(active_mask);
  op.d = b.values()[0].row;
  b.emit(op);
}

void elect_form(Builder& b, const Match& m) {
  need(b, m, 2);
  Op op = effect(elect, OpKind::collective);
  pair_destination(b, op, b.type(".b32"), true);
  op.e = b.source(b.operand(1), b.type(".b32")).row;
  b.emit(op);
}

constexpr Form kWarp[] = {
    {"bar.warp.sync", "s:b32", bar_warp, 60},
    {"shfl.sync{.up,.down,.bfly,.idx}.b32", "*", shfl, 60},
    {"vote.sync{.all,.any,.uni}.pred", "*", vote_form, 60},
    {"vote.sync.ballot.b32", "*", vote_form, 60},
    {"match{.any,.all}.sync{.b32,.b64}", "*", match_form, 60},
    {"redux.sync{.add,.min,.max}{.u32,.s32}", "d:$2 s:$2 s:b32", redux, 70, 80},
    {"redux.sync{.and,.or,.xor}{.b32}", "d:b32 s:b32 s:b32", redux, 70, 80},
    {"activemask.b32", "d:b32", activemask, 62},
    {"elect.sync", "*", elect_form, 80, 90},
};

}  // namespace

std::span<const Form> warp_forms() { return kWarp; }

}  // namespace bitwell::isa
