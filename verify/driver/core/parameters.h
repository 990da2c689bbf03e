// What a launch hands to its kernel, as programs give it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/isa/compile/module.h"

namespace bitwell::driver {

// From where they stand, one by one, or in a buffer that `extra` of cuLaunchKernel leads to. Refused with
// what is wrong of them.
std::vector<std::vector<std::byte>> parameters_of(const isa::Program& program, const std::string& kernel,
                                                  void* const* parameters);
std::vector<std::vector<std::byte>> parameters_of(const isa::Program& program, const std::string& kernel,
                                                  std::span<const std::byte> buffer);
std::span<const std::byte> buffer_of(void** extra);

}  // namespace bitwell::driver
