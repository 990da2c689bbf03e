// Cluster launch control: taking over a cluster that has not started (PTX ISA 9.0, 9.7.13.18 and 9.7.13.19).
#include <array>
#include <cstring>

#include "model/isa/family/emit.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/port.h"
#include "model/run/turns/synchronised.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kLanes;

namespace {

// What a request brings back, 16 bytes that PTX leaves open: the ctaid of the first CTA of the cancelled
// cluster, or zeros, and which of the two it is. Our own choice.
using Response = std::array<uint32_t, 4>;
constexpr uint64_t kResponseBytes = sizeof(Response);
constexpr uint32_t kCanceled = 0x434C4301;
constexpr uint32_t kNothingLeft = 0x434C4300;

// One that gets the response.
struct Requester {
  run::Cta* cta;
  uint64_t response, barrier;  // shared::cluster addresses
};

// A request under way. Which cluster it gets, if any, is decided when its turn comes.
class CancelRequest : public machine::Agent {
 public:
  CancelRequest(run::Cluster& cluster, std::vector<Requester> to) : cluster_(cluster), to_(std::move(to)) {
    ending = machine::Ending::mbarrier;
    for (const Requester& r : to_) {
      keep_off_mbarriers(r);
      run::Port::empty(r.cta->shared, r.response, kResponseBytes);
      run::tell_emptied(*r.cta, r.response, kResponseBytes);
    }
  }

  bool step() override {
    const Response response = decide();
    std::array<std::byte, kResponseBytes> bytes;
    std::memcpy(bytes.data(), response.data(), bytes.size());
    const run::Port port(cluster_, *this, {Semantics::weak, Scope::cta, machine::Proxy::async});
    const run::Port signal(cluster_, *this, {Semantics::release, Scope::cluster});
    for (const Requester& r : to_) {
      if (!r.cta->alive())
        throw Fault(describe() + " writes the shared memory of CTA rank " + std::to_string(r.cta->rank) +
                    ", which has ended: it ended without waiting for the response");
      keep_off_mbarriers(r);
      port.write(r.cta->shared, r.response, bytes.size(), bytes.data());
      if (signal.mbarriers(machine::AccessKind::update, {r.cta, r.barrier})
              .complete(r.barrier, kResponseBytes))
        cluster_.wake_mbarrier(r.barrier);
    }
    return true;
  }
  bool fills(uint64_t address, uint64_t length) const override {
    for (const Requester& r : to_)
      if (r.response < address + length && address < r.response + kResponseBytes) return true;
    return false;
  }
  uint64_t completes_on(uint64_t address) const override {
    for (const Requester& r : to_)
      if (r.cta == cluster_.cta_of(address)) return r.barrier + 1;
    return 0;
  }
  std::string describe() const override { return "clusterlaunchcontrol.try_cancel"; }

 private:
  Response decide() {
    run::Grid& grid = cluster_.grid;
    if (!grid.next || cluster_.outrun()) cluster_.launches_over = true;
    if (cluster_.launches_over) return {0, 0, 0, kNothingLeft};
    const std::array<uint32_t, 3> first = *grid.take_next();
    grid.ended += cluster_.ctas.size();
    return {first[0], first[1], first[2], kCanceled};
  }
  void keep_off_mbarriers(const Requester& r) const {
    if (r.cta->mbarriers.overlapping(r.response, kResponseBytes) != nullptr)
      throw Fault(describe() + " writes over an mbarrier, which is live");
  }

  run::Cluster& cluster_;
  std::vector<Requester> to_;
};

struct CancelUse : Payload {
  AddressUse response, barrier;  // rows a and b
  bool multicast = false;
};

Next try_cancel(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  context.require_defined(op.b, mask, "an address");
  const auto& use = op.as<CancelUse>();
  run::Cluster& cluster = context.cta.cluster;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    if (context.cta.saw_launches_over)
      throw Fault("clusterlaunchcontrol.try_cancel by a CTA that has seen one fail: undefined", lane);
    const uint64_t response =
        run::shared_place(use.response, op.a, context, lane, kResponseBytes, kResponseBytes, true).address;
    const uint64_t barrier = run::shared_place(use.barrier, op.b, context, lane, 8, 8, true).address;
    std::vector<Requester> to;
    for (const auto& cta : cluster.ctas) {
      if (cta.get() != &context.cta && !use.multicast) continue;
      if (!cta->alive())
        throw Fault("clusterlaunchcontrol.try_cancel for all CTAs of the cluster, of which rank " +
                        std::to_string(cta->rank) + " has ended: undefined",
                    lane);
      const uint64_t there = cta->shared.base() - context.cta.shared.base();
      to.push_back({cta.get(), response + there, barrier + there});
      cta->mbarriers.word(barrier + there);  // faults if there is none
    }
    auto request = std::make_unique<CancelRequest>(cluster, std::move(to));
    request->place = context.cta.issue_place(context.warp, context.split(), lane);
    cluster.start(std::move(request), context.warp);
  }
  return Next::advance;
}

