// Parts of a device that serve so much in so many cycles.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace bitwell::timing {

// Times of a clock are whole numbers of a small part of a cycle: no sum of them hangs on its order, and what
// is the later of two is known at once.
using Time = int64_t;

inline constexpr int kCycleBits = 20;
inline constexpr Time kCycle = Time{1} << kCycleBits;

constexpr Time time_of(double cycles) {
  return static_cast<Time>(cycles * static_cast<double>(kCycle) + (cycles < 0 ? -0.5 : 0.5));
}
constexpr double cycles_of(Time time) { return static_cast<double>(time) / static_cast<double>(kCycle); }

// Some that are mostly asked together, each for itself: what is known of them of one time is one word.
// Time is cut into intervals of so many cycles, each of which serves what it can. Requests need not come in
// the order of time: one that is asked later takes what the interval has left. What each request looks at is
// one line of the host.
template <int kCycles, size_t Some = 1>
class alignas(64) Servers {
  static_assert(Some >= 1 && Some <= 4 && std::has_single_bit(static_cast<uint32_t>(kCycles)));
  using Word = std::conditional_t<Some == 1, uint32_t, uint64_t>;
  static constexpr int kBits = Some == 1 ? 32 : 16;  // of a word, for each
  // Of an interval a server has served less than all, in units of time; or its highest bit is set: it has
  // nothing left. Then the others say so many behind the next one is the first that may have.
  static constexpr uint32_t kMark = uint32_t{1} << (kBits - 1);
  static constexpr int kInterval = kCycleBits + std::countr_zero(static_cast<uint32_t>(kCycles));
  static constexpr int kUnit = Some == 1 ? 0 : kInterval - (kBits - 1);
  static constexpr uint32_t kAll = uint32_t{1} << (kInterval - kUnit);
  static_assert(kUnit >= 0 && kAll <= kMark);
  using Eight [[gnu::vector_size(16)]] = int16_t;
  using Two [[gnu::vector_size(16)]] = uint64_t;

 public:
  // `rate`: of what it serves, a cycle. `now`: requests are for then, or a little earlier, or later; there is
  // then room for what lies ahead, and no more. There are thousands.
  explicit Servers(double rate = 1, const Time* now = nullptr)
      : mask_((uint64_t{1} << (now == nullptr ? kMostBits : kLeastBits)) - 1),
        slots_(make_slots(mask_ + 1)),
        now_(now),
        rate_(rate) {}

  // What is asked of some of them for one time: each for so long, the last part of which takes its own time.
  class Asks {
   public:
    void add(size_t which, Time amount, Time last) {
      const int at = kBits * static_cast<int>(which);
      const auto field = [at](uint32_t what) { return static_cast<Word>(static_cast<Word>(what) << at); };
      const uint32_t units = in_units(amount);
      alone_ = asked_ == 0 ? amount - last : std::max(alone_, amount - last);
      amounts_[which] = units;
      last_[which] = static_cast<int32_t>(in_units(last));
      if constexpr (Some == 4)
        parts_[which] = static_cast<int16_t>(std::min<uint32_t>(in_units(last), kMark - 1));
      asked_ |= field(2 * kMark - 1);
      if (units < kAll)
        all_ |= field(units);
      else
        much_ |= field(kMark);
    }

   private:
    friend class Servers;
    Word all_ = 0, asked_ = 0;  // in units, and all bits of those that are asked
    Word much_ = 0;             // the highest bit of those that are asked for a whole interval
    Time alone_ = 0;            // until the last part begins, where nobody else has asked
    std::array<int32_t, Some> last_{};
    std::array<uint32_t, Some> amounts_{};
    Eight parts_{};  // the last ones, where an interval may have all
  };
  // When the last part of all that is asked for that time begins.
  [[gnu::always_inline]] Time run(Time at, const Asks& asks) {
    Time out;
    return runs_at_once(at, asks, out) ? out : run_slowly(at, asks);
  }
  // Of one operation, of which the last server has the first part: the others are asked for when that begins.
  [[gnu::always_inline]] Time run_one(Time at, const Asks& asks) {
    Time out;
    return runs_at_once(at, asks, out) ? out : run_in_turn(at, asks);
  }
  // The same, where the last server alone is asked.
  [[gnu::always_inline]] Time run_last(Time at, const Asks& asks) {
    Interval& there = slots_[index(at) & mask_];
    if (is_here(there, at)) [[likely]] {
      constexpr int kLast = kBits * (static_cast<int>(Some) - 1);
      if (const Word sum = there.used + asks.all_, used = sum >> kLast; used < kAll) [[likely]] {
        there.used = sum;
        const auto last = static_cast<Time>(used) - asks.last_[Some - 1];
        return std::max(begin(at) + (last << kUnit), at + asks.alone_);
      }
    }
    return run_slowly(at, asks);
  }

