// A part of a device that serves so much in so many cycles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace bitwell::timing {

// Time is cut into intervals, each of which serves what it can. Requests need not come in the order of time:
// one that is asked later takes what the interval has left.
class Server {
 public:
  // `rate`: units a cycle.
  Server(double interval, double rate)
      : interval_(interval),
        rate_(rate),
        inverse_(1 / interval),
        cycles_(1 / rate),
        capacity_(static_cast<float>(interval * rate)),
        slots_(static_cast<Slot*>(std::calloc(kSlots, sizeof(Slot)))) {
    if (slots_ == nullptr) throw std::bad_alloc();
  }

  // When `amount` that is asked for at that time has been served.
  double take(double at, double amount) {
    served_ += amount;
    auto index = static_cast<uint64_t>(static_cast<int64_t>(std::max(0.0, at) * inverse_));
    if (index >= full_from_ && index < full_to_) index = full_to_;
    Slot& slot = this->slot(index);
    if (amount < capacity_ - static_cast<double>(slot.used)) [[likely]] {
      slot.used += static_cast<float>(amount);
      return std::max(end(index, slot), at + amount * cycles_);
    }
    return std::max(take_several(index, at, amount), at + amount * cycles_);
  }
  double served() const { return served_; }
  double rate() const { return rate_; }

 private:
  // So many intervals, a power of 2, are remembered as the longest turn may last.
  static constexpr uint64_t kSlots = 1 << 11;
  // All zero at first: those that are never asked for cost nothing.
  struct Slot {
    uint16_t round;    // which of those intervals that share it
    uint16_t further;  // of one that is full: so many behind the next one is the first that may not be
    float used;
  };
  Slot& slot(uint64_t index) {
    Slot& out = slots_[index % kSlots];
    const auto round = static_cast<uint16_t>(index / kSlots);
    if (out.round != round) out = {round, 0, 0};
    return out;
  }
  // The first from there on that has something left.
  uint64_t not_full(uint64_t index) {
    uint64_t to = index;
    for (const Slot* s = &slot(to); static_cast<double>(s->used) >= capacity_; s = &slot(to))
      to += s->further + 1;
    while (index < to) {  // the way is shorter next time
      Slot& s = slot(index);
      const uint64_t next = index + s.further + 1;
      s.further = static_cast<uint16_t>(std::min<uint64_t>(to - index - 1, UINT16_MAX));
      index = next;
    }
    return to;
  }
  double end(uint64_t index, const Slot& s) const {
    return static_cast<double>(index) * interval_ + static_cast<double>(s.used) * cycles_;
  }
  // What one interval has not got, the next ones have.
  [[gnu::noinline]] double take_several(uint64_t index, double at, double amount) {
    double out = at;
    for (double left = amount; left > 0; ++index) {
      index = not_full(index);
      Slot& slot = this->slot(index);
      const double free = capacity_ - static_cast<double>(slot.used);
      const double now = std::min(free, left);
      left -= now;
      slot.used = now == free ? static_cast<float>(capacity_) : slot.used + static_cast<float>(now);
      out = end(index, slot);
      if (now == free) fill(index);
    }
    return out;
  }
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
  struct Free {
    void operator()(Slot* s) const { std::free(s); }
  };
  std::unique_ptr<Slot[], Free> slots_;
};

}  // namespace bitwell::timing
