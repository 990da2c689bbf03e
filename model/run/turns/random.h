// Random numbers of a schedule.
#pragma once
#include <cstdint>
#include <memory>
#include <random>

namespace bitwell::run {

// Made of its seed when the first number is asked for: under most schedules nobody does, and to seed the
// generator takes longer than a short cluster runs.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  uint64_t operator()() {
    if (made_ == nullptr) made_ = std::make_unique<std::mt19937_64>(seed_);
    return (*made_)();
  }

 private:
  uint64_t seed_;
  std::unique_ptr<std::mt19937_64> made_;
};

}  // namespace bitwell::run