// The response that a lane of row a holds. PTX leaves open what a program may write there itself; of
// CUTLASS's pingpong kernels one warpgroup writes zeros for the other, which stand for a request that has
// failed.
Response response_of(const Op& op, run::Context& context, int lane) {
  Response out;
  std::memcpy(out.data(), context.row<std::byte>(op.a) + kResponseBytes * static_cast<size_t>(lane),
              sizeof out);
  if (out == Response{}) {
    context.note(
        lane,
        "16 bytes of zeros, no response of clusterlaunchcontrol.try_cancel, count as one that has failed");
    return out;
  }
  if (out[3] != kCanceled && out[3] != kNothingLeft)
    throw Fault("the operand is no response of clusterlaunchcontrol.try_cancel", lane);
  return out;
}

Next is_canceled(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a response");
  uint32_t result = 0;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint32_t which = response_of(op, context, lane)[3];
    result |= static_cast<uint32_t>(which == kCanceled) << lane;
    if (which == kNothingLeft) context.cta.saw_launches_over = true;
  }
  auto* d = context.row<uint32_t>(op.d);
  *d = (*d & ~mask) | result;
  context.set_defined(op.d, mask);
  return Next::advance;
}

struct CtaidUse : Payload {
  size_t first = 0;  // coordinate that the first result gets
};

Next get_first_ctaid(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a response");
  // All that is read, before a destination that is a source changes it.
  std::array<Response, kLanes> responses{};
  uint32_t failed = 0;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    responses[static_cast<size_t>(lane)] = response_of(op, context, lane);
    if (responses[static_cast<size_t>(lane)][3] != kCanceled) failed |= 1u << lane;
  }
  // The CuTe DSL asks first and looks whether it may afterwards: what it gets is no value until then.
  if (failed != 0)
    context.note(__builtin_ctz(failed),
                 "get_first_ctaid of a request that has failed: its result is undefined");
  for (size_t i = 0; i < op.results->size(); ++i) {
    const uint32_t row = (*op.results)[i];
    const size_t coordinate = op.as<CtaidUse>().first + i;
    for (size_t lane = 0; lane < kLanes; ++lane)
      if ((mask >> lane & 1) != 0 && coordinate < 3)
        context.row<uint32_t>(row)[lane] = responses[lane][coordinate];
    context.set_known(row, mask, coordinate < 3 ? mask & ~failed : 0);  // the fourth is unspecified
  }
  return Next::advance;
}

void try_cancel_form(Builder& b, const Match& m) {
  operands_left(b, m, 2);
  Op op = effect(try_cancel);
  auto& use = b.payload<CancelUse>(op);
  use.multicast = ptx::has(b.instruction(), ".multicast::cluster::all");
  const Space space = space_of(b.instruction());
  set_address(b, op, use.barrier, b.operand(1), space);
  b.uses().touch_there(barrier_touch(space, true));
  op.b = op.a;
  set_address(b, op, use.response, b.operand(0), space);
  b.uses().touch_there({.space = Space::shared, .writes = true, .operation = true, .bytes = 16});
  b.uses().act(Act::takes_clusters);
  b.emit(op);
}

void is_canceled_form(Builder& b, const Match& m) {
  operands_left(b, m, 2);
  Op op = effect_without_memory(b, is_canceled);
  bool negated = false;
  if (b.operand(0).name == "_") throw Invalid("'_' where the result cannot be discarded");
  op.d = b.predicate(b.operand(0), true, negated).row;
  op.a = b.source(b.operand(1), b.type(".b128"), false, false).row;
  b.emit(op);
}

void get_first_ctaid_form(Builder& b, const Match& m) {
  operands_left(b, m, 2);
  Op op = effect_without_memory(b, get_first_ctaid);
  op.a = b.source(b.operand(1), b.type(".b128"), false, false).row;
  std::vector<uint32_t>* list = b.new_list();
  const ptx::Operand& d = b.operand(0);
  if (ptx::has(b.instruction(), ".v4")) {
    if (d.kind != ptx::OperandKind::vector || d.elements.size() != 4)
      throw Invalid("'" + m.name + "' needs a vector of 4 registers");
    bool any = false;
    for (const ptx::Operand& e : d.elements) {
      any = any || e.name != "_";
      list->push_back(b.destination(e, b.type(".b32"), false, true).row);
    }
    if (!any) throw Invalid("'_' in all places of '" + m.name + "'");
  } else {
    list->push_back(b.destination(d, b.type(".b32")).row);
  }
  op.results = list;
  b.payload<CtaidUse>(op).first = ptx::has(b.instruction(), ".get_first_ctaid::y")   ? 1
                                  : ptx::has(b.instruction(), ".get_first_ctaid::z") ? 2
                                                                                     : 0;
  b.emit(op);
}

#define REQUEST "clusterlaunchcontrol.try_cancel.async|[.shared::cta].mbarrier::complete_tx::bytes"
#define QUERY "clusterlaunchcontrol.query_cancel|"
constexpr Form kClusterLaunch[] = {
    {REQUEST ".b128", "*", try_cancel_form, 86, 100},
    {REQUEST ".multicast::cluster::all.b128", "*", try_cancel_form, 86, 100, "af"},
    {QUERY ".is_canceled.pred.b128", "*", is_canceled_form, 86, 100},
    {QUERY ".get_first_ctaid.v4.b32.b128", "*", get_first_ctaid_form, 86, 100},
    {QUERY "{.get_first_ctaid::x,.get_first_ctaid::y,.get_first_ctaid::z}.b32.b128", "*",
     get_first_ctaid_form, 86, 100},
};
#undef REQUEST
#undef QUERY

}  // namespace

std::span<const Form> cluster_launch_forms() { return kClusterLaunch; }

}  // namespace bitwell::isa
