// From ops on virtual rows to ops on real ones: blocks in reverse post-order, targets as pcs, rows by
// liveness.
#pragma once
#include "model/isa/compile/function_builder.h"

namespace bitwell::isa {

// Finishes `function`, whose ops `builder` emitted. Registers that some path may read before writing keep a
// row of their own, so that reading one is seen as reading nothing.
void assign_slots(Function& function, const FunctionBuilder& builder);

}  // namespace bitwell::isa
