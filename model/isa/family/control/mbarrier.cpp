// mbarrier instructions: one lane after the other on the barriers of the cluster's shared memories
// (PTX ISA 9.0, 9.7.13.15).
#include <utility>

#include "model/isa/family/emit.h"
#include "model/isa/family/tensor/tensor_unit.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/port.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

constexpr run::WaitKind kAtMbarrier{.why = run::polled_memory, .polls = true, .gives_up = true};

enum class MbarrierAction : uint8_t {
  init,                // b count
  inval,               //
  expect,              // b bytes
  complete,            // b bytes
  arrive,              // b count; d state
  arrive_expect,       // b bytes; d state
  drop,                // b count; d state
  drop_expect,         // b bytes; d state
  arrive_no_complete,  // b count; d state
  drop_no_complete,    // b count; d state
  test_state,          // b state; predicate d
  test_parity,         // b parity; predicate d
  try_state,           // the same, and may wait
  try_parity
};
struct MbarrierUse : AddressUse {
  MbarrierAction action{};
};

bool waits(MbarrierAction a) { return a >= MbarrierAction::test_state; }

// The parity of the phase that b names.
uint32_t awaited(const Op& op, run::Context& context, int lane, MbarrierAction action) {
  if (action != MbarrierAction::test_parity && action != MbarrierAction::try_parity)
    return machine::decode_mbarrier(context.row<uint64_t>(op.b)[lane]).parity;
  const uint32_t parity = context.row<uint32_t>(op.b)[lane];
  // Its lowest bit is all that ptxas hands on to sm_90 and sm_100.
  if (parity > 1)
    context.note(lane,
                 "phase parity " + std::to_string(parity) + ": it must be 0 or 1, its lowest bit counts");
  return parity & 1;
}

// Whether all of `mask` have the value of the first.
template <class T>
bool alike(run::Context& context, uint32_t row, uint32_t mask) {
  const T* values = context.row<T>(row);
  const T first = values[__builtin_ctz(mask)];
  for (uint32_t lanes = mask & (mask - 1); lanes != 0; lanes &= lanes - 1)
    if (values[__builtin_ctz(lanes)] != first) return false;
  return true;
}

// Whether one lane's look is that of all, and nobody is to be told of each.
bool look_alike(const Op& op, run::Context& context, uint32_t mask, MbarrierAction action) {
  if (context.cta.cluster.each_access_watched()) return false;
  const bool at_one = op.as<MbarrierUse>().narrow ? alike<uint32_t>(context, op.a, mask)
                                                  : alike<uint64_t>(context, op.a, mask);
  if (action != MbarrierAction::test_parity && action != MbarrierAction::try_parity)
    return at_one && alike<uint64_t>(context, op.b, mask);
  // Of a parity that is none each lane has a note of its own.
  return at_one && alike<uint32_t>(context, op.b, mask) &&
         context.row<uint32_t>(op.b)[__builtin_ctz(mask)] <= 1;
}

