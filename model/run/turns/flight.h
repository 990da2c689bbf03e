// Launches that are in flight together, as one stream has them, and the clock that is theirs.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

namespace bitwell::run {

class Flight {
 public:
  // Logical time: warp instructions executed so far.
  uint64_t time() const { return time_; }
  void pass(uint64_t instructions) {
    time_ += instructions;
    if (time_ >= call_at_) [[unlikely]] {
      call_at_ = UINT64_MAX;
      call_();
    }
  }
  // Calls it once, when it is so late.
  void call_at(uint64_t time, std::function<void()> what) {
    call_at_ = time;
    call_ = std::move(what);
  }
  // Of memory and of what a split may wait for, so far.
  uint64_t changes() const { return changes_; }
  void change() { ++changes_; }

 private:
  uint64_t time_ = 0;
  uint64_t changes_ = 0;
  uint64_t call_at_ = UINT64_MAX;
  std::function<void()> call_;
};

}  // namespace bitwell::run
