// A part of a device that serves so much in so many cycles.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bitwell::timing {

// Time is cut into intervals, each of which serves what it can. Requests need not come in the order of time:
// one that is asked later takes what the interval has left.
class Server {
 public:
  // `rate`: units a cycle.
  Server(double interval, double rate) : interval_(interval), rate_(rate), slots_(kSlots) {}

  // When `amount` that is asked for at that time has been served.
  double take(double at, double amount) {
    served_ += amount;
    const double capacity = interval_ * rate_;
    double end = at;
    auto index = static_cast<uint64_t>(std::max(0.0, at) / interval_);
    if (index >= full_from_ && index < full_to_) index = full_to_;
    for (double left = amount; left > 0; ++index) {
      Slot& slot = slots_[index % kSlots];
      if (slot.index != index) slot = {index, 0};
      const double free = capacity - slot.used;
      if (free <= 0) continue;
      const double now = std::min(free, left);
      slot.used += now;
      left -= now;
      end = static_cast<double>(index) * interval_ + slot.used / rate_;
      if (slot.used >= capacity) fill(index);
    }
    return std::max(end, at + amount / rate_);
  }
  double served() const { return served_; }
  double rate() const { return rate_; }

 private:
  static constexpr size_t kSlots = 1 << 11;
  struct Slot {
    uint64_t index = 0;
    double used = 0;
  };
  // The last run of intervals that have nothing left.
  void fill(uint64_t index) {
    if (index == full_to_)
      ++full_to_;
    else if (index > full_to_) {
      full_from_ = index;
      full_to_ = index + 1;
    }
  }
  double interval_, rate_;
  double served_ = 0;
  uint64_t full_from_ = 0, full_to_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace bitwell::timing
