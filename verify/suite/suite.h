// What a kernel is judged by: cases, each with the bytes that every schedule must leave.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/run/launch.h"
#include "verify/suite/chain.h"

namespace bitwell::verify {

struct SuiteCase {
  std::string name;
  Chain chain;
  size_t result = 0;                // buffer of its last launch
  size_t element = 1;               // bytes of an output
  std::vector<std::byte> expected;  // of the result
  std::vector<isa::Schedule> schedules;
};

struct Failure {
  std::string what;  // "case, schedule random, seed 3: output 7 => 0x3c00 expected 0x3c01", or a fault's text
  bool fault = false;  // of the kernel; else wrong bits
  uint64_t wrong = 0;  // outputs; 1 for a fault
  isa::Schedule schedule;
  Launch launch;  // the one that faulted, or the last; its buffers as they were before it
};

struct Tried {
  std::optional<Failure> failure;
  std::vector<std::byte> result;  // empty after a fault
  uint64_t lane_instructions = 0;
  uint64_t warp_instructions = 0;
  double seconds = 0;  // of simulation
};

// The program of a launch, compiled once.
using Programs = std::function<const isa::Program&(const Launch&)>;

// Runs a case under a schedule. Throws what isa::run does but Fault, which is the kernel's failure.
Tried try_case(const SuiteCase& c, const isa::Schedule& schedule, const Programs& programs,
               isa::Options options = {});

}  // namespace bitwell::verify
