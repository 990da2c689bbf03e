// What a model of time does with an instruction.
#pragma once
#include <cstdint>
#include <string_view>

#include "model/isa/form/unit.h"

namespace bitwell::timing {

enum class OpKind : uint8_t {
  arithmetic,     // a pipe is busy, then its result is there
  multiply_warp,  // mma.sync
  multiply,       // wgmma
  memory,         // loads and stores of lanes
  barrier,        // what waits or orders
  copy,           // starts an operation of the copy engine
  tensor,         // starts one of tensor memory: tcgen05.mma, cp, shift
  tensor_load,    // tcgen05.ld
  tensor_store,   // tcgen05.st
  order           // wgmma.fence and others that take their time and no more
};

// A load or store that nobody waits for: others may see it a little earlier or later.
bool is_weak(std::string_view name);
OpKind kind_of(std::string_view name, isa::Unit unit);

}  // namespace bitwell::timing
