// Which kernels a command means, by their names.
#pragma once
#include <string>
#include <vector>

#include "verify/driver/core/asked.h"

namespace bitwell::driver {

// By its name in PTX. A process that the program started itself has none where only the program is asked for.
bool is_meant(const Asked& asked, const std::string& kernel);

// "NAME" or "kernel_substring=NAME" or "kns=NAME": a part of the name, mangled or as it is written;
// "kernel_name=NAME" or "kne=NAME": the name, or its C++ name without types; "regex:..." as it says. Throws
// InputError for an expression that is none.
bool names_kernel(const std::string& pattern, const std::string& kernel);

}  // namespace bitwell::driver
