// Which ops may follow one within its function.
#pragma once
#include <cstdint>

#include "model/isa/form/program.h"

namespace bitwell::isa {

// Calls f(pc) for each op that may be next behind the one at `pc`: where it jumps to, and the one behind it
// unless it always leaves.
template <class F>
void each_next(const Function& function, uint32_t pc, const F& f) {
  const Op& op = function.code[pc];
  if (op.kind == OpKind::branch || op.kind == OpKind::jump) f(op.target);
  if (op.kind == OpKind::table)
    for (const uint32_t target : *op.targets) f(target);
  const bool goes_on = falls_through(op.kind) || (op.kind != OpKind::jump && op.guard != 0);
  if (goes_on && pc + 1 < function.code.size()) f(pc + 1);
}

}  // namespace bitwell::isa
