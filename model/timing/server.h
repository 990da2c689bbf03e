// Parts of a device that serve so much in so many cycles.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace bitwell::timing {

// Some that are mostly asked together, each for itself: what is known of them of one time stands together.
// Time is cut into intervals, each of which serves what it can. Requests need not come in the order of time:
// one that is asked later takes what the interval has left.
template <size_t Some>
class Servers {
 public:
  // `rate`: units a cycle. `now`: requests are for then, or a little earlier, or later; there is then room
  // for what lies ahead, and no more. There are thousands.
  Servers(double interval, double rate, const double* now = nullptr)
      : inverse_(1 / interval),
        interval_(interval),
        cycles_(1 / rate),
        capacity_(static_cast<float>(interval * rate)),
        bits_(now == nullptr ? kMostBits : kLeastBits),
        mask_((uint64_t{1} << bits_) - 1),
        now_(now),
        rate_(rate),
        slots_(make_slots(bits_)) {}

  // A time for which one or more are asked.
  struct Then {
    double at;
    int64_t index;  // of its interval
    uint16_t round;
  };
  [[gnu::always_inline]] Then then(double at) const {
    const auto index = static_cast<int64_t>(at * inverse_);
    return {at, index, static_cast<uint16_t>(static_cast<uint64_t>(index) >> bits_)};
  }
  // When `amount` that is asked of that one for that time has been served.
  [[gnu::always_inline]] double take(size_t which, Then& then, double amount) {
    const auto number = static_cast<uint64_t>(then.index);
    Interval& there = slots_[number & mask_];
    if (there.round[which] == then.round) {
      if (amount < capacity_ - static_cast<double>(there.used[which])) [[likely]] {
        there.used[which] += static_cast<float>(amount);
        return served_at(then, there.used[which], amount);
      }
    } else if (amount < capacity_ && !full_[which].has(number) && may_go(number, there, which)) [[likely]] {
      there.set(which, then.round, 0, static_cast<float>(amount));
      return served_at(then, there.used[which], amount);
    }
    const double out = take_slowly(which, number, then.at, amount);
    then = this->then(then.at);  // there may be more room now
    return out;
  }
  [[gnu::always_inline]] double take(size_t which, double at, double amount) {
    Then then = this->then(at);
    return take(which, then, amount);
  }
  // Where there is one.
  [[gnu::always_inline]] double take(double at, double amount) requires(Some == 1) {
    served_ += amount;
    return take(0, at, amount);
  }
  double served() const requires(Some == 1) { return served_; }
  double rate() const { return rate_; }
  // Into the host's caches, what is known of that time.
  void fetch(double at) const {
    __builtin_prefetch(&slots_[static_cast<uint64_t>(static_cast<int64_t>(at * inverse_)) & mask_]);
  }

