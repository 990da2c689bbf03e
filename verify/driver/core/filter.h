// Which kernels a command means, by their names.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/driver/core/asked.h"

namespace bitwell::driver {

// Whether anything of this process is.
bool is_judged(const Asked& asked);
// By its name in PTX. A process that the program started itself has none where only the program is asked for.
bool is_meant(const Asked& asked, const std::string& kernel);

// Which launches of a process are judged: of the kernels that are meant those behind the first so many, so
// many.
class Choice {
 public:
  bool takes(const Asked& asked, const std::string& kernel);

 private:
  uint64_t matched_ = 0;
};

// "NAME" or "kernel_substring=NAME" or "kns=NAME": a part of the name, mangled or as it is written;
// "kernel_name=NAME" or "kne=NAME": the name, or its C++ name without types; "regex:..." as it says. Throws
// InputError for an expression that is none.
bool names_kernel(const std::string& pattern, const std::string& kernel);

}  // namespace bitwell::driver
