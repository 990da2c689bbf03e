// tcgen05.commit and tcgen05.fence (PTX ISA 9.0, 9.7.16.11 and 9.7.16.12).
#include "model/isa/family/memory/memory.h"
#include "model/isa/family/tensor/tensor_forms.h"
#include "model/isa/family/tensor/tensor_unit.h"
#include "model/run/turns/synchronised.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

struct CommitUse : AddressUse {
  bool multicast = false;
  int cta_group = 1;
};

// One arrival at each barrier when all that the thread has issued before is done.
void commit_one(const Op& op, run::Context& context, int lane) {
  const auto& use = op.as<CommitUse>();
  if (use.cta_group == 2) peer(context.cta);
  const run::SharedPlace at = run::shared_place(use, op.a, context, lane, 8, 8);
  run::Cluster& cluster = context.cta.cluster;
  std::vector<run::SharedPlace> places{at};
  if (use.multicast) {
    places.clear();
    const uint64_t offset = at.address - at.cta->shared.base();
    for (uint32_t mask = context.row<uint16_t>(op.b)[lane], rank = 0; mask != 0; mask >>= 1, ++rank) {
      if ((mask & 1) == 0) continue;
      if (rank >= cluster.ctas.size())
        throw Fault("the multicast mask names CTA rank " + std::to_string(rank) + ", the cluster has " +
                        std::to_string(cluster.ctas.size()) + " CTAs",
                    lane);
      run::Cta* cta = cluster.ctas[rank].get();
      places.push_back({cta, cta->shared.base() + offset});
    }
    if (places.empty()) throw Fault("the multicast mask is 0", lane);
  }
  const machine::MbarrierHistory::Arriver who{context.cta.rank, context.warp.index,
                                              context.cta.line(context.split()).ptx};
  const machine::IssuePlace issued = context.cta.issue_place(context.warp, context.split(), lane);
  tensor_unit(context.cta).commit(context, lane, [places, who, issued](const run::Port& port) {
    for (const run::SharedPlace& p : places) {
      if (!p.cta->alive() && p.cta->index == issued.cta)
        p.cta->outlived(issued, "tcgen05.commit");
      else if (!p.cta->alive())
        throw Fault("tcgen05.commit arrives at a barrier of CTA rank " + std::to_string(p.cta->rank) +
                    ", which has ended");
      tensor_unit(*p.cta).committed(p.address);
      if (port.mbarriers(machine::AccessKind::update, p).arrive(p.address, 1, who))
        p.cta->cluster.wake_mbarrier(p.address);
    }
  });
}

Next commit(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  if (op.as<CommitUse>().multicast) context.require_defined(op.b, mask, "a multicast mask");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) commit_one(op, context, __builtin_ctz(lanes));
  return Next::advance;
}

// commit [mbarrier][, mask]
void commit_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  Op op = effect(commit);
  auto& use = b.payload<CommitUse>(op);
  use.multicast = ptx::has(i, ".multicast::cluster");
  use.cta_group = cta_group(i);
  use.order = {Semantics::release, Scope::cluster};
  operands_left(b, m, use.multicast ? 2 : 1);
  set_address(b, op, use, b.operand(0), ptx::has(i, ".shared::cluster") ? Space::cluster : Space::generic);
  b.uses().touch_there(barrier_touch(use.space, true));
  if (use.multicast) op.b = b.source(b.operand(1), b.type(".u16"), false, false).row;
  b.emit(op);
}

// It orders what threads of other warps issue. What is waited for is ordered without: a wait that saw a
// commit orders a later ld.
Next fence(const Op& op, run::Context& context, uint32_t mask) {
  TensorUnit& unit = tensor_unit(context.cta);
  const bool before = op.as<FenceUse>().order.semantics == Semantics::release;
  run::tell_synchronised(before ? machine::Synchronisation::Kind::tensor_fence_before
                                : machine::Synchronisation::Kind::tensor_fence_after,
                         context.cta, context.warp, context.split(), mask, 0);
  if (before)
    unit.fence_before(context.warp.index);
  else
    unit.fence_after(context.warp.index);
  return Next::advance;
}

void fence_form(Builder& b, const Match&) {
  Op op = effect_without_memory(b, fence);
  b.payload<FenceUse>(op).order = {
      b.instruction().modifiers[0] == ".fence::before_thread_sync" ? Semantics::release : Semantics::acquire,
      Scope::cluster};
  b.emit(op);
}

constexpr Form kOrder[] = {
    {"tcgen05.commit|" CTA_GROUP ".mbarrier::arrive::one[.shared::cluster][.multicast::cluster].b64", "*",
     commit_form, 86, &Features::tcgen05},
    {"tcgen05.fence::before_thread_sync", "", fence_form, 86, &Features::tcgen05},
    {"tcgen05.fence::after_thread_sync", "", fence_form, 86, &Features::tcgen05},
};

}  // namespace

std::span<const Form> tensor_order_forms() { return kOrder; }

}  // namespace bitwell::isa
