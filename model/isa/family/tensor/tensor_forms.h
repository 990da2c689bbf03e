// What the checks of tcgen05 instructions share.
#pragma once
#include "model/isa/family/emit.h"

#define CTA_GROUP "{.cta_group::1,.cta_group::2}"

namespace bitwell::isa {

inline int cta_group(const ptx::Instruction& i) { return ptx::has(i, ".cta_group::2") ? 2 : 1; }

}  // namespace bitwell::isa
