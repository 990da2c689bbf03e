#include "model/run/context.h"

#include "model/run/turns/synchronised.h"
#include "model/run/wait.h"

namespace bitwell::run {

using machine::Fault;
using machine::Split;

void Context::take_loaded(uint32_t offset, uint32_t mask) {
  machine::TensorLoads& loads = warp.tensor_loads;
  if (!loads.unread()) return;
  const uint64_t before = loads.used();
  for (const auto& load : loads.all) {
    if (load->activation.get() != &activation()) continue;
    for (size_t i = 0; i < load->registers.size();) {
      machine::TensorLoad::Register& r = load->registers[i];
      if (r.row == offset) {
        defined_at(offset) |= r.unread & mask & r.known;
        r.unread &= ~mask;
      }
      if (r.unread == 0)
        load->registers.erase(load->registers.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
  }
  if (loads.used() != before)
    tell_synchronised(Synchronisation::Kind::tensor_loads_used, cta, warp, split(), ~0u, loads.used());
}

void Context::loads_waited() {
  machine::TensorLoads& loads = warp.tensor_loads;
  for (const auto& load : loads.all)
    for (const machine::TensorLoad::Register& r : load->registers)
      load->activation->rows.defined()[r.row / machine::kRowBytes] |= r.unread & r.known;
  loads.waited += loads.all.size();
  loads.all.clear();
}

void Context::overwritten(uint32_t offset, uint32_t mask) {
  if (mask == 0) return;
  for (const auto& load : warp.tensor_loads.all)
    for (machine::TensorLoad::Register& r : load->registers)
      if (r.row == offset && load->activation.get() == &activation()) r.known &= ~mask;
}

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

bool whole_warp(Context& context, uint32_t mask) {
  if (mask == ~0u) return true;
  if (mask != context.split().mask)
    throw Fault("a .aligned instruction under a guard that differs between threads of a warp",
                __builtin_ctz(mask));
  if (context.warp.live() != ~0u)
    throw Fault("a .aligned instruction in a warp of which only " +
                    std::to_string(__builtin_popcount(context.warp.live())) + " threads are there",
                __builtin_ctz(mask));
  context.split().wait = &kMeets;
  return false;
}

bool all_here(Context& context, uint32_t mask) {
  if (mask == context.warp.live()) return true;
  if (mask != context.split().mask)
    throw Fault("an aligned barrier under a guard that differs between threads of a warp",
                __builtin_ctz(mask));
  context.split().wait = &kMeets;
  return false;
}

}  // namespace bitwell::run
