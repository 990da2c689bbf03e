// What a cluster adds: ranks of addresses, its barrier, and what only helps the hardware (PTX ISA 9.0,
// 9.7.9.23, 9.7.9.24, 9.7.13.4, 9.7.13.14, 9.7.19.5).
#include "model/isa/family/control/cluster.h"

#include "model/isa/family/emit.h"
#include "model/machine/failure.h"
#include "model/run/context.h"
#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::isa {

using machine::Fault;
using machine::kRankShift;

namespace {

std::string for_registers(run::Cluster&, const run::Waiter&) {
  return " for registers that other warps of the CTA hold";
}
constexpr run::WaitKind kForRegisters{.why = for_registers, .looks_again = true};

// mapa and getctarank.
struct MappingUse : Payload {
  bool generic = false;
  int size = 0;  // bytes of an address
};
struct ClusterBarrierUse : Payload {
  bool aligned = false;
  Order order;
};
struct RegisterCount : Payload {
  uint64_t count = 0;
  bool more = false;  // .inc
};

// A lane's address without its window, generic or shared::cluster, 32 or 64 bits.
uint64_t cluster_address(const Op& op, run::Context& context, int lane) {
  const uint64_t a =
      op.as<MappingUse>().size == 4 ? context.row<uint32_t>(op.a)[lane] : context.row<uint64_t>(op.a)[lane];
  if (!op.as<MappingUse>().generic) return a;
  if (a - machine::kSharedWindow >= machine::kWindowSize)
    throw Fault("a generic address that is not in shared memory", lane);
  return a - machine::kSharedWindow;
}

// Arithmetic, as on an H200: a rank that the cluster does not have is told when the address is used.
Next map_address(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  context.require_defined(op.b, mask, "a CTA's rank");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint32_t rank = context.row<uint32_t>(op.b)[lane];
    const uint64_t offset = cluster_address(op, context, lane) & ((uint64_t{1} << kRankShift) - 1);
    const uint64_t mapped =
        (op.as<MappingUse>().generic ? machine::kSharedWindow : 0) | rank << kRankShift | offset;
    if (op.as<MappingUse>().size == 4)
      context.row<uint32_t>(op.d)[lane] = static_cast<uint32_t>(mapped);
    else
      context.row<uint64_t>(op.d)[lane] = mapped;
  }
  context.set_defined(op.d, mask);
  return Next::advance;
}

Next address_rank(const Op& op, run::Context& context, uint32_t mask) {
  context.require_defined(op.a, mask, "an address");
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    context.row<uint32_t>(op.d)[lane] =
        static_cast<uint32_t>(cluster_address(op, context, lane) >> kRankShift);
  }
  context.set_defined(op.d, mask);
  return Next::advance;
}

Next cluster_arrive(const Op& op, run::Context& context, uint32_t mask) {
  if (op.as<ClusterBarrierUse>().aligned && !run::all_here(context, mask)) return Next::wait;
  run::Cluster& cluster = context.cta.cluster;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
    uint64_t& arrivals = context.warp.cluster_arrivals[lane];
    if (arrivals != context.warp.cluster_waits[lane])
      throw Fault("barrier.cluster.arrive twice without a barrier.cluster.wait between",
                  __builtin_ctz(lanes));
    arrivals = cluster.barrier_phase + 1;
  }
  run::tell_synchronised(machine::Synchronisation::Kind::cluster_arrived, context.cta, context.warp,
                         context.split(), mask, cluster.barrier_phase + 1, op.as<ClusterBarrierUse>().order);
  cluster.try_release_barrier();
  cluster.yield();
  return Next::advance;
}

