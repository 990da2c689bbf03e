// A part of a device that serves so much in so many cycles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace bitwell::timing {

// Time is cut into intervals, each of which serves what it can. Requests need not come in the order of time:
// one that is asked later takes what the interval has left.
class Server {
 public:
  // `rate`: units a cycle. So many intervals, a power of 2, are remembered as the longest turn may last.
  Server(double interval, double rate, size_t slots = 1 << 11)
      : interval_(interval),
        rate_(rate),
        inverse_(1 / interval),
        cycles_(1 / rate),
        capacity_(static_cast<float>(interval * rate)),
        slots_(slots) {}

  // When `amount` that is asked for at that time has been served.
  double take(double at, double amount) {
    served_ += amount;
    auto index = static_cast<uint64_t>(std::max(0.0, at) * inverse_);
    if (index >= full_from_ && index < full_to_) index = full_to_;
    double end = at;
    for (double left = amount; left > 0; ++index) {
      Slot& slot = slots_[index & (slots_.size() - 1)];
      if (slot.index != static_cast<uint32_t>(index)) slot = {static_cast<uint32_t>(index), 0};
      const double free = capacity_ - static_cast<double>(slot.used);
      if (free <= 0) continue;
      const double now = std::min(free, left);
      left -= now;
      slot.used = now == free ? static_cast<float>(capacity_) : slot.used + static_cast<float>(now);
      end = static_cast<double>(index) * interval_ + static_cast<double>(slot.used) * cycles_;
      if (now == free) fill(index);
    }
    return std::max(end, at + amount * cycles_);
  }
  double served() const { return served_; }
  double rate() const { return rate_; }

 private:
  struct Slot {
    uint32_t index = 0;
    float used = 0;
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
  double interval_, rate_, inverse_, cycles_, capacity_;
  double served_ = 0;
  uint64_t full_from_ = 0, full_to_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace bitwell::timing
