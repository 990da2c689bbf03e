// A suite's case as data, until it is drawn: it can be printed, told apart, and sent to another process,
// which draws the same launches and expects the same bytes.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verify/suite/suite.h"

namespace bitwell::suite {

struct Case {
  std::string suite, kernel, arch;  // "gemv", "fused", "sm_90a"
  // Shapes, data and seed, as the kernel's list has them ("m=37 k=1152 l=1 moderate blocked seed 1001"); or
  // "another 17": Kernel::another of that seed.
  std::string of;

  auto operator<=>(const Case&) const = default;
};

// "gemv/fused.sm_90a: m=37 k=1152 l=1 moderate blocked seed 1001", on one line.
std::string text_of(const Case& c);
// Throws InputError for a text that is none, and for a suite, kernel, architecture or case that is not there,
// naming what is.
Case read_case(std::string_view text);

// All of a kernel, in the order in which they are judged; `full`: with those that only a full run has.
std::vector<Case> cases_of(const Suite& suite, const Kernel& kernel, const std::string& arch, bool full);

// Throws as read_case does.
PlannedCase planned(const Case& c);
// With the kernels' PTX in that folder.
SuiteCase draw(const Case& c, const std::string& kernels);

}  // namespace bitwell::suite
