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
    uint64_t index;  // of its interval
    uint16_t round;
    size_t first;  // of the slots there
    double begin;
  };
  [[gnu::always_inline]] Then then(double at) const {
    const auto index = static_cast<int64_t>(std::max(0.0, at) * inverse_);
    const auto number = static_cast<uint64_t>(index);
    return {at, number, static_cast<uint16_t>(number >> bits_), place(0, number),
            static_cast<double>(index) * interval_};
  }
  // When `amount` that is asked of that one for that time has been served.
  [[gnu::always_inline]] double take(size_t which, Then& then, double amount) {
    const Full& full = full_[which];
    uint64_t index = then.index;
    if (index < full.to && index >= full.from) {
      index = full.to;
    } else if (Slot& slot = slots_[then.first + which]; slot.round == then.round) {
      if (amount < capacity_ - static_cast<double>(slot.used)) [[likely]] {
        slot.used += static_cast<float>(amount);
        return std::max(then.begin + static_cast<double>(slot.used) * cycles_, then.at + amount * cycles_);
      }
    } else if (amount < capacity_ && may_go(index, slot)) [[likely]] {
      slot = {then.round, 0, static_cast<float>(amount)};
      return std::max(then.begin + static_cast<double>(slot.used) * cycles_, then.at + amount * cycles_);
    }
    const double out = take_slowly(which, index, then.at, amount);
    then = this->then(then.at);  // slots may stand elsewhere now
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
  void fetch(double at) const { __builtin_prefetch(&slots_[then(at).first]); }

 private:
  // So many intervals are remembered at most, as the longest turn may last; a power of 2.
  static constexpr int kMostBits = 11;
  static constexpr int kLeastBits = 7;
  // All zero at first: those that are never asked for cost nothing.
  struct Slot {
    uint16_t round;    // which of those intervals that share it
    uint16_t further;  // of one that is full: so many behind the next one is the first that may not be
    float used;
  };
  // The last run of intervals that have nothing left.
  struct Full {
    uint64_t from = 0, to = 0;
  };
  struct Free {
    void operator()(Slot* s) const { std::free(s); }
  };
  using Slots = std::unique_ptr<Slot[], Free>;
  static Slots make_slots(int bits) {
    Slots out(static_cast<Slot*>(std::calloc(Some << bits, sizeof(Slot))));
    if (out == nullptr) throw std::bad_alloc();
    return out;
  }
  size_t place(size_t which, uint64_t index) const { return (index & mask_) * Some + which; }
  // Of an interval that had another's place, or that has not got as much left.
  [[gnu::noinline]] double take_slowly(size_t which, uint64_t index, double at, double amount) {
    Slot& slot = this->slot(which, index);
    if (amount < capacity_ - static_cast<double>(slot.used)) {
      slot.used += static_cast<float>(amount);
      return std::max(end(index, slot), at + amount * cycles_);
    }
    return amount > 0 ? std::max(take_several(which, index, amount), at + amount * cycles_) : at;
  }
  Slot& slot(size_t which, uint64_t index) {
    Slot& out = slots_[place(which, index)];
    const auto round = static_cast<uint16_t>(index >> bits_);
    if (out.round == round) return out;
    if (!may_go(index, out)) return slot_with_room(which, index);
    out = {round, 0, 0};
    return out;
  }
  static constexpr uint64_t kBack = 64;
  uint64_t now_index() const { return static_cast<uint64_t>(static_cast<int64_t>(*now_ * inverse_)); }
  // Whether what is there, and is not of that interval, need not be kept: at a look.
  bool may_go(uint64_t index, const Slot& at) const {
    if (at.used <= 0 || bits_ == kMostBits) return true;
    const auto rounds = static_cast<int16_t>(static_cast<uint16_t>((index >> bits_) - at.round));
    return rounds > 0 && index + kBack < now_index() + (static_cast<uint64_t>(rounds) << bits_);
  }
  [[gnu::noinline]] Slot& slot_with_room(size_t which, uint64_t index) {
    Slot* out = &slots_[place(which, index)];
    while (!may_go(index, *out) && index_of(index, place(which, index) / Some, *out) + kBack >= now_index()) {
      make_room();
      out = &slots_[place(which, index)];
      if (out->round == static_cast<uint16_t>(index >> bits_)) return *out;
    }
    *out = {static_cast<uint16_t>(index >> bits_), 0, 0};
    return *out;
  }
  // The interval that stands at that place, and is near that other one.
  uint64_t index_of(uint64_t near, size_t place, const Slot& at) const {
    const uint64_t round = near >> bits_;
    const auto by = static_cast<int16_t>(static_cast<uint16_t>(at.round - static_cast<uint16_t>(round)));
    return (round + static_cast<uint64_t>(static_cast<int64_t>(by))) << bits_ | place;
  }
  void make_room() {
    Slots few = std::move(slots_);
    const size_t many = size_t{1} << bits_;
    const uint64_t now = now_index();
    Slots more = make_slots(bits_ + 1);
    for (size_t i = 0; i < many; ++i)
      for (size_t which = 0; which < Some; ++which) {
        const Slot& from = few[i * Some + which];
        if (from.used <= 0) continue;
        const uint64_t index = index_of(now, i, from);
        if (index + kBack < now) continue;
        more[index % (2 * many) * Some + which] = {static_cast<uint16_t>(index >> (bits_ + 1)), from.further,
                                                   from.used};
      }
    slots_ = std::move(more);
    ++bits_;
    mask_ = 2 * mask_ + 1;
  }
  // The first from there on that has something left.
  uint64_t not_full(size_t which, uint64_t index) {
    uint64_t to = index;
    for (const Slot* s = &slot(which, to); static_cast<double>(s->used) >= capacity_; s = &slot(which, to))
      to += s->further + 1;
    while (index < to) {  // the way is shorter next time
      Slot& s = slot(which, index);
      const uint64_t next = index + s.further + 1;
      s.further = static_cast<uint16_t>(std::min<uint64_t>(to - index - 1, UINT16_MAX));
      index = next;
    }
    return to;
  }
  double end(uint64_t index, const Slot& s) const {
    return static_cast<double>(static_cast<int64_t>(index)) * interval_ +
           static_cast<double>(s.used) * cycles_;
  }
  // What one interval has not got, the next ones have.
  double take_several(size_t which, uint64_t index, double amount) {
    for (double left = amount;; ++index) {
      Slot* slot = &this->slot(which, index);
      if (static_cast<double>(slot->used) >= capacity_) {
        index = not_full(which, index);
        slot = &this->slot(which, index);
      }
      const double free = capacity_ - static_cast<double>(slot->used);
      if (left < free) {
        slot->used += static_cast<float>(left);
        return end(index, *slot);
      }
      left -= free;
      slot->used = static_cast<float>(capacity_);
      fill(full_[which], index);
      if (left <= 0) return end(index, *slot);
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
