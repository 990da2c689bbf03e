// mapa, getctarank and barrier.cluster.
#include "model/isa/cluster.h"
#include "model/isa/effects.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kRankShift;

namespace {

// A lane's address without its window, generic or shared::cluster, 32 or 64 bits.
uint64_t cluster_address(const Op& op, Context& context, int lane) {
  const uint64_t a = op.size == 4 ? context.row<uint32_t>(op.a)[lane] : context.row<uint64_t>(op.a)[lane];
  if (op.imm == 0) return a;
  if (a - machine::kSharedWindow >= machine::kWindowSize)
    throw Fault("a generic address that is not in shared memory", lane);
  return a - machine::kSharedWindow;
}

// For .aligned: whether every thread of the warp that still runs is here. If not, the split waits for them.
bool all_here(Context& context, uint32_t mask) {
  if (mask == context.warp.live()) return true;
  if (mask != context.split().mask)
    throw Fault("an aligned barrier under a guard that differs between threads of a warp",
                __builtin_ctz(mask));
  context.split().wait = machine::Wait::converge;
  return false;
}

}  // namespace

Next map_address(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  context.require_defined(op.b, mask, "a CTA's rank");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint64_t rank = context.row<uint32_t>(op.b)[lane];
    if (rank >= context.cta.cluster.ctas.size())
      throw Fault("mapa to CTA rank " + std::to_string(rank) + ", the cluster has " +
                      std::to_string(context.cta.cluster.ctas.size()),
                  lane);
    const uint64_t offset = cluster_address(op, context, lane) & ((uint64_t{1} << kRankShift) - 1);
    const uint64_t mapped = (op.imm != 0 ? machine::kSharedWindow : 0) | rank << kRankShift | offset;
    if (op.size == 4)
      context.row<uint32_t>(op.d)[lane] = static_cast<uint32_t>(mapped);
    else
      context.row<uint64_t>(op.d)[lane] = mapped;
  }
  context.set_defined(op.d, mask);
  return Next::advance;
}

Next address_rank(const Op& op, Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    context.row<uint32_t>(op.d)[lane] =
        static_cast<uint32_t>(cluster_address(op, context, lane) >> kRankShift);
  }
  context.set_defined(op.d, mask);
  return Next::advance;
}

Next cluster_arrive(const Op& op, Context& context, uint32_t mask) {
  if (op.imm != 0 && !all_here(context, mask)) return Next::wait;
  Cluster& cluster = context.cta.cluster;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    uint64_t& arrivals = context.warp.cluster_arrivals[lane];
    if (arrivals != context.warp.cluster_waits[lane])
      throw Fault("barrier.cluster.arrive twice without a barrier.cluster.wait between",
                  __builtin_ctz(lanes));
    arrivals = cluster.barrier_phase + 1;
  }
  cluster.try_release_barrier();
  cluster.yield();
  return Next::advance;
}

Next cluster_wait(const Op& op, Context& context, uint32_t mask) {
  if (op.imm != 0 && !all_here(context, mask)) return Next::wait;
  Cluster& cluster = context.cta.cluster;
  uint32_t through = 0;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint64_t arrivals = context.warp.cluster_arrivals[static_cast<size_t>(lane)];
    if (arrivals == context.warp.cluster_waits[static_cast<size_t>(lane)])
      throw Fault("barrier.cluster.wait without a barrier.cluster.arrive before it", lane);
    if (arrivals <= cluster.barrier_phase) through |= 1u << lane;
  }
  cluster.yield();
  for (uint32_t lanes = through; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    context.warp.cluster_waits[lane] = context.warp.cluster_arrivals[lane];
  }
  if (through == mask) return Next::advance;
  if (through != 0) {  // the others stay here and look again
    machine::Split rest = context.split();
    rest.mask = mask & ~through;
    rest.wait = machine::Wait::cluster_barrier;
    take_lanes(context, mask);
    context.split().mask = through;
    ++context.split().pc;
    context.warp.splits.push_back(std::move(rest));
    return Next::moved;
  }
  take_lanes(context, mask).wait = machine::Wait::cluster_barrier;
  return Next::moved;
}

// All warps of a warpgroup execute the same setmaxnreg (PTX ISA 9.0, 9.7.19.5).
Next set_max_registers(const Op& op, Context& context, uint32_t mask) {
  if (!whole_warp(context, mask)) return Next::wait;
  auto& mine = context.warp.register_counts;
  const int first = context.warp.index / 4 * 4;
  for (int w = first; w < std::min(first + 4, static_cast<int>(context.cta.warps.size())); ++w) {
    const machine::Warp& other = context.cta.warps[static_cast<size_t>(w)];
    if (other.register_counts.size() > mine.size()) {
      const auto& [count, line] = other.register_counts[mine.size()];
      if (count != op.imm)
        throw Fault("setmaxnreg " + std::to_string(op.imm) +
                    ", where another warp of its warpgroup asks for " + std::to_string(count) +
                    " at PTX line " + std::to_string(line));
    } else if (other.live() == 0) {
      throw Fault("setmaxnreg by part of a warpgroup: warp " + std::to_string(w) + " has ended without it");
    }
  }
  mine.emplace_back(op.imm, context.cta.line(context.split()).ptx);
  return Next::advance;
}

void check_register_counts(Context& context) {
  if (context.warp.live() != 0) return;
  const int first = context.warp.index / 4 * 4;
  for (int w = first; w < std::min(first + 4, static_cast<int>(context.cta.warps.size())); ++w) {
    const machine::Warp& other = context.cta.warps[static_cast<size_t>(w)];
    const size_t done = context.warp.register_counts.size();
    if (other.register_counts.size() > done)
      throw Fault("warp " + std::to_string(context.warp.index) +
                  " ends without the setmaxnreg that another warp of its warpgroup executed at PTX line " +
                  std::to_string(other.register_counts[done].second));
  }
}

}  // namespace bitwell::isa
