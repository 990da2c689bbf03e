// Whose word a rule rests on, where devices keep more than the manual promises.
#pragma once
#include <cstdint>

namespace bitwell::machine {

// What a kernel may count on, and a random schedule has to keep.
enum class Promise : uint8_t {
  devices,  // what every device was seen to keep, as kernels in use count on it
  manual    // what PTX ISA says, and no more
};

}  // namespace bitwell::machine
