// The schedules under which kernels are tried.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "model/run/turns/schedule.h"

namespace bitwell::launch {

// The first `n`: lazy, eager, starve-producer, starve-consumer, starve-stores, then random with the seeds 1,
// 2, ... `kept`: what the random ones leave in order.
std::vector<run::Schedule> schedules(size_t n, machine::Promise kept = machine::Promise::devices);

// The first `n` but for the one that describe() calls `but`.
std::vector<run::Schedule> other_schedules(size_t n, const std::string& but, machine::Promise kept);

// "lazy"; "random, seed 3".
std::string describe(const run::Schedule& schedule);

// Of `bitwell run`, after the file: " --schedule random --seed 3", and " --strict" where it keeps no more
// than the manual. Empty for the default.
std::string replay_options(const run::Schedule& schedule);

}  // namespace bitwell::launch