 private:
  // So many intervals are remembered at most, as the longest turn may last; a power of 2.
  static constexpr int kMostBits = 11;
  static constexpr int kLeastBits = 7;
  // Of each server what is known of an interval. All zero at first: those that are never asked for cost
  // nothing.
  struct Interval {
    std::array<uint16_t, Some> round;  // which of those intervals that share the place
    std::array<uint16_t, Some>
        further;  // of one that is full: so many behind the next one is the first that may not be
    std::array<float, Some> used;
    void set(size_t which, uint16_t its_round, uint16_t its_further, float its_used) {
      round[which] = its_round;
      further[which] = its_further;
      used[which] = its_used;
    }
  };
  // The last run of intervals that have nothing left.
  struct Full {
    uint64_t from = 0, to = 0;
    bool has(uint64_t index) const { return index < to && index >= from; }
  };
  struct Free {
    void operator()(Interval* s) const { std::free(s); }
  };
  using Slots = std::unique_ptr<Interval[], Free>;
  static Slots make_slots(int bits) {
    Slots out(static_cast<Interval*>(std::calloc(size_t{1} << bits, sizeof(Interval))));
    if (out == nullptr) throw std::bad_alloc();
    return out;
  }
  double served_at(const Then& then, float used, double amount) const {
    return std::max(static_cast<double>(then.index) * interval_ + static_cast<double>(used) * cycles_,
                    then.at + amount * cycles_);
  }
  // Of an interval that had another's place, or that has not got as much left.
  [[gnu::noinline]] double take_slowly(size_t which, uint64_t index, double at, double amount) {
    if (full_[which].has(index)) index = full_[which].to;
    Interval& there = interval(which, index);
    if (amount < capacity_ - static_cast<double>(there.used[which])) {
      there.used[which] += static_cast<float>(amount);
      return std::max(end(index, there.used[which]), at + amount * cycles_);
    }
    return amount > 0 ? std::max(take_several(which, index, amount), at + amount * cycles_) : at;
  }
  // Where that one of that server stands now.
  Interval& interval(size_t which, uint64_t index) {
    Interval& out = slots_[index & mask_];
    const auto round = static_cast<uint16_t>(index >> bits_);
    if (out.round[which] == round) return out;
    if (!may_go(index, out, which)) return interval_with_room(which, index);
    out.set(which, round, 0, 0);
    return out;
  }
  static constexpr uint64_t kBack = 64;
  uint64_t now_index() const { return static_cast<uint64_t>(static_cast<int64_t>(*now_ * inverse_)); }
  // Whether what is there, and is not of that interval, need not be kept: at a look.
  bool may_go(uint64_t index, const Interval& at, size_t which) const {
    if (at.used[which] <= 0 || bits_ == kMostBits) return true;
    const auto rounds = static_cast<int16_t>(static_cast<uint16_t>((index >> bits_) - at.round[which]));
    return rounds > 0 && index + kBack < now_index() + (static_cast<uint64_t>(rounds) << bits_);
  }
  [[gnu::noinline]] Interval& interval_with_room(size_t which, uint64_t index) {
    Interval* out = &slots_[index & mask_];
    while (!may_go(index, *out, which) &&
           index_of(index, index & mask_, out->round[which]) + kBack >= now_index()) {
      make_room();
      out = &slots_[index & mask_];
      if (out->round[which] == static_cast<uint16_t>(index >> bits_)) return *out;
    }
    out->set(which, static_cast<uint16_t>(index >> bits_), 0, 0);
    return *out;
  }
  // The interval of that round that stands at that place, and is near that other one.
  uint64_t index_of(uint64_t near, size_t place, uint16_t its_round) const {
    const uint64_t round = near >> bits_;
    const auto by = static_cast<int16_t>(static_cast<uint16_t>(its_round - static_cast<uint16_t>(round)));
    return (round + static_cast<uint64_t>(static_cast<int64_t>(by))) << bits_ | place;
  }
  void make_room() {
    Slots few = std::move(slots_);
    const size_t many = size_t{1} << bits_;
    const uint64_t now = now_index();
    Slots more = make_slots(bits_ + 1);
    for (size_t i = 0; i < many; ++i)
      for (size_t which = 0; which < Some; ++which) {
        const Interval& from = few[i];
        if (from.used[which] <= 0) continue;
        const uint64_t index = index_of(now, i, from.round[which]);
        if (index + kBack < now) continue;
        more[index % (2 * many)].set(which, static_cast<uint16_t>(index >> (bits_ + 1)), from.further[which],
                                     from.used[which]);
      }
    slots_ = std::move(more);
    ++bits_;
    mask_ = 2 * mask_ + 1;
  }
  bool is_full(const Interval& there, size_t which) const {
    return static_cast<double>(there.used[which]) >= capacity_;
  }
  // The first from there on that has something left.
  uint64_t not_full(size_t which, uint64_t index) {
    uint64_t to = index;
    for (const Interval* s = &interval(which, to); is_full(*s, which); s = &interval(which, to))
      to += s->further[which] + 1;
    while (index < to) {  // the way is shorter next time
      uint16_t& further = interval(which, index).further[which];
      const uint64_t next = index + further + 1;
      further = static_cast<uint16_t>(std::min<uint64_t>(to - index - 1, UINT16_MAX));
      index = next;
    }
    return to;
  }
  double end(uint64_t index, float used) const {
    return static_cast<double>(static_cast<int64_t>(index)) * interval_ + static_cast<double>(used) * cycles_;
  }
  // What one interval has not got, the next ones have.
  double take_several(size_t which, uint64_t index, double amount) {
    for (double left = amount;; ++index) {
      Interval* there = &interval(which, index);
      if (is_full(*there, which)) {
        index = not_full(which, index);
        there = &interval(which, index);
      }
      float& used = there->used[which];
      const double free = capacity_ - static_cast<double>(used);
      if (left < free) {
        used += static_cast<float>(left);
        return end(index, used);
      }
      left -= free;
      used = static_cast<float>(capacity_);
      fill(full_[which], index);
      if (left <= 0) return end(index, used);
    }
  }
  static void fill(Full& full, uint64_t index) {
    if (index == full.to)
      ++full.to;
    else if (index > full.to)
      full = {index, index + 1};
  }
  double inverse_, interval_, cycles_, capacity_;
  int bits_;
  uint64_t mask_;  // of a place by an interval's number
  const double* now_;
  double rate_;
  double served_ = 0;
  Slots slots_;
  std::array<Full, Some> full_{};
};

using Server = Servers<1>;

}  // namespace bitwell::timing
