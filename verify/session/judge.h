// What every question has in common, whoever makes its first run.
#pragma once
#include <functional>
#include <memory>

#include "verify/launch/start.h"
#include "verify/session/races.h"

namespace bitwell::session {

// Runs the launch, and leaves in the answer what it came to: its result, what its arithmetic lost, the memory
// that is its own.
using FirstRun =
    std::function<void(const run::Options& options, const launch::Beginning& beginning, Answer& out)>;

// The question's launch from its beginning, once more; it took so many warp instructions. Nobody watches but
// whom `add` adds.
launch::Ran made_again(const Question& question, const launch::Start& start, uint64_t took,
                       const std::function<void(run::Options&)>& add);
constexpr uint64_t kNotKnown = UINT64_MAX / 8;  // how many it took

// `start`: from where the launch can be made again; nullptr where nothing asks for that.
Answer judge(const Question& question, const launch::Start* start, std::unique_ptr<Races> races,
             const FirstRun& run);

}  // namespace bitwell::session
