// Places in words.
#pragma once
#include <cstdint>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {

// "PTX line 12 (naive.cu:30)", of an inlined function "PTX line 12 (wait.cuh:7, from naive.cu:30)"; as far as
// it is known.
std::string line_of(const Place& place);
// "PTX line 12 (naive.cu:30), CTA (0,0,0), thread (5,0,0)", as far as it is known.
std::string where(const Place& place);

// "0x7f00", of an address.
std::string hex(uint64_t address);

}  // namespace bitwell::machine
