// Names of objects in memory, and those that an address outside a CTA's own memories is beside, for messages.
#pragma once
#include <string>

#include "model/run/cta.h"

namespace bitwell::run {

// A C++ name as it was written: "pipeline::full".
std::string readable(const std::string& name);

// An object that an address is in or beside.
struct Beside {
  std::string text;    // ", 32 bytes into 'tile' of 32 bytes", or empty where nothing has a name
  std::string object;  // its name, or empty where none is near
};
// Of a CTA's shared memory by its shared::cluster address, of the entry's parameters by offset, of .const
// variables by address.
Beside beside_shared(const Cta& cta, uint64_t address);
Beside beside_parameters(const Grid& grid, uint64_t offset);
Beside beside_constants(const Grid& grid, uint64_t address);

}  // namespace bitwell::run
