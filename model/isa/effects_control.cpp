// ret, exit, trap, brx.idx, call, and the CTA's barriers.
#include <algorithm>
#include <cstring>

#include "model/isa/access.h"
#include "model/isa/cluster.h"
#include "model/isa/effects.h"
#include "model/isa/printf.h"

namespace bitwell::isa {

using machine::Activation;
using machine::Fault;
using machine::kLanes;
using machine::Split;
using machine::Wait;

namespace {

void copy_local(machine::Warp& warp, uint32_t mask, uint64_t to, uint64_t from, uint64_t size) {
  for (size_t lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0) {
      std::memcpy(warp.local[lane].data() + to, warp.local[lane].data() + from, size);
      std::memcpy(warp.local_defined[lane].data() + to, warp.local_defined[lane].data() + from, size);
    }
}

void remove_split(Context& context) {
  context.warp.splits.erase(context.warp.splits.begin() + static_cast<std::ptrdiff_t>(context.split_index));
}

const Function& function_of(Context& context, const Activation& activation) {
  return context.cta.grid.program.functions[static_cast<size_t>(activation.function)];
}

}  // namespace

Split& take_lanes(Context& context, uint32_t mask) {
  Split& split = context.split();
  if (split.mask == mask) return split;
  Split rest = split;
  rest.mask &= ~mask;
  ++rest.pc;
  split.mask = mask;
  context.warp.splits.push_back(std::move(rest));
  return context.split();
}

Next leave_thread(const Op&, Context& context, uint32_t mask) {
  take_lanes(context, mask);
  context.warp.exited |= mask;
  if (context.checked) check_register_counts(context);
  context.cta.cluster.change();
  remove_split(context);
  for (uint32_t b = 0; b < context.cta.barriers.size(); ++b) context.cta.try_release(b);
  Cta::try_release_warp(context.warp);
  context.cta.cluster.try_release_barrier();
  for (Split& s : context.warp.splits)
    if (s.wait == Wait::converge) s.wait = Wait::none;  // fewer threads to wait for
  return Next::moved;
}

Next leave_function(const Op& op, Context& context, uint32_t mask) {
  const std::shared_ptr<Activation> from = context.split().activation;
  if (from->caller == nullptr) return leave_thread(op, context, mask);
  Split& split = take_lanes(context, mask);
  const std::shared_ptr<Activation> to = from->caller;
  const Op& call_op = function_of(context, *to).code[from->call_pc];
  const auto& site = *reinterpret_cast<const CallSite*>(call_op.imm);
  const Function& callee = function_of(context, *from);
  for (size_t n = 0; n < site.results.size(); ++n)
    copy_local(context.warp, mask, to->local_base + site.results[n].offset,
               from->local_base + callee.returns[n].offset, site.results[n].size);
  split.activation = to;
  split.pc = from->return_pc;
  return Next::moved;
}

Next trap(const Op&, Context&, uint32_t mask) { throw Fault("trap", __builtin_ctz(mask)); }

Next branch_indexed(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a branch index");
  take_lanes(context, mask);
  const auto* index = context.row<uint32_t>(op.a);
  const uint32_t first = index[__builtin_ctz(mask)];
  uint32_t same = 0;
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) {
      if (index[i] >= op.targets->size())
        throw Fault("brx.idx index " + std::to_string(index[i]) + " is beyond its " +
                        std::to_string(op.targets->size()) + " targets",
                    i);
      if (index[i] == first) same |= 1u << i;
    }
  Split& split = context.split();
  if (same != mask) {  // the others stay here and choose again
    Split rest = split;
    rest.mask = mask & ~same;
    split.mask = same;
    context.warp.splits.push_back(std::move(rest));
  }
  context.split().pc = (*op.targets)[first];
  return Next::moved;
}

