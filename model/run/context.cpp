#include "model/run/context.h"

namespace bitwell::isa {

using machine::Fault;
using machine::Split;
using machine::Wait;

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
  context.split().wait = Wait::converge;
  return false;
}

bool all_here(Context& context, uint32_t mask) {
  if (mask == context.warp.live()) return true;
  if (mask != context.split().mask)
    throw Fault("an aligned barrier under a guard that differs between threads of a warp",
                __builtin_ctz(mask));
  context.split().wait = Wait::converge;
  return false;
}

}  // namespace bitwell::isa
