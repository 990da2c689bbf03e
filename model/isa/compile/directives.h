// The directives of a function.
#pragma once
#include "model/ptx/syntax.h"

namespace bitwell::isa {

// Refuses (InputError, Unsupported) directives that the function, the version or the target may not have, as
// ptxas 13.0 does.
void check_directives(const ptx::Function& function, int version, int sm);

}  // namespace bitwell::isa
