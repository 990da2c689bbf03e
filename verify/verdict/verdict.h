// What is found about one kernel on one architecture.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/capture/captures.h"
#include "verify/suite/suite.h"
#include "verify/verdict/judged.h"
#include "verify/verdict/occupied.h"

namespace bitwell::verdict {

struct Verdict {
  std::string kernel;  // "gemv_naive"
  std::string arch;    // "sm_90a"
  int cases = 0;
  uint64_t outputs = 0;
  uint64_t mismatches = 0;  // outputs whose bits differ from the order's direct evaluation, under the first
                            // schedule of a case that shows it; 1 for a fault
  std::string first_mismatch;      // "case, output i => observed expected", or a fault's text
  std::string replay;              // LAUNCH.json of the first failed case
  std::string replay_error;        // why it could not be written
  std::string replay_options;      // of `bitwell run`, after the file: the schedule under which it fails
  double worst_ulp = 0;            // against exact arithmetic, over outputs whose exact value is finite
  uint64_t beyond_range = 0;       // outputs infinitely far from the exact value: overflow inside the sum
  std::string evidence;            // the strongest first; what is said after "rest" is the weakest
  uint64_t published_outputs = 0;  // that a B200 gave, as others printed them, and this kernel too
  uint64_t published_words = 0;    // of single instructions, likewise, that the expected results rest on
  std::string digest;              // of all outputs in order
  uint64_t lane_instructions = 0;
  double seconds = 0;                // of simulation
  std::optional<Occupied> occupied;  // of a kernel that says what it reserves
  std::string note;                  // the kernel's, or empty
  bool holds = false;
};

// What is said of a case that failed. Its launch is written to the folder as the replay, where one is given;
// a folder that cannot be written leaves the reason there.
Judged::Failure failure_of(const suite::Failure& failure, const std::string& folder);
// Counts it; the verdict's first is told.
void add_failure(Verdict& v, const Judged::Failure& failure);

// Names in the evidence of a verdict that holds what was published, and leaves the rest as weak as it was.
void add_published(Verdict& v);

// Holds the recorded digest of `subject` against the verdict's: evidence if they agree, a failure if not,
// nothing if there is none.
void compare_with_capture(Verdict& v, const std::optional<capture::Capture>& capture,
                          const std::string& subject);

// Names in the evidence the devices whose reported digest of `name` is the verdict's. Others count for
// nothing: a kernel changes, and a report does not.
void add_reported(Verdict& v, const std::vector<capture::Capture>& reported, const std::string& name);

}  // namespace bitwell::verdict