  // Where there is one. How long it takes to serve so much.
  Time amount(double what) const requires(Some == 1) { return time_of(what / rate_); }
  // When what is asked for that time, and takes so long, has been served.
  [[gnu::always_inline]] Time take(Time at, Time amount) requires(Some == 1) {
    served_ += amount;
    Interval& there = slots_[index(at) & mask_];
    if (is_here(there, at)) [[likely]] {
      if (const Time sum = there.used + amount; sum < Time{kAll}) [[likely]] {
        there.used = static_cast<uint32_t>(sum);
        return std::max(begin(at) + sum, at + amount);
      }
    }
    if (amount == 0) return at;
    return std::max(take_slowly(0, index(at), static_cast<uint64_t>(amount)), at + amount);
  }
  double served() const requires(Some == 1) { return cycles_of(served_) * rate_; }
  double rate() const { return rate_; }
  // Into the host's caches, what is known of that time.
  void fetch(Time at) const { __builtin_prefetch(&slots_[index(at) & mask_]); }

 private:
  // So many intervals are remembered at most, as the longest turn may last; a power of 2.
  static constexpr int kMostBits = 11;
  static constexpr int kLeastBits = 7;
  // What is known of an interval. All zero at first: those that are never asked for cost nothing.
  struct Interval {
    Word used;
    uint32_t index;  // the lowest bits: which of those that share the place
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
  static Slots make_slots(size_t many) {
    Slots out(static_cast<Interval*>(std::calloc(many, sizeof(Interval))));
    if (out == nullptr) throw std::bad_alloc();
    return out;
  }
  static constexpr uint32_t in_units(Time time) {
    constexpr Time kHalf = kUnit == 0 ? 0 : Time{1} << (std::max(kUnit, 1) - 1);
    return static_cast<uint32_t>(std::min<Time>((time + kHalf) >> kUnit, UINT32_MAX / 2));
  }
  static constexpr Word highest() {
    Word out = 0;
    for (size_t k = 0; k < Some; ++k) out |= static_cast<Word>(Word{kMark} << (kBits * static_cast<int>(k)));
    return out;
  }
  static constexpr uint64_t index(Time at) { return static_cast<uint64_t>(at) >> kInterval; }
  static constexpr Time begin(Time at) { return at & -(Time{1} << kInterval); }
  static constexpr Time end(uint64_t index, uint64_t used) {
    return static_cast<Time>((index << kInterval) + (used << kUnit));
  }
  // Whether what is known of that time stands there, or nothing that is to be kept, which goes then: at a
  // look.
  [[gnu::always_inline]] bool is_here(Interval& there, Time at) const {
    const uint64_t number = index(at);
    const auto behind = static_cast<int32_t>(there.index - static_cast<uint32_t>(number));
    if (behind == 0) [[likely]]
      return true;
    if (static_cast<int64_t>(number) + behind >= kept_from_) return false;
    there.used = 0;
    there.index = static_cast<uint32_t>(number);
    return true;
  }
  // The most by which a server has more than its last part, or 0. None that is not asked has more.
  [[gnu::always_inline]] static int32_t latest(Word used, const Asks& asks) {
    if constexpr (Some == 4) {  // side by side, none of which has its highest bit
      const Eight by = std::bit_cast<Eight>(Two{used, 0}) - asks.parts_;
      const Eight two = larger(by, __builtin_shufflevector(by, by, 2, 3, 2, 3, 4, 5, 6, 7));
      return larger(two, __builtin_shufflevector(two, two, 1, 1, 1, 1, 4, 5, 6, 7))[0];
    }
    int32_t out = 0;
    for (size_t k = 0; k < Some; ++k)
      out = std::max(out, static_cast<int32_t>(field(used, k)) - asks.last_[k]);
    return out;
  }
  static Eight larger(Eight a, Eight b) { return a > b ? a : b; }
  // If one interval has all of it.
  [[gnu::always_inline]] bool runs_at_once(Time at, const Asks& asks, Time& out) {
    Interval& there = slots_[index(at) & mask_];
    return is_here(there, at) && runs_there(there, at, asks, out);
  }
  [[gnu::always_inline]] bool runs_there(Interval& there, Time at, const Asks& asks, Time& out) {
    const Word sum = there.used + asks.all_;
    const Word asked = (sum & asks.asked_) | asks.much_;
    if ((asked & highest()) != 0) return false;
    there.used = sum;
    out = std::max(begin(at) + (Time{latest(asked, asks)} << kUnit), at + asks.alone_);
    return true;
  }
  // When the last part of what that server is asked for begins.
  Time run_part(size_t which, Time at, const Asks& asks) {
    return take_slowly(which, index(at), asks.amounts_[which]) - (Time{asks.last_[which]} << kUnit);
  }
  [[gnu::noinline]] Time run_slowly(Time at, const Asks& asks) {
    Time out;
    if (runs_there(interval(index(at)), at, asks, out)) return out;
    out = at + asks.alone_;
    for (size_t k = 0; k < Some; ++k)
      if (field(asks.asked_, k) != 0) out = std::max(out, run_part(k, at, asks));
    return out;
  }
  [[gnu::noinline]] Time run_in_turn(Time at, const Asks& asks) {
    Time out;
    if (runs_there(interval(index(at)), at, asks, out)) return out;
    const Time begin = out = std::max(at, run_part(Some - 1, at, asks));
    for (size_t k = 0; k + 1 < Some; ++k)
      if (field(asks.asked_, k) != 0) out = std::max(out, run_part(k, begin, asks));
    return out;
  }
  static constexpr uint32_t field(Word of, size_t which) {
    return static_cast<uint32_t>(of >> (kBits * static_cast<int>(which))) & (2 * kMark - 1);
  }
  static void set(Interval& there, size_t which, uint32_t to) {
    there.used ^= static_cast<Word>(Word{field(there.used, which) ^ to} << (kBits * static_cast<int>(which)));
  }
  // What one interval has not got, the next ones have. Returns when it has been served.
  [[gnu::noinline]] Time take_slowly(size_t which, uint64_t index, uint64_t amount) {
    if (full_[which].has(index)) index = full_[which].to;
    for (;;) {
      Interval* there = &interval(index);
      if (field(there->used, which) >= kMark) {
        index = not_full(which, index);
        there = &interval(index);
      }
      const uint32_t used = field(there->used, which), free = kAll - used;
      if (amount < free) {
        set(*there, which, used + static_cast<uint32_t>(amount));
        return end(index, used + amount);
      }
      amount -= free;
      set(*there, which, kMark);
      fill(full_[which], index);
      ++index;
      if (amount == 0) return end(index, 0);
    }
  }
  // The first from there on that has something left.
  uint64_t not_full(size_t which, uint64_t index) {
    const auto next = [&](uint64_t from) -> uint64_t {
      const uint32_t used = field(interval(from).used, which);
      return used < kMark ? from : from + (used & (kMark - 1)) + 1;
    };
    uint64_t to = index;
    for (uint64_t further = next(to); further != to; further = next(to)) to = further;
    while (index < to) {  // the way is shorter next time
      const uint64_t further = next(index);
      if (further == index) break;
      set(interval(index), which,
          kMark | static_cast<uint32_t>(std::min<uint64_t>(to - index - 1, kMark - 1)));
      index = further;
    }
    return to;
  }
  static void fill(Full& full, uint64_t index) {
    if (index == full.to)
      ++full.to;
    else if (index > full.to)
      full = {index, index + 1};
  }
  // Where that one stands now.
  Interval& interval(uint64_t number) {
    Interval* out = &slots_[number & mask_];
    if (out->index == static_cast<uint32_t>(number)) return *out;
    if (now_ != nullptr) kept_from_ = static_cast<int64_t>(index(*now_)) - kBack;
    while (out->index != static_cast<uint32_t>(number)) {
      if (may_go(number, *out)) {
        *out = {0, static_cast<uint32_t>(number)};
        for (size_t k = 0; k < Some; ++k)
          if (full_[k].has(number)) set(*out, k, kMark);
        break;
      }
      make_room();
      out = &slots_[number & mask_];
    }
    return *out;
  }
  static constexpr int64_t kBack = 64;
  // Whether what is there, and is not of that interval, need not be kept.
  bool may_go(uint64_t number, const Interval& at) const {
    return at.used == 0 || mask_ >> (kMostBits - 1) != 0 ||
           index_of(static_cast<int64_t>(number), at) < kept_from_;
  }
  // The interval that stands there, and is near that other one.
  static int64_t index_of(int64_t near, const Interval& at) {
    return near + static_cast<int32_t>(at.index - static_cast<uint32_t>(near));
  }
  void make_room() {
    Slots few = std::move(slots_);
    const size_t many = mask_ + 1;
    Slots more = make_slots(2 * many);
    for (size_t i = 0; i < many; ++i) {
      if (few[i].used == 0) continue;
      const int64_t index = index_of(kept_from_, few[i]);
      if (index >= kept_from_) more[static_cast<uint64_t>(index) % (2 * many)] = few[i];
    }
    slots_ = std::move(more);
    mask_ = 2 * mask_ + 1;
  }
  uint64_t mask_;  // of a place by an interval's number
  Slots slots_;
  int64_t kept_from_ = INT64_MIN / 2;  // those before are over, as of when that was last asked for
  Time served_ = 0;
  const Time* now_;
  double rate_;
  std::array<Full, Some> full_{};
};

template <int kCycles>
using Server = Servers<kCycles>;

}  // namespace bitwell::timing
