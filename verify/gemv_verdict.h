// Verdicts on the GEMV rungs: simulator against the direct model of each rung's order, against the recorded
// bits of a GPU, and against exact arithmetic.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "verify/captures.h"
#include "verify/gemv.h"

namespace bitwell::verify {

struct GemvVerdict {
  std::string rung;
  std::string arch;
  int cases = 0;
  uint64_t outputs = 0;
  uint64_t mismatches = 0;  // outputs whose bits differ from the order's direct evaluation, or from sm_90a's
  std::string first_mismatch;  // "case, row r: inputs => observed expected", or a fault's text
  std::string replay;          // LAUNCH.json of the first failed case
  double worst_ulp = 0;        // against exact arithmetic, over outputs whose exact value is finite in fp16
  uint64_t beyond_range = 0;   // outputs infinitely far from the exact value: overflow inside the sum
  std::string evidence;
  std::string digest;  // of all outputs in order
  uint64_t lane_instructions = 0;
  double seconds = 0;  // of simulation
  bool holds = false;
};

struct GemvPlan {
  std::vector<std::string> rungs;  // names; empty: all
  std::vector<std::string> archs{"sm_90a", "sm_100a"};
  bool full = false;                      // the three contest shapes too
  int threads = 0;                        // 0: as many as the host has
  std::string kernels;                    // folder of the PTX
  std::string captures;                   // folder of the captures
  std::string replay = "bitwell-replay";  // folder for failed cases
  std::function<void(size_t done, size_t all, const std::string& now)> progress = nullptr;
};

// One verdict a rung and architecture, in the order of the rungs.
std::vector<GemvVerdict> verify_gemv(const GemvPlan& plan);

}  // namespace bitwell::verify
