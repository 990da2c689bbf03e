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
  // `rate`: units a cycle. `now`: requests are for then, or a little earlier, or later; it then has room for
  // what lies ahead, and no more. There are thousands.
  Server(double interval, double rate, const double* now = nullptr)
      : interval_(interval),
        rate_(rate),
        inverse_(1 / interval),
        cycles_(1 / rate),
        capacity_(static_cast<float>(interval * rate)),
        now_(now),
        bits_(now == nullptr ? kMostBits : kLeastBits),
        mask_((uint64_t{1} << bits_) - 1),
        slots_(make_slots(bits_)) {}

  // When `amount` that is asked for at that time has been served.
  [[gnu::always_inline]] double take(double at, double amount) {
    served_ += amount;
    auto index = static_cast<uint64_t>(static_cast<int64_t>(std::max(0.0, at) * inverse_));
    if (index >= full_from_ && index < full_to_) index = full_to_;
    Slot& slot = slots_[index & mask_];
    const auto round = static_cast<uint16_t>(index >> bits_);
    if (slot.round == round) {
      if (amount < capacity_ - static_cast<double>(slot.used)) [[likely]] {
        slot.used += static_cast<float>(amount);
        return std::max(end(index, slot), at + amount * cycles_);
      }
    } else if (amount < capacity_ && may_go(index, slot)) [[likely]] {
      slot = {round, 0, static_cast<float>(amount)};
      return std::max(end(index, slot), at + amount * cycles_);
    }
    return take_slowly(index, at, amount);
  }
  double served() const { return served_; }
  double rate() const { return rate_; }

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
  struct Free {
    void operator()(Slot* s) const { std::free(s); }
  };
  using Slots = std::unique_ptr<Slot[], Free>;
  static Slots make_slots(int bits) {
    Slots out(static_cast<Slot*>(std::calloc(size_t{1} << bits, sizeof(Slot))));
    if (out == nullptr) throw std::bad_alloc();
    return out;
  }
  // Of an interval that had another's place, or that has not got as much left.
  [[gnu::noinline]] double take_slowly(uint64_t index, double at, double amount) {
    Slot& slot = this->slot(index);
    if (amount < capacity_ - static_cast<double>(slot.used)) {
      slot.used += static_cast<float>(amount);
      return std::max(end(index, slot), at + amount * cycles_);
    }
    return amount > 0 ? std::max(take_several(index, amount), at + amount * cycles_) : at;
  }
  Slot& slot(uint64_t index) {
    Slot& out = slots_[index & mask_];
    const auto round = static_cast<uint16_t>(index >> bits_);
    if (out.round == round) return out;
    if (!may_go(index, out)) return slot_with_room(index);
    out = {round, 0, 0};
    return out;
  }
  // Whether what is there, and is not of that interval, need not be kept.
  bool may_go(uint64_t index, const Slot& at) const {
    return bits_ == kMostBits || at.used <= 0 || is_past(index, at);
  }
  [[gnu::noinline]] Slot& slot_with_room(uint64_t index) {
    Slot* out = &slots_[index & mask_];
    while (!may_go(index, *out) && lies_ahead(index, *out)) {
      make_room();
      out = &slots_[index & mask_];
      if (out->round == static_cast<uint16_t>(index >> bits_)) return *out;
    }
    *out = {static_cast<uint16_t>(index >> bits_), 0, 0};
    return *out;
  }
  // Whether what is there, and is not of that interval, is known to be past without asking for the time.
  bool is_past(uint64_t index, const Slot& at) const {
    return static_cast<int16_t>(static_cast<uint16_t>((index >> bits_) - at.round)) > 0 &&
           index <= past_ + mask_;
  }
  // Whether it may still be asked for.
  bool lies_ahead(uint64_t index, const Slot& at) {
    past_ = std::max(now_index(), kBack) - kBack;
    return index_of(index, at) >= past_;
  }
  static constexpr uint64_t kBack = 64;
  uint64_t now_index() const { return static_cast<uint64_t>(std::max(0.0, *now_) * inverse_); }
  // The interval that stands there, which is near that one.
  uint64_t index_of(uint64_t near, const Slot& at) const {
    const uint64_t round = near >> bits_;
    const auto by = static_cast<int16_t>(static_cast<uint16_t>(at.round - static_cast<uint16_t>(round)));
    const uint64_t place = static_cast<uint64_t>(&at - slots_.get());
    return (round + static_cast<uint64_t>(static_cast<int64_t>(by))) << bits_ | place;
  }
  void make_room() {
    const int bits = bits_ + 1;
    Slots more = make_slots(bits);
    const uint64_t now = now_index();
    for (size_t i = 0; i < size_t{1} << bits_; ++i) {
      const Slot& from = slots_[i];
      const uint64_t index = index_of(now, from);
      if (from.used <= 0 || index + kBack < now) continue;
      more[index % (uint64_t{1} << bits)] = {static_cast<uint16_t>(index >> bits), from.further, from.used};
    }
    slots_ = std::move(more);
    bits_ = bits;
    mask_ = (uint64_t{1} << bits) - 1;
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
    return static_cast<double>(static_cast<int64_t>(index)) * interval_ +
           static_cast<double>(s.used) * cycles_;
  }
  // What one interval has not got, the next ones have.
  double take_several(uint64_t index, double amount) {
    for (double left = amount;; ++index) {
      Slot* slot = &this->slot(index);
      if (static_cast<double>(slot->used) >= capacity_) {
        index = not_full(index);
        slot = &this->slot(index);
      }
      const double free = capacity_ - static_cast<double>(slot->used);
      if (left < free) {
        slot->used += static_cast<float>(left);
        return end(index, *slot);
      }
      left -= free;
      slot->used = static_cast<float>(capacity_);
      fill(index);
      if (left <= 0) return end(index, *slot);
    }
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
  const double* now_;
  uint64_t past_ = 0;  // intervals that come before that one are
  int bits_;
  uint64_t mask_;
  Slots slots_;
};

}  // namespace bitwell::timing
