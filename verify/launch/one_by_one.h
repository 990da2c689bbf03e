// Launches that follow one another, for those who watch what each does.
#pragma once
#include <functional>
#include <memory>

#include "verify/launch/launch.h"

namespace bitwell::verify {

// A launch and those that follow it; copies and fills are none.
size_t count_launches(const Launch& launch);

// Told before a launch begins: its program, and its step; nullptr: it is the first.
using Beginning = std::function<void(const std::shared_ptr<const isa::Program>& program, const Step* step)>;

// As simulate(), but no two launches are in flight together: a programmatic one begins when the one before
// has ended. `program` stays as long as what `beginning` keeps.
isa::RunResult simulate_one_by_one(const isa::Program& program, Launch& launch, const isa::Options& options,
                                   bool all_written, const Beginning& beginning);

}  // namespace bitwell::verify
