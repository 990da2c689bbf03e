// Device printf and assert: the functions that nvcc's code calls and the driver provides.
#pragma once
#include "model/isa/family/control/call.h"
#include "model/run/context.h"

namespace bitwell::isa {

// vprintf appends to the CTA's output, lanes in order, and returns the number of conversions; __assertfail
// faults with the assertion's text, file and line.
void builtin_call(const CallSite& site, run::Context& context, uint32_t mask);

}  // namespace bitwell::isa