Next look(const Op& op, run::Context& context, uint32_t mask, MbarrierAction action) {
  const bool for_all = look_alike(op, context, mask, action);
  uint32_t result = 0;
  uint64_t waited_for = 0;
  uint32_t parity = 0;
  bool one = true;       // all lanes look at one barrier
  uint32_t through = 0;  // lanes that saw a phase of that one over, and of whom nobody was told yet
  const auto tell_passed = [&] {
    if (through != 0)
      run::tell_synchronised(machine::Synchronisation::Kind::mbarrier_passed, context.cta, context.warp,
                             context.split(), through, waited_for - 1, op.as<MbarrierUse>().order);
    through = 0;
  };
  for (uint32_t lanes = for_all ? mask & -mask : mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint32_t looks = for_all ? mask : 1u << lane;
    const run::SharedPlace place = run::shared_place(op.as<MbarrierUse>(), op.a, context, lane, 8, 8, true);
    parity = awaited(op, context, lane, action);
    if (waited_for != 0 && waited_for != place.address + 1) {
      tell_passed();
      one = false;
    }
    waited_for = place.address + 1;
    const run::Port port(context, lane, op.as<MbarrierUse>().order);
    machine::Mbarriers& barriers =
        for_all ? port.mbarriers_of_all(mask, place) : port.mbarriers(machine::AccessKind::read, place);
    if (barriers.phase_over(place.address, parity)) {
      result |= looks;
      through |= looks;
      if (TensorUnit* const unit = context.cta.families.find<TensorUnit>())
        unit->wait_passed(context.warp.index, place.address);
    }
  }
  tell_passed();
  run::Cluster& cluster = context.cta.cluster;
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
    machine::Split& split = run::take_lanes(context, mask);
    remember(split, waited_for, parity);
    split.wait = &kAtMbarrier;
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
bool change(const Op& op, run::Context& context, int lane, const run::SharedPlace& place,
            MbarrierAction action) {
  machine::Mbarriers& barriers = run::Port(context, lane, op.as<MbarrierUse>().order)
                                     .mbarriers(action == MbarrierAction::init ? machine::AccessKind::write
                                                                               : machine::AccessKind::update,
                                                place);
  const uint64_t at = place.address;
  const uint32_t n = context.row<uint32_t>(op.b)[lane];
  const machine::MbarrierHistory::Arriver who{context.cta.rank, context.warp.index,
                                              context.cta.line(context.split()).ptx};
  switch (action) {
    case MbarrierAction::init:
      if (barriers.init(at, n, context.cta.place(context.warp, context.split(), lane)))
        context.note(
            lane, "mbarrier.init of a barrier that is live: it has the same count, and nothing has arrived");
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

Next mbarrier(const Op& op, run::Context& context, uint32_t mask) {
  const auto action = op.as<MbarrierUse>().action;
  context.require_defined(op.a, mask, "an address");
  context.require_defined(op.b, mask, "an mbarrier's operand");
  if (waits(action)) return look(op, context, mask, action);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const bool returns = op.d != kSink;
    const bool own = returns || action == MbarrierAction::init || action == MbarrierAction::inval;
    const run::SharedPlace place = run::shared_place(op.as<MbarrierUse>(), op.a, context, lane, 8, 8, own);
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

void need(const Builder& b, const Match& m, size_t least, size_t most) {
  if (b.operand_count() < least || b.operand_count() > most)
    throw Invalid("'" + m.name + "' takes " + std::to_string(least) +
                  (least == most ? "" : " to " + std::to_string(most)) + " operands");
}

// Arrivals release and waits acquire unless they say otherwise, for the CTA (PTX ISA 9.0, 9.7.13.15).
Op action(Builder& b, MbarrierAction a, size_t address_operand) {
  Op op = effect(mbarrier);
  auto& use = b.payload<MbarrierUse>(op);
  use.action = a;
  use.order = order_of(b.instruction(),
                       {waits(a)                                                       ? Semantics::acquire
                        : a == MbarrierAction::init || a == MbarrierAction::inval      ? Semantics::weak
                        : a == MbarrierAction::expect || a == MbarrierAction::complete ? Semantics::relaxed
                                                                                       : Semantics::release,
                        Scope::cta});
  set_address(b, op, use, b.operand(address_operand), space_of(b.instruction()));
  b.uses().touch_there(barrier_touch(use.space));
  return op;
}

// init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes
void plain(Builder& b, const Match& m) {
  const std::string& which = b.instruction().modifiers[0];
  const MbarrierAction a = which == ".init"        ? MbarrierAction::init
                           : which == ".inval"     ? MbarrierAction::inval
                           : which == ".expect_tx" ? MbarrierAction::expect
                                                   : MbarrierAction::complete;
  const size_t operands = a == MbarrierAction::inval ? 1 : 2;
  need(b, m, operands, operands);
  Op op = action(b, a, 0);
  if (operands == 2) op.b = b.source(b.operand(1), b.type(".u32")).row;
  b.emit(op);
}

// arrive[.expect_tx][.noComplete] state | _, [a][, count | bytes]
void arrive(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool drop = i.modifiers[0] == ".arrive_drop";
  const bool expects = ptx::has(i, ".expect_tx");
  const bool no_complete = ptx::has(i, ".noComplete");
  const bool remote = ptx::has(i, ".shared::cluster");
  if (b.operand(0).kind != ptx::OperandKind::name)
    throw Invalid("'" + m.name + "' needs a destination for the state");
  const bool counted = expects || no_complete;
  need(b, m, counted ? 3 : 2, 3);
  const MbarrierAction a =
      no_complete ? (drop ? MbarrierAction::drop_no_complete : MbarrierAction::arrive_no_complete)
      : expects   ? (drop ? MbarrierAction::drop_expect : MbarrierAction::arrive_expect)
                  : (drop ? MbarrierAction::drop : MbarrierAction::arrive);
  Op op = action(b, a, 1);
  if (remote && b.operand(0).name != "_")
    throw Invalid("the state of a .shared::cluster mbarrier cannot be had: the destination is '_'");
  if (b.operand(0).name != "_") op.d = b.destination(b.operand(0), b.type(".b64")).row;
  if (!expects && b.operand_count() == 3) need_range(b.operand(2), 1, INT64_MAX, 1, "an arrival count");
  op.b = b.operand_count() == 3 ? b.source(b.operand(2), b.type(".u32")).row : b.constant_row(32, 1);
  b.emit(op);
}

// test_wait | try_wait [.parity] p, [a], state | parity[, time]
void wait(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  const bool tries = i.modifiers[0] == ".try_wait";
  const bool parity = ptx::has(i, ".parity");
  need(b, m, 3, tries ? 4 : 3);
  Op op = action(b,
                 tries ? (parity ? MbarrierAction::try_parity : MbarrierAction::try_state)
                       : (parity ? MbarrierAction::test_parity : MbarrierAction::test_state),
                 1);
  bool negated = false;
  if (b.operand(0).name == "_") throw Invalid("'_' where the result cannot be discarded");
  op.d = b.predicate(b.operand(0), true, negated).row;
  if (parity) need_range(b.operand(2), 0, 1, 1, "a phase parity");
  op.b = b.source(b.operand(2), b.type(parity ? ".u32" : ".b64")).row;
  if (b.operand_count() == 4) {
    b.source(b.operand(3), b.type(".u32"));
    b.uses().as(Use::Take::hint);
  }
  b.emit(op);
}

void pending_count(Builder& b, const Match&) {
  Op op;
  op.lanes = pending_count_lanes;
  place_operands(b, op);
  b.emit(op);
}

#define OWN "[.shared,.shared::cta]"
#define ANY "[.shared,.shared::cta,.shared::cluster]"
constexpr Form kMbarrier[] = {
    {"mbarrier.init|" OWN ".b64", "*", plain, 70, 80},
    {"mbarrier.inval|" OWN ".b64", "*", plain, 70, 80},
    {"mbarrier.expect_tx|" ANY ".b64", "*", plain, 80, 90},
    {"mbarrier.expect_tx|.relaxed{.cta,.cluster}" ANY ".b64", "*", plain, 80, 90},
    {"mbarrier.complete_tx|" ANY ".b64", "*", plain, 80, 90},
    {"mbarrier.complete_tx|.relaxed{.cta,.cluster}" ANY ".b64", "*", plain, 80, 90},
    {"mbarrier{.arrive,.arrive_drop}|" OWN ".b64", "*", arrive, 70, 80},
    {"mbarrier{.arrive,.arrive_drop}|.noComplete" OWN ".b64", "*", arrive, 70, 80},
    {"mbarrier{.arrive,.arrive_drop}|.noComplete.release.cta" OWN ".b64", "*", arrive, 80, 80},
    {"mbarrier{.arrive,.arrive_drop}[.expect_tx]|" ANY ".b64", "*", arrive, 80, 90},
    {"mbarrier{.arrive,.arrive_drop}[.expect_tx]|{.release,.relaxed}{.cta,.cluster}" ANY ".b64", "*", arrive,
     80, 90},
    {"mbarrier.test_wait[.parity]|" OWN ".b64", "*", wait, 71, 80},
    {"mbarrier.test_wait[.parity]|{.acquire,.relaxed}{.cta,.cluster}" OWN ".b64", "*", wait, 80, 90},
    {"mbarrier.try_wait[.parity]|" OWN ".b64", "*", wait, 78, 90},
    {"mbarrier.try_wait[.parity]|{.acquire,.relaxed}{.cta,.cluster}" OWN ".b64", "*", wait, 80, 90},
    {"mbarrier.pending_count|.b64", "d:u32 r:b64", pending_count, 70, 80},
};
#undef OWN
#undef ANY

}  // namespace

std::span<const Form> mbarrier_forms() { return kMbarrier; }

}  // namespace bitwell::isa
