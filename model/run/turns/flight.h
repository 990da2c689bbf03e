// Launches that are in flight together, as one stream has them, and the clock that is theirs.
#pragma once
#include <cstdint>

namespace bitwell::isa {

class Flight {
 public:
  // Logical time: warp instructions executed so far.
  uint64_t time() const { return time_; }
  void pass(uint64_t instructions) { time_ += instructions; }
  // Of memory and of what a split may wait for, so far.
  uint64_t changes() const { return changes_; }
  void change() { ++changes_; }

 private:
  uint64_t time_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace bitwell::isa
