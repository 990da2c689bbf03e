// What a suite's kernels would take on a device, by the model of time: each at the largest of its cases.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "verify/session/time.h"
#include "verify/verdict/judge.h"

namespace bitwell::verdict {

struct TimedCase {
  suite::Case of;
  std::string shape;     // "m=257 n=72 k=128 l=1", as the case's text begins
  std::string device;    // whose costs: "H200"; empty: none has a table for this code
  std::string bound_by;  // of the launch that takes longest
  double us = 0, low = 0, high = 0;
  bool by_code = false;   // by the machine code of all launches
  std::string why_not{};  // it has no time; else empty
};

// `device`: a table's name, or empty: of each kernel the one that runs its code. By shape, then the fastest
// first. A kernel that fails has none, and says why. Throws as judge does, and InputError of a device without
// a table.
std::vector<TimedCase> time_suite(const suite::Suite& suite, const Plan& plan, const std::string& device);

// Of launches that follow one another, which are run anew each time.
session::TimeQuestion time_question(const suite::Chain& chain, launch::Modules& modules);

// The numbers that a case's text begins with, and their product: "m=3 n=7 k=48 l=2 moderate ..." has 2,016.
std::string shape_of(const std::string& text);
double size_of(const std::string& shape);

}  // namespace bitwell::verdict
