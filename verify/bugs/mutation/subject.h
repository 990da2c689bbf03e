// Whom mistakes are planted into: bitwell's own kernels, with the cases that `bitwell verify` and the tests
// judge them by.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "verify/suite/suite.h"

namespace bitwell::bugs {

struct Subject {
  std::string name;  // "gemv/naive row-major"
  std::string ptx;   // file
  std::string entry;
  std::string
      unlike;  // a file whose instructions are not planted again, but for the names of registers; or empty
  std::function<std::vector<suite::SuiteCase>()> suite;
};

// Every kernel that a suite judges. `kernels`: the folder of their PTX.
std::vector<Subject> subjects(const std::string& kernels);

}  // namespace bitwell::bugs
