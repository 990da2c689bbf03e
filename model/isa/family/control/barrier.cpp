// The barriers of a CTA: bar and barrier (PTX ISA 9.0, 9.7.13.1).

#include "model/isa/family/emit.h"
#include "model/run/barrier_use.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;
using machine::Split;

namespace {

// For .aligned barriers: whether all threads of the warp that still run are here. If not, those that are wait
// for the others to come, or to end: an H200 goes on then, too, where they have passed the barrier by.
bool all_at_barrier(run::Context& context, uint32_t mask) {
  Split& split = context.split();
  if (const uint32_t again = split.passed_by & mask; again != 0)
    throw Fault(
        "a divergent barrier: this thread has passed it by once, where others of its warp have waited since",
        __builtin_ctz(again));
  if (mask == context.warp.live()) {
    split.passed_by = 0;
    return true;
  }
  if (const uint32_t others = split.mask & ~mask; others != 0) {  // by their guard
    run::take_lanes(context, mask).passed_by |= others;
    context.warp.splits.back().passed_by = 0;
  }
  context.split().wait = &run::kMeets;
  return false;
}

Next barrier(const Op& op, run::Context& context, uint32_t mask) {
  const auto& use = op.as<run::BarrierUse>();
  context.require_defined(op.a, mask, "a barrier's number");
  const int lane = __builtin_ctz(mask);
  const uint32_t number = context.row<uint32_t>(op.a)[lane];
  if (number > 15) throw Fault("barrier " + std::to_string(number) + ": barriers are 0 to 15", lane);
  for (int i = lane; i < kLanes; ++i)
    if ((mask >> i & 1) != 0 &&
        (context.row<uint32_t>(op.a)[i] != number ||
         (use.counted && context.row<uint32_t>(op.b)[i] != context.row<uint32_t>(op.b)[lane])))
      throw Fault("barrier numbers or counts differ between threads of a warp", i);
  if (use.aligned && !all_at_barrier(context, mask)) return Next::wait;
  uint32_t expected = 0;
  if (use.counted) {
    context.require_defined(op.b, mask, "a barrier's count");
    expected = context.row<uint32_t>(op.b)[lane];
    if (expected == 0 || expected % 32 != 0)
      throw Fault("barrier count " + std::to_string(expected) + " is not a positive multiple of 32", lane);
  }
  machine::CtaBarrier& b = context.cta.barriers[number];
  const bool under_way = (context.cta.barriers_under_way >> number & 1) != 0;
  if (under_way && b.expected != expected)
    throw Fault("barrier " + std::to_string(number) + " is used with count " + std::to_string(expected) +
                    " while " + std::to_string(b.expected) + " is under way",
                lane);
  const bool reduces = use.reduces();
  if (under_way && b.reduces != reduces)
    throw Fault(
        "barrier " + std::to_string(number) + " is used by bar.red and by bar.sync or bar.arrive at once",
        lane);
  b.reduces = reduces;
  if (reduces) {
    context.require_defined(op.c, mask, "a predicate");
    uint32_t p = *context.row<uint32_t>(op.c);
    if (use.negated) p = ~p;
    b.count_true += static_cast<uint32_t>(__builtin_popcount(p & mask));
    b.count_voted += static_cast<uint32_t>(__builtin_popcount(mask));
  }
  b.expected = expected;
  // A warp that has ended is no part of a barrier of all threads (PTX ISA 9.0, 9.7.12.5, exit); of an aligned
  // one all threads of a warp are.
  b.some_ended = b.some_ended || (use.aligned && context.warp.exited != 0);
  run::tell_synchronised(machine::Synchronisation::Kind::cta_arrived, context.cta, context.warp,
                         context.split(), mask, number, {}, expected);
  uint32_t& arrived = b.lanes[static_cast<size_t>(context.warp.index)];
  if ((arrived & mask) !=
      0) {  // these threads went round before the rest of their warp came: bar.arrive in a loop
    b.arrived += kLanes;
    arrived = 0;
  }
  arrived |= mask;
  context.cta.barriers_under_way |= 1u << number;
  if (use.kind == run::BarrierUse::Kind::arrive) {
    context.cta.try_release(number);
    return Next::advance;
  }
  Split& split = run::take_lanes(context, mask);
  split.wait = &run::kAtCtaBarrier;
  split.barrier = number;
  context.cta.try_release(number);
  return Next::moved;
}

// bar.sync a[, b]; barrier.sync; .arrive a, b; .red.op d, a[, b], [!]p
void bar(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(barrier, OpKind::barrier);
  run::BarrierUse use;
  const bool red = ptx::has(i, ".red");
  const bool arrive = ptx::has(i, ".arrive");
  use.kind = arrive ? run::BarrierUse::Kind::arrive : run::BarrierUse::Kind::sync;
  size_t next = 0;
  const size_t operands = b.operand_count();
  bool negated = false;
  if (red) {
    use.kind = ptx::has(i, ".popc")  ? run::BarrierUse::Kind::red_popc
               : ptx::has(i, ".and") ? run::BarrierUse::Kind::red_and
                                     : run::BarrierUse::Kind::red_or;
    if (operands < 3 || operands > 4) throw Invalid("'" + m.name + "' takes 3 or 4 operands");
    if (use.kind == run::BarrierUse::Kind::red_popc)
      op.d = b.destination(b.operand(next++), b.type(".u32")).row;
    else
      op.d = b.predicate(b.operand(next++), true, negated).row;
    op.c = b.predicate(b.operand(operands - 1), false, negated).row;
  } else if (operands < (arrive ? 2u : 1u) || operands > 2) {
    throw Invalid("'" + m.name + "' takes " + (arrive ? "2" : "1 or 2") + " operands");
  }
  if (b.operand(next).kind == ptx::OperandKind::integer && b.operand(next).integer > 15)
    throw Invalid("barrier " + std::to_string(b.operand(next).integer) + ": barriers are 0 to 15");
  op.a = b.source(b.operand(next++), b.type(".u32")).row;
  if (next < operands - (red ? 1 : 0)) {
    need_range(b.operand(next), arrive ? 32 : 0, UINT64_MAX, 32, "a barrier's count");
    op.b = b.source(b.operand(next), b.type(".u32")).row;
    use.counted = true;
  }
  use.aligned = i.opcode == "bar" || ptx::has(i, ".aligned");
  use.negated = negated;
  b.payload(op, use);
  b.emit(op);
}

constexpr Form kBarrier[] = {
    {"bar[.cta]{.sync,.arrive}|", "*", bar},
    {"bar[.cta].red|.popc.u32", "*", bar},
    {"bar[.cta].red|{.and,.or}.pred", "*", bar},
    {"barrier[.cta]|.sync[.aligned]", "*", bar, 60},
    {"barrier[.cta].arrive|[.aligned]", "*", bar, 60},
    {"barrier[.cta].red|.popc[.aligned].u32", "*", bar, 60},
    {"barrier[.cta].red|{.and,.or}[.aligned].pred", "*", bar, 60},
};

}  // namespace

std::span<const Form> barrier_forms() { return kBarrier; }

}  // namespace bitwell::isa
