// Random numbers of a schedule.
#pragma once
#include <cstdint>
#include <optional>
#include <random>

namespace bitwell::run {

// Made of its seed when the first number is asked for: under most schedules nobody does, and to seed the
// generator takes longer than a short cluster runs.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  uint64_t operator()() {
    if (!made_) made_.emplace(seed_);
    return (*made_)();
  }

 private:
  uint64_t seed_;
  std::optional<std::mt19937_64> made_;
};

}  // namespace bitwell::run