Next cluster_wait(const Op& op, run::Context& context, uint32_t mask) {
  if (op.as<ClusterBarrierUse>().aligned && !run::all_here(context, mask)) return Next::wait;
  run::Cluster& cluster = context.cta.cluster;
  uint32_t through = 0;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    const uint64_t arrivals = context.warp.cluster_arrivals[static_cast<size_t>(lane)];
    if (arrivals == context.warp.cluster_waits[static_cast<size_t>(lane)])
      throw Fault("barrier.cluster.wait without a barrier.cluster.arrive before it", lane);
    if (arrivals <= cluster.barrier_phase) through |= 1u << lane;
  }
  cluster.yield();
  auto& arrivals = context.warp.cluster_arrivals;
  for (uint32_t lanes = through, alike = 0; lanes != 0; lanes &= ~alike) {  // nearly always all at once
    const uint64_t passed = arrivals[static_cast<size_t>(__builtin_ctz(lanes))];
    alike = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<size_t>(__builtin_ctz(rest));
      if (arrivals[lane] != passed) continue;
      context.warp.cluster_waits[lane] = passed;
      alike |= 1u << lane;
    }
    run::tell_synchronised(machine::Synchronisation::Kind::cluster_passed, context.cta, context.warp,
                           context.split(), alike, passed, op.as<ClusterBarrierUse>().order);
  }
  if (through == mask) return Next::advance;
  if (through != 0) {  // the others stay here and look again
    machine::Split rest = context.split();
    rest.mask = mask & ~through;
    rest.wait = &run::kAtClusterBarrier;
    run::take_lanes(context, mask);
    context.split().mask = through;
    ++context.split().pc;
    context.warp.splits.push_back(std::move(rest));
    return Next::moved;
  }
  run::take_lanes(context, mask).wait = &run::kAtClusterBarrier;
  return Next::moved;
}

// Registers of a thread of the warp, as far as they are known: by its last setmaxnreg, or by the launch,
// which gives them by eights; 0: not.
uint64_t registers_of(const machine::Warp& warp, const run::Cta& cta) {
  if (!warp.register_counts.empty()) return warp.register_counts.back().first;
  return (uint64_t{cta.grid.shape.registers} + 7) / 8 * 8;
}

// Whether the CTA's pool, which is what it was launched with, has what the warp wants more. What a warp had
// stays there when it ends.
bool in_pool(const machine::Warp& warp, const run::Cta& cta, uint64_t wanted) {
  const uint64_t launched = (uint64_t{cta.grid.shape.registers} + 7) / 8 * 8;
  uint64_t held = wanted;
  for (const machine::Warp& other : cta.warps)
    if (&other != &warp) held += registers_of(other, cta);
  return launched == 0 || held <= launched * cta.warps.size();
}

// All warps of a warpgroup execute the same setmaxnreg, though an H200 takes other counts; .inc waits for
// registers that others give up, and never asks for fewer, .dec never for more (PTX ISA 9.0, 9.7.19.5).
Next set_max_registers(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const uint64_t wanted = op.as<RegisterCount>().count;
  const bool more = op.as<RegisterCount>().more;
  auto& mine = context.warp.register_counts;
  const int first = context.warp.index / 4 * 4;
  for (int w = first; w < std::min(first + 4, static_cast<int>(context.cta.warps.size())); ++w) {
    const machine::Warp& other = context.cta.warps[static_cast<size_t>(w)];
    if (other.register_counts.size() > mine.size()) {
      const auto& [count, line] = other.register_counts[mine.size()];
      if (count != wanted)
        context.note(-1, "setmaxnreg " + std::to_string(wanted) +
                             ", where another warp of its warpgroup asks for " + std::to_string(count) +
                             " at PTX line " + std::to_string(line));
    } else if (other.live() == 0) {
      throw Fault("setmaxnreg by part of a warpgroup: warp " + std::to_string(w) + " has ended without it");
    }
  }
  const uint64_t held = registers_of(context.warp, context.cta);
  if (held != 0 && (more ? wanted < held : wanted > held))
    throw Fault(std::string("setmaxnreg.") + (more ? "inc" : "dec") + " of " + std::to_string(wanted) +
                " registers by a warp that has " + std::to_string(held));
  if (more && !in_pool(context.warp, context.cta, wanted)) {
    context.split().wait = &kForRegisters;
    return Next::wait;
  }
  mine.emplace_back(wanted, context.cta.line(context.split()).ptx);
  if (!more) context.cta.wake_operations(0, static_cast<int>(context.cta.warps.size()));
  return Next::advance;
}

