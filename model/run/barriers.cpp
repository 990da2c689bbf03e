// Who is freed when the last thread arrives: named barriers of a CTA, bar.warp.sync, barrier.cluster.

#include "model/run/barrier_use.h"
#include "model/run/cluster.h"
#include "model/run/stuck/cause.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::run {

using machine::kLanes;
using machine::Split;
using machine::Warp;

namespace {

std::string at_cta_barrier(Cluster&, const Waiter& w) {
  const machine::CtaBarrier& b = *w.cta->barriers.find(w.split->barrier);  // it has come there
  uint32_t arrived = b.arrived;
  for (const uint32_t lanes : b.lanes) arrived += static_cast<uint32_t>(__builtin_popcount(lanes));
  return " on barrier " + std::to_string(w.split->barrier) + ": " + std::to_string(arrived) +
         " threads arrived of " + (b.expected == 0 ? "all" : std::to_string(b.expected));
}

std::string at_cluster_barrier(Cluster& cluster, const Waiter&) {
  uint64_t missing = 0;
  for (const auto& cta : cluster.ctas)
    for (const Warp& other : cta->warps)
      for (uint32_t lanes = other.live(); lanes != 0; lanes &= lanes - 1)
        missing += other.has_arrived(__builtin_ctz(lanes), cluster.barrier_phase) ? 0 : 1;
  return " for the cluster: " + plural(missing, "thread") + " did not arrive";
}

}  // namespace

const WaitKind kAtCtaBarrier{at_cta_barrier}, kAtWarpBarrier{others_of_warp},
    kAtClusterBarrier{at_cluster_barrier};

namespace {

bool waits_at(const Split& s, uint32_t number) { return s.wait == &kAtCtaBarrier && s.barrier == number; }

}  // namespace

// Those who wait at the barrier go on, though it is for threads of their warps that have ended.
void Cta::note_ended(uint32_t number) const {
  for (const Warp& w : warps)
    for (const Split& s : w.splits)
      if (waits_at(s, number))
        return cluster.note(place(w, s, -1),
                            "threads of a warp that meets this aligned barrier have ended without it");
}

void Cta::tell_passed(uint32_t number) const {
  machine::Event event = cluster.event_of<Synchronisation>(
      Synchronisation::Kind::cta_passed, machine::Order{}, index, 0, 0u, number, cluster.time(), 0);
  auto& told = std::get<Synchronisation>(event.what);
  for (const Warp& w : warps)
    for (const Split& s : w.splits) {
      if (!waits_at(s, number)) continue;
      const int ptx_line = line(s).ptx;
      if (told.amount != 0 && (told.lanes != s.mask || told.ptx_line != ptx_line)) {
        cluster.tell_synchronisation(event);
        told.amount = 0;
      }
      if (told.amount == 0) told.warp = w.index;
      told.lanes = s.mask;
      told.ptx_line = ptx_line;
      told.amount |= 1u << w.index;
    }
  if (told.amount != 0) cluster.tell_synchronisation(event);
}

void Cta::try_release(uint32_t number) {
  if ((barriers_under_way >> number & 1) == 0) return;
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
  if (barrier.some_ended) note_ended(number);
  const bool all = barrier.count_true == barrier.count_voted;
  const bool any = barrier.count_true != 0;
  const uint32_t count = barrier.count_true;
  barrier = {};
  barriers_under_way &= ~(1u << number);
  cluster.wake();
  if (cluster.accesses_watched()) tell_passed(number);
  for (Warp& w : warps)
    for (Split& s : w.splits) {
      if (!waits_at(s, number)) continue;
      const isa::Op& op = op_at(s);
      auto* rows = s.activation->rows.data();
      if (op.d != isa::kSink) {  // bar.red
        const BarrierUse::Kind kind = op.as<BarrierUse>().kind;
        if (kind == BarrierUse::Kind::red_popc) {
          for (int lane = 0; lane < kLanes; ++lane)
            if ((s.mask >> lane & 1) != 0) reinterpret_cast<uint32_t*>(rows + op.d)[lane] = count;
        } else {
          auto* d = reinterpret_cast<uint32_t*>(rows + op.d);
          const bool value = kind == BarrierUse::Kind::red_and ? all : any;
          *d = (*d & ~s.mask) | (value ? s.mask : 0);
        }
        s.activation->rows.defined()[op.d / machine::kRowBytes] |= s.mask;
      }
      ++s.pc;
      s.wait = nullptr;
    }
  tell_synchronised(Synchronisation::Kind::cta_over, *this, 0, number);
}

void Cta::try_release_warp(Warp& warp) {
  for (const Split& s : warp.splits) {
    if (s.wait != &kAtWarpBarrier) continue;
    uint32_t together = 0;
    for (const Split& other : warp.splits)
      if (other.wait == &kAtWarpBarrier && other.members == s.members) together |= other.mask;
    if ((s.members & warp.live() & ~together) != 0) continue;
    const uint32_t members = s.members;
    tell_synchronised(Synchronisation::Kind::warp_met, *this, warp, s, together, 0);
    for (Split& other : warp.splits)
      if (other.wait == &kAtWarpBarrier && other.members == members) {
        other.wait = nullptr;
        ++other.pc;
      }
    return try_release_warp(warp);
  }
}

void Cluster::try_release_barrier() {
  bool someone = false;
  for (const auto& cta : ctas)
    for (const Warp& w : cta->warps)
      for (uint32_t lanes = w.live(); lanes != 0; lanes &= lanes - 1) {
        if (!w.has_arrived(__builtin_ctz(lanes), barrier_phase)) return;
        someone = true;
      }
  if (!someone) return;
  ++barrier_phase;
  wake();
  for (const auto& cta : ctas)
    for (Warp& w : cta->warps)
      for (Split& s : w.splits)
        if (s.wait == &kAtClusterBarrier) s.wait = nullptr;  // looks again
}

}  // namespace bitwell::run
