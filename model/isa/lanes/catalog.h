// The lane loops by name, for the widest instruction set of the host.
#pragma once
#include <string>
#include <unordered_map>

#include "model/isa/form/op.h"

namespace bitwell::isa {

// Lane arithmetic by name: the instruction as written, ".rn" left out ("add.f32", "fma.ftz.f32",
// "setp.lt.s32").
using Catalog = std::unordered_map<std::string, Lanes>;

// The catalog of the widest instruction set that this host has: avx512, avx2 or scalar.
const Catalog& lanes_catalog();
// Each of them by name, for tests; empty where the host cannot run it.
const Catalog& lanes_catalog(const std::string& level);

// An op that runs the loop of that name, its bits tracked. ModelBug if there is none.
Op lane_op(const std::string& name);

}  // namespace bitwell::isa
