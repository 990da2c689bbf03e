// What became of a case on one architecture. Verdicts are made of nothing else, so that any number of
// processes may judge the cases.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/run/watch/footprint.h"
#include "verify/suite/case.h"

namespace bitwell::verdict {

struct Judged {
  suite::Case of;
  uint64_t outputs = 0;
  struct Failure {
    uint64_t wrong = 0;  // outputs whose bits differ, under the first schedule that shows it; 1 for a fault
    std::string what;    // "case, output i => observed expected", or a fault's text
    std::string replay, replay_options, replay_error;  // as Verdict has them; empty where none was asked for

    bool operator==(const Failure&) const = default;
  };
  std::optional<Failure> failure{};
  double worst_ulp = 0;
  uint64_t beyond_range = 0;
  uint64_t published_outputs = 0;
  bool approximates = false;  // has instructions whose bits nobody has recorded of that architecture
  run::Footprint touched{};
  std::optional<std::vector<std::byte>> recorded{};  // its part of what the recorded digest is of
  uint64_t lane_instructions = 0;
  double seconds = 0;  // of simulation
};

}  // namespace bitwell::verdict
