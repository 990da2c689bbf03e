// mbarrier instructions: one lane after the other on the barriers of the cluster's shared memories.
#include <utility>

#include "model/isa/cluster.h"
#include "model/isa/effects.h"
#include "model/isa/shared_place.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

bool waits(MbarrierAction a) { return a >= MbarrierAction::test_state; }

// The parity of the phase that b names.
uint32_t awaited(const Op& op, Context& context, int lane, MbarrierAction action) {
  if (action != MbarrierAction::test_parity && action != MbarrierAction::try_parity)
    return machine::decode_mbarrier(context.row<uint64_t>(op.b)[lane]).parity;
  const uint32_t parity = context.row<uint32_t>(op.b)[lane];
  if (parity > 1) throw Fault("phase parity " + std::to_string(parity) + ", it must be 0 or 1", lane);
  return parity;
}

Next wait(const Op& op, Context& context, uint32_t mask, MbarrierAction action) {
  uint32_t result = 0;
  uint64_t waited_for = 0;
  uint32_t parity = 0;
  bool one = true;  // all lanes look at one barrier
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const SharedPlace place = shared_place(op, context, lane, 8, 8, true);
    parity = awaited(op, context, lane, action);
    if (place.cta->mbarriers.phase_over(place.address, parity)) result |= 1u << lane;
    one = one && (waited_for == 0 || waited_for == place.address + 1);
    waited_for = place.address + 1;
  }
  Cluster& cluster = context.cta.cluster;
  cluster.yield();
  const auto remember = [&](machine::Split& split, uint64_t which, uint32_t awaited_parity) {
    if (split.mbarrier != which)
      split.mbarrier_phase = cluster.cta_of(which - 1)->mbarriers.all().at(which - 1).phases;
    split.mbarrier = which;
    split.mbarrier_parity = awaited_parity;
  };
  const bool may_wait = action >= MbarrierAction::try_state;
  // Some threads of a split may be through: they go on, and the others come back.
  const bool gives_up = std::exchange(context.split().times_out, false);
  if (result == 0 && may_wait && one && !gives_up && !cluster.times_out()) {
    machine::Split& split = take_lanes(context, mask);
    remember(split, waited_for, parity);
    split.wait = machine::Wait::mbarrier;
    return Next::moved;
  }
  machine::Split& split = context.split();
  if (result == 0 && one)
    remember(split, waited_for, parity);  // for a report, should it never pass
  else
    split.mbarrier = 0;
  if (result != 0 && one) {
    machine::WaitsPassed& passed = context.warp.waits_passed[waited_for - 1];
    passed = {passed.count + 1, parity, context.cta.line(context.split()).ptx};
  }
  auto* d = context.row<uint32_t>(op.d);
  *d = (*d & ~mask) | result;
  context.set_defined(op.d, mask);
  return Next::advance;
}

// Returns whether a phase ended.
bool change(const Op& op, Context& context, int lane, const SharedPlace& place, MbarrierAction action) {
  machine::Mbarriers& barriers = place.cta->mbarriers;
  const uint64_t at = place.address;
  const uint32_t n = context.row<uint32_t>(op.b)[lane];
  const machine::MbarrierHistory::Arriver who{context.cta.rank, context.warp.index,
                                              context.cta.line(context.split()).ptx};
  switch (action) {
    case MbarrierAction::init:
      barriers.init(at, n, context.cta.place(context.warp, context.split(), lane));
      return false;
    case MbarrierAction::inval: barriers.inval(at); return false;
    case MbarrierAction::expect: return barriers.expect(at, n);
    case MbarrierAction::complete: return barriers.complete(at, n);
    case MbarrierAction::arrive: return barriers.arrive(at, n, who);
    case MbarrierAction::drop: return barriers.arrive_drop(at, n, who);
    case MbarrierAction::arrive_expect: {
      const bool over = barriers.expect(at, n);
      return barriers.arrive(at, 1, who) || over;
    }
    case MbarrierAction::drop_expect: {
      const bool over = barriers.expect(at, n);
      return barriers.arrive_drop(at, 1, who) || over;
    }
    case MbarrierAction::arrive_no_complete: barriers.arrive_no_complete(at, n, false, who); return false;
    case MbarrierAction::drop_no_complete: barriers.arrive_no_complete(at, n, true, who); return false;
    default: throw machine::ModelBug("mbarrier action");
  }
}

}  // namespace

Next mbarrier(const Op& op, Context& context, uint32_t mask) {
  const auto action = static_cast<MbarrierAction>(op.target);
  context.require_defined(op.a, mask, "an address");
  context.require_defined(op.b, mask, "an mbarrier's operand");
  if (waits(action)) return wait(op, context, mask, action);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const bool returns = op.d != kSink;
    const bool own = returns || action == MbarrierAction::init || action == MbarrierAction::inval;
    const SharedPlace place = shared_place(op, context, lane, 8, 8, own);
    try {
      if (returns) {
        context.row<uint64_t>(op.d)[lane] = place.cta->mbarriers.state(place.address);
        context.set_defined(op.d, 1u << lane);
      }
      if (change(op, context, lane, place, action)) context.cta.cluster.wake_mbarrier(place.address);
    } catch (const Fault& fault) {
      if (fault.placed || fault.lane >= 0) throw;
      throw Fault(fault.what(), lane);
    }
  }
  context.cta.cluster.change();
  context.cta.cluster.yield();
  return Next::advance;
}

void pending_count_lanes(const Op& op, std::byte* rows, uint32_t mask) {
  auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
  const auto* a = reinterpret_cast<const uint64_t*>(rows + op.a);
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) d[i] = machine::decode_mbarrier(a[i]).pending;
}

}  // namespace bitwell::isa
