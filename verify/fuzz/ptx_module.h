// PTX modules that a fuzzer can afford to compile and run.
#pragma once
#include "model/ptx/syntax.h"

namespace bitwell::fuzz {

// Whether the module's variables take so little memory (1 MiB all together, 16 KiB a local or parameter) that
// what a run uses is bitwell's own doing. Refusals of sizes leave as they are thrown.
bool small(const ptx::Module& module);

}  // namespace bitwell::fuzz
