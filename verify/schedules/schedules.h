// A launch that runs under several schedules: PTX leaves the order open, so that a kernel whose outputs
// depend on it is wrong.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/launch/file/launch_json.h"
#include "verify/launch/schedule_list.h"
#include "verify/launch/start.h"

namespace bitwell::schedules {

// Where two schedules part: a fault under `second`, or else a byte of an output buffer.
struct Disagreement {
  run::Schedule first, second;
  std::string fault;  // empty: bytes differ
  size_t buffer = 0;
  uint64_t byte = 0;
  std::byte of_first{}, of_second{};
};

// Told before each run on the caller's thread.
using SchedulesProgress = std::function<void(size_t done, const run::Schedule& next)>;

// Runs a launch under each schedule and compares its outputs with the first's, every byte; ends at the first
// that differs or faults. `first`, if given, gets what the first run left. `options` say the rest; what the
// kernel prints is printed once, and behind the first so many schedules run at once as they have host
// threads. Throws what run::run does but Fault.
std::optional<Disagreement> disagreement(const launch::Start& start, run::Options options,
                                         const std::vector<run::Schedule>& under,
                                         const SchedulesProgress& progress = nullptr,
                                         std::optional<launch::Ran>* first = nullptr);
}  // namespace bitwell::schedules
