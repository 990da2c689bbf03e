// A launch that ended without an answer: what its program and the command are told.
#pragma once
#include <exception>
#include <string>

#include "verify/driver/core/asked.h"
#include "verify/driver/core/refused.h"

namespace bitwell::driver {

// Told already.
struct NotRun : Refused {
  explicit NotRun(CUresult code_) : Refused(code_) {}
};

struct Ending {
  Status status;
  std::string verdict;  // for the table
  std::string words;
  CUresult error;
  bool said = false;  // once, whichever launch met it first
  bool lost = false;  // the context
};
Ending ending_of(const std::exception_ptr& why);

}  // namespace bitwell::driver