// A shared::cluster or generic address: a register, or a shared variable by name.
uint32_t shared_operand(Builder& b, const ptx::Operand& o, const Type& type, bool generic) {
  if (const auto v = o.kind == ptx::OperandKind::name ? b.find_variable(o.name) : std::nullopt) {
    if (v->space != Space::shared || generic)
      throw Invalid("variable '" + o.name + "' is not in that state space");
    b.name_variable(o.name, Use::Take::data);
    return b.address_row(type.bits, *v, o.integer);
  }
  return b.source(o, type, false, false).row;
}

// mapa[.shared::cluster].type d, a, rank; getctarank[.shared::cluster].type d, a
void mapping(Builder& b, const Match& m) {
  const bool maps = b.instruction().opcode == "mapa";
  const Type& type = b.type(b.instruction().modifiers.back());
  if (b.operand_count() != (maps ? 3 : 2))
    throw Invalid("'" + m.name + "' takes " + (maps ? "3" : "2") + " operands");
  const bool generic = m.choice[0].empty();
  if (generic && type.bits != 64) throw machine::Unsupported("'" + m.name + "': a 32-bit generic address");
  Op op = effect_without_memory(b, maps ? map_address : address_rank);
  auto& use = b.payload<MappingUse>(op);
  use.size = type.bits / 8;
  use.generic = generic;
  op.d = b.destination(b.operand(0), maps ? type : b.type(".u32")).row;
  op.a = shared_operand(b, b.operand(1), type, generic);
  if (maps) op.b = b.source(b.operand(2), b.type(".u32")).row;
  if (maps) b.uses().carry(Carry::first);
  b.emit(op);
}

void barrier_cluster(Builder& b, const Match&) {
  const bool arrives = b.instruction().modifiers[1] == ".arrive";
  Op op = effect_without_memory(b, arrives ? cluster_arrive : cluster_wait);
  auto& use = b.payload<ClusterBarrierUse>(op);
  use.aligned = ptx::has(b.instruction(), ".aligned");
  use.order = order_of(b.instruction(), {arrives ? Semantics::release : Semantics::acquire, Scope::cluster});
  use.order.scope = Scope::cluster;
  b.emit(op);
}

// setmaxnreg: what counts as a resource is checked where the launch says how many registers it has.
void registers(Builder& b, const Match&) {
  if (b.operand_count() != 1) throw Invalid("'setmaxnreg' takes 1 operand");
  const uint64_t count = b.constant(b.operand(0));
  if (count < 24 || count > 256 || count % 8 != 0)
    throw Invalid("setmaxnreg " + std::to_string(count) + ", it must be a multiple of 8 from 24 to 256");
  Op op = effect_without_memory(b, set_max_registers);
  auto& use = b.payload<RegisterCount>(op);
  use.count = count;
  use.more = ptx::has(b.instruction(), ".inc");
  b.emit(op);
}

constexpr Form kCluster[] = {
    {"mapa[.shared::cluster]{.u32,.u64}", "*", mapping, 78, 90},
    {"getctarank[.shared::cluster]{.u32,.u64}", "*", mapping, 78, 90},
    {"barrier.cluster.arrive|[.release,.relaxed][.aligned]", "", barrier_cluster, 78, 90},
    {"barrier.cluster.wait|[.acquire][.aligned]", "", barrier_cluster, 78, 90},
    {"setmaxnreg{.inc,.dec}|.sync.aligned.u32", "*", registers, 80, 90, "af"},
};

}  // namespace

void check_register_counts(run::Context& context) {
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

std::span<const Form> cluster_forms() { return kCluster; }

}  // namespace bitwell::isa
