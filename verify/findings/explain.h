// What the data of findings came to: the launch is run again, and what was read is followed
// (model/run/watch/follow.h).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/hazard/flow/ways.h"
#include "model/run/watch/follow.h"
#include "verify/findings/report.h"
#include "verify/launch/launch.h"

namespace bitwell::findings {

// Of one finding, on one run.
struct Followed {
  std::string why_not;  // it could not be followed, or empty
  uint64_t places = 0;  // runs of bytes that were followed, of Finding::count
  std::vector<run::Follow::Output> outputs;
  std::vector<run::Follow::Use> uses;
  bool names_outputs = true;  // the launch file does; else all that is stored may be one
  // Where it goes into matrix products and sums of operations alone: the bytes that are others at the end of
  // a run in which its bits are inverted.
  struct Other {
    std::string buffer;
    uint64_t first, bytes;
  };
  std::optional<std::vector<Other>> others{};

  // Whether all that the finding is about was followed, and none of it came to anything.
  bool nowhere(const hazard::Finding& finding) const {
    return why_not.empty() && places == finding.count && outputs.empty() && uses.empty();
  }
};

// Makes the launch that the findings are of once more, from where it began, with what is added to its
// options, and returns what it left.
using Rerun = std::function<launch::Ran(const std::function<void(run::Options&)>& add)>;

// By finding, each of which has its Finding::met, as errors have it in any case. What is read is followed; of
// two writes what stands there then. Runs the launch once or twice for each that can be followed, and once
// more where what was read came first.
std::vector<Followed> follow(const std::vector<const hazard::Finding*>& findings,
                             const launch::Launch& launch, const Rerun& rerun);

// Whether that could change what is said of it: an error about something that was read.
bool may_be_nothing(const hazard::Finding& finding);

// What is to be said of a finding: nothing, where what was read came to nothing and by the PTX no path leads
// from there to an output, a branch or an address; a note at most, where it came to nothing on this run
// alone, of a launch that names its outputs. What may find another object or none (an index that leaves its
// array, freed memory), and what is wrong with an mbarrier or a register, stay what they are. `followed`:
// nullptr where it was not; `strict`: notes are errors.
hazard::Level level_of(const hazard::Finding& finding, const Followed* followed, const hazard::Way& way,
                       bool strict);

// "on this run 128 bytes of 'y' come of it, first byte 64, by PTX line 88 st.global.u32", or that nothing
// does, or why it was not followed.
std::string describe(const Followed& followed, const hazard::Finding& finding, const isa::Program& program);

}  // namespace bitwell::findings
