#include "model/run/turns/residency.h"

#include <algorithm>

#include "model/isa/form/reserved_shared.h"
#include "model/machine/arch.h"
#include "model/machine/limits.h"

namespace bitwell::run {

namespace {

constexpr uint32_t kWarp = 32;

uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

// What the entry's directives promise of its registers: CTAs of this size that they leave room for.
struct Promise {
  uint32_t ctas = 0;
  std::string by;  // the directive
};
Promise promised(const isa::Function& entry, uint32_t threads) {
  const auto first = [&](const char* name) {
    const auto at = entry.directives.find(name);
    return at == entry.directives.end() ? 0 : static_cast<uint64_t>(at->second.front());
  };
  Promise out;
  const auto consider = [&](uint64_t ctas, const std::string& by) {
    if (ctas > out.ctas) out = {static_cast<uint32_t>(std::min<uint64_t>(ctas, UINT32_MAX)), by};
  };
  const uint64_t most = first(".maxnreg");
  if (most != 0 && most <= machine::kMaxRegisters)
    consider(ctas_by_registers(threads, static_cast<uint32_t>(most)), ".maxnreg " + std::to_string(most));
  // They hold for the largest block that the entry allows: without a limit for none.
  if (entry.directives.count(".maxntid") != 0 || entry.directives.count(".reqntid") != 0) {
    if (const uint64_t least = first(".minnctapersm"); least != 0)
      consider(least, ".minnctapersm " + std::to_string(least));
    consider(1, entry.directives.count(".maxntid") != 0 ? ".maxntid" : ".reqntid");
  }
  return out;
}

}  // namespace

// The units are cuda_occupancy.h's.
uint64_t allocated_shared(int sm, uint64_t bytes) { return round_up(bytes, sm < 80 ? 256 : 128); }

uint32_t ctas_by_registers(uint32_t threads, uint32_t registers) {
  const uint32_t warps = (threads + kWarp - 1) / kWarp;
  const auto of_a_warp = static_cast<uint32_t>(round_up(uint64_t{registers} * kWarp, machine::kRegisterUnit));
  if (of_a_warp * round_up(warps, machine::kQuarters) > machine::kRegisters) return 0;
  return machine::kRegisters / machine::kQuarters / of_a_warp * machine::kQuarters / warps;
}

Residency residency(const isa::Program& program, const Shape& asked) {
  const Shape shape = full_shape(program, asked);
  const machine::Arch& arch = machine::arch(program.sm);
  // A warp takes its lanes whether all are threads or not.
  const auto threads =
      static_cast<uint32_t>(round_up(shape.block[0] * shape.block[1] * shape.block[2], kWarp));
  const uint64_t shared =
      allocated_shared(program.sm, program.dynamic_shared + shape.dynamic_shared -
                                       isa::reserved_shared(program) + arch.sm_shared - arch.shared);
  Residency out;
  out.ctas_per_sm = arch.sm_ctas;
  out.limited_by = Scarce::ctas;
  const auto limit = [&](uint64_t ctas, Scarce by) {
    if (ctas >= out.ctas_per_sm) return;
    out.ctas_per_sm = static_cast<uint32_t>(ctas);
    out.limited_by = by;
  };
  limit(arch.sm_threads / threads, Scarce::threads);
  if (shared != 0) limit(arch.sm_shared / shared, Scarce::shared_memory);
  const Promise promise = promised(program.functions[static_cast<size_t>(program.entry)], threads);
  if (shape.registers != 0) limit(ctas_by_registers(threads, shape.registers), Scarce::registers);
  out.sure_per_sm = shape.registers != 0 ? out.ctas_per_sm : std::min(promise.ctas, out.ctas_per_sm);
  out.rests_on = kScarce[static_cast<size_t>(out.limited_by)];
  if (out.limited_by == Scarce::registers)
    out.rests_on += ", " + std::to_string(shape.registers) + " a thread";
  else if (out.sure_per_sm == 0)
    out.rests_on += "; registers, which PTX does not tell, may allow fewer";
  else if (out.sure_per_sm < out.ctas_per_sm)
    out.rests_on +=
        "; registers may allow fewer, " + std::to_string(out.sure_per_sm) + " for sure by " + promise.by;
  const uint64_t size = shape.ctas_a_cluster();
  out.all = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2] / size;
  out.room = uint64_t{out.ctas_per_sm} * arch.device.sms / size;
  if (size > 1 && arch.device.gpcs != 0) {
    const uint64_t in_gpcs = arch.device.gpcs * (uint64_t{out.ctas_per_sm} * arch.device.gpc_sms / size);
    if (in_gpcs < std::min(out.room, out.all))
      out.rests_on += "; a cluster lies in one of " + std::to_string(arch.device.gpcs) + " GPCs of " +
                      std::to_string(arch.device.gpc_sms) + " SMs at most";
    out.room = std::min(out.room, in_gpcs);
  }
  out.clusters = std::min(out.room, out.all);
  return out;
}

}  // namespace bitwell::run