Next call(const Op& op, Context& context, uint32_t mask) {
  const auto& site = *reinterpret_cast<const CallSite*>(op.imm);
  const Activation& caller = context.activation();
  if (site.kind == CallSite::Callee::vprintf || site.kind == CallSite::Callee::assertfail) {
    builtin_call(site, context, mask);
    return Next::advance;
  }
  int function = site.function;
  uint32_t together = mask;
  if (site.kind == CallSite::Callee::indirect) {
    context.require_defined(op.a, mask, "a function's address");
    const auto* address = context.row<uint64_t>(op.a);
    const uint64_t first = address[__builtin_ctz(mask)];
    const auto& functions = context.cta.grid.program.functions;
    if (first - kFunctionWindow >= functions.size() || functions[first - kFunctionWindow].code.empty())
      throw Fault("an indirect call of an address that is no function", __builtin_ctz(mask));
    function = static_cast<int>(first - kFunctionWindow);
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0 && address[i] != first) together &= ~(1u << i);
  }
  const Function& callee = context.cta.grid.program.functions[static_cast<size_t>(function)];
  const auto same = [](const std::vector<Parameter>& formal, const std::vector<Parameter>& actual) {
    return std::equal(formal.begin(), formal.end(), actual.begin(), actual.end(),
                      [](const Parameter& f, const Parameter& g) { return f.size == g.size; });
  };
  if (callee.is_entry || !same(callee.params, site.arguments) || !same(callee.returns, site.results))
    throw Fault("the function called is an entry, or has other parameters than the call's prototype",
                __builtin_ctz(mask));
  if (together != mask) {  // lanes that call another function stay here
    Split rest = context.split();
    rest.mask = mask & ~together;
    context.split().mask &= ~rest.mask;
    context.warp.splits.push_back(std::move(rest));
  }
  const uint32_t base = caller.local_base;
  const uint32_t pc = context.split().pc;
  Split& split = take_lanes(context, together);
  auto activation = context.cta.activate(function, context.warp, together, split.activation);
  activation->call_pc = pc;
  activation->return_pc = pc + 1;
  for (size_t n = 0; n < site.arguments.size(); ++n)
    copy_local(context.warp, together, activation->local_base + callee.params[n].offset,
               base + site.arguments[n].offset, site.arguments[n].size);
  split.activation = std::move(activation);
  split.pc = 0;
  return Next::moved;
}

Next barrier(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "a barrier's number");
  const int lane = __builtin_ctz(mask);
  const uint32_t number = context.row<uint32_t>(op.a)[lane];
  if (number > 15) throw Fault("barrier " + std::to_string(number) + ": barriers are 0 to 15", lane);
  for (int i = lane; i < kLanes; ++i)
    if ((mask >> i & 1) != 0 &&
        (context.row<uint32_t>(op.a)[i] != number ||
         ((op.imm & kCounted) != 0 && context.row<uint32_t>(op.b)[i] != context.row<uint32_t>(op.b)[lane])))
      throw Fault("barrier numbers or counts differ between threads of a warp", i);
  const bool aligned = (op.imm & kAligned) != 0;
  if (aligned && mask != context.warp.live()) {
    if (mask != context.split().mask)
      throw Fault("an aligned barrier under a guard that differs between threads of a warp", lane);
    context.split().wait = Wait::converge;
    return Next::wait;
  }
  uint32_t expected = 0;
  if ((op.imm & kCounted) != 0) {
    context.require_defined(op.b, mask, "a barrier's count");
    expected = context.row<uint32_t>(op.b)[lane];
    if (expected == 0 || expected % 32 != 0)
      throw Fault("barrier count " + std::to_string(expected) + " is not a positive multiple of 32", lane);
  }
  machine::CtaBarrier& b = context.cta.barriers[number];
  const bool under_way =
      b.arrived != 0 || std::any_of(b.lanes.begin(), b.lanes.end(), [](uint32_t l) { return l != 0; });
  if (under_way && b.expected != expected)
    throw Fault("barrier " + std::to_string(number) + " is used with count " + std::to_string(expected) +
                    " while " + std::to_string(b.expected) + " is under way",
                lane);
  const auto kind = static_cast<BarrierKind>(op.imm & 0xFF);
  const bool reduces = kind >= BarrierKind::red_popc;
  if (under_way && b.reduces != reduces)
    throw Fault(
        "barrier " + std::to_string(number) + " is used by bar.red and by bar.sync or bar.arrive at once",
        lane);
  b.reduces = reduces;
  if (reduces) {
    context.require_defined(op.c, mask, "a predicate");
    uint32_t p = *context.row<uint32_t>(op.c);
    if ((op.imm & kNegated) != 0) p = ~p;
    b.count_true += static_cast<uint32_t>(__builtin_popcount(p & mask));
    b.count_voted += static_cast<uint32_t>(__builtin_popcount(mask));
  }
  b.expected = expected;
  uint32_t& arrived = b.lanes[static_cast<size_t>(context.warp.index)];
  if ((arrived & mask) !=
      0) {  // these threads went round before the rest of their warp came: bar.arrive in a loop
    b.arrived += kLanes;
    arrived = 0;
  }
  arrived |= mask;
  if (kind == BarrierKind::arrive) {
    context.cta.try_release(number);
    return Next::advance;
  }
  Split& split = take_lanes(context, mask);
  split.wait = Wait::cta_barrier;
  split.barrier = number;
  context.cta.try_release(number);
  return Next::moved;
}

}  // namespace bitwell::isa
