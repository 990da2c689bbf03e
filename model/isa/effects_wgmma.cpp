// wgmma.fence, mma_async, commit_group and wait_group.
#include "model/isa/cluster.h"
#include "model/isa/effects.h"
#include "model/isa/warpgroup.h"

namespace bitwell::isa {

using machine::Fault;

namespace {

constexpr int kWarps = 4;  // of a warpgroup

// A warpgroup's queue as the scheduler sees it.
class WarpgroupAgent : public machine::Agent {
 public:
  WarpgroupAgent(Warpgroup& group, Cta& cta, int first) : group_(group), cta_(cta), first_(first) {}

  bool ready() const override { return group_.front_ready(); }
  bool step() override {
    if (!cta_.alive()) throw Fault("wgmma.mma_async of a CTA that has ended without waiting for it");
    group_.run_front();
    cta_.wake_operations(first_, kWarps);
    return group_.empty();
  }
  std::string describe() const override {
    if (group_.empty()) return "wgmma.mma_async, all done";
    const WarpgroupMma& front = group_.front();
    return "wgmma.mma_async of PTX line " + std::to_string(front.place.ptx_line) + ", issued by " +
           std::to_string(front.warps) + " of the 4 warps of the warpgroup";
  }

 private:
  Warpgroup& group_;
  Cta& cta_;
  int first_;  // warp
};

Warpgroup& warpgroup(Context& context) {
  const auto number = static_cast<size_t>(context.warp.index / kWarps);
  auto& groups = context.cta.warpgroups;
  while (groups.size() <= number) groups.push_back(std::make_unique<Warpgroup>(context.cta));
  return *groups[number];
}

size_t share(const Context& context) { return static_cast<size_t>(context.warp.index % kWarps); }

}  // namespace

Next wgmma_fence(const Op&, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  warpgroup(context).fence(share(context));
  return Next::advance;
}

Next wgmma_mma(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  const int first = context.warp.index / kWarps * kWarps;
  if (context.cta.warps.size() < static_cast<size_t>(first + kWarps))
    throw Fault("wgmma needs a warpgroup of 4 warps, this one has " +
                std::to_string(context.cta.warps.size() - static_cast<size_t>(first)));
  Warpgroup& group = warpgroup(context);
  if (group.issue(share(context), op, context)) {
    auto agent = std::make_unique<WarpgroupAgent>(group, context.cta, first);
    agent->place = group.front().place;
    context.cta.cluster.start(std::move(agent), context.warp);
  } else {
    context.cta.cluster.settle();
  }
  return Next::advance;
}

Next wgmma_commit(const Op&, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  warpgroup(context).commit(share(context));
  return Next::advance;
}

Next wgmma_wait(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  if (warpgroup(context).groups_done(share(context), op.imm)) return Next::advance;
  context.split().wait = machine::Wait::operations;
  return Next::wait;
}

}  // namespace bitwell::isa
