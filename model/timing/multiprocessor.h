// A multiprocessor, as far as time goes: its ports, and what its first cache holds.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/timing/cost.h"
#include "model/timing/crowd.h"
#include "model/timing/lines.h"
#include "model/timing/server.h"

namespace bitwell::timing {

// Sectors of 32 bytes that were read of late: the least recent line of a set goes first.
class alignas(64) L1 {
 public:
  void set_size(uint64_t bytes) {
    count_ = std::max<uint64_t>(bytes / kLine / kWays, 1);
    inverse_ = UINT64_MAX / count_;
    sets_.assign(count_, {});
    orders_.assign(count_, kInOrder);
  }
  // Into the host's caches, what is known of that line.
  void fetch(uint64_t line) const {
    const uint64_t set = set_of(line ^ (line >> 9));
    __builtin_prefetch(&sets_[set]);
    __builtin_prefetch(&orders_[set]);
  }
  // Sectors of a line, and where that stands until another one comes there.
  struct Place {
    uint32_t at = 0, is = 1, mask = 0;  // never there
  };
  // Whether that line still stands there, and has those sectors: then it is the most recent one, as if
  // misses() had been asked.
  [[gnu::always_inline]] bool has(const Place& place) {
    constexpr int kWayBits = std::countr_zero(kWays);
    const uint32_t set = place.at >> kWayBits, way = place.at % kWays;
    if ((sets_[set].ways[way] & place.mask) != place.is) return false;
    orders_[set] = to_front(orders_[set], way);
    return true;
  }
  // Which of those sectors of a line it has not got; from now on it has them. `number`: the line's own. `to`:
  // where they stand from now on.
  uint32_t misses(uint64_t line, uint32_t number, uint32_t sectors) {
    Place to;
    return misses(line, number, sectors, to);
  }
  [[gnu::always_inline]] uint32_t misses(uint64_t line, uint32_t number, uint32_t sectors, Place& to) {
    const uint64_t which = set_of(line ^ (line >> 9));
    std::array<uint32_t, kWays>& ways = sets_[which].ways;
    uint64_t& order = orders_[which];
    const uint32_t there = number + 1;
    const auto stands_at = [&](uint64_t way) {
      to = {static_cast<uint32_t>(which * kWays + way), there << kSectors | sectors,
            ~uint32_t{0} << kSectors | sectors};
    };
    // All at once; it is in one place at most.
    Four found{};
    for (uint32_t k = 0; k < kWays; k += 4) {
      Four some;
      std::memcpy(&some, &ways[k], sizeof some);
      found |= ((some >> kSectors) == there) & (Four{1, 2, 3, 4} + k);
    }
    const auto halves = std::bit_cast<std::array<uint64_t, 2>>(found);
    const uint64_t both = halves[0] | halves[1];
    const auto place = static_cast<uint32_t>(both | both >> 32);  // and 1
    if (place == 0) {
      const uint64_t last = order >> (64 - kPlaceBits);
      order = order << kPlaceBits | last;
      ways[last] = there << kSectors | sectors;
      stands_at(last);
      return sectors;
    }
    uint32_t& way = ways[place - 1];
    order = to_front(order, place - 1);
    stands_at(place - 1);
    const uint32_t missing = sectors & ~way;
    way |= sectors;
    return missing;
  }

 private:
  static constexpr uint32_t kWays = 16;
  static constexpr int kSectors = 4;
  using Four [[gnu::vector_size(16)]] = uint32_t;
  // A line's number and 1, and a bit for each of its sectors; 0 where there is none.
  struct alignas(64) Set {
    std::array<uint32_t, kWays> ways{};
  };
  // The places of a set, 4 bits each, that of the most recent line in the lowest ones.
  static constexpr int kPlaceBits = 4;
  static constexpr uint64_t kInOrder = 0xFEDCBA9876543210, kOnes = 0x1111111111111111;
  static uint64_t to_front(uint64_t order, uint64_t place) {
    // The lowest 4 bits that are 0 are those of the place; no borrow comes from below them.
    const uint64_t others = order ^ place * kOnes;
    const uint64_t at = (others - kOnes) & ~others & kOnes << 3;
    const uint64_t up_to = at ^ (at - 1);  // and its bits: the highest of them is the lowest one of `at`
    const uint64_t moved = (order << kPlaceBits | place) & up_to;
    return (order & ~up_to) | moved;
  }
  // The remainder, without a division: the product is the quotient, or one less.
  uint64_t set_of(uint64_t mixed) const {
    __extension__ using Product = unsigned __int128;
    const auto quotient = static_cast<uint64_t>(Product{mixed} * inverse_ >> 64);
    const uint64_t rest = mixed - quotient * count_;
    return rest < count_ ? rest : rest - count_;
  }
  std::vector<Set> sets_;
  std::vector<uint64_t> orders_;
  uint64_t count_ = 1, inverse_ = UINT64_MAX;
};

// The sectors of a line that lanes reach, a bit each.
struct LineSectors {
  uint64_t line;
  uint32_t sectors;
};

// What the first cache has asked for and has not got yet: whoever reaches it meanwhile has it when it comes.
// A line that another one has driven out of its place here is taken to be there.
class Coming {
 public:
  // When the last of all that was asked for is there.
  Time last() const { return last_; }
  // When those sectors of a line are there; 0: nothing is known of them.
  Time of(uint64_t line, uint32_t sectors) const {
    const Line& one = lines_[line % kLines];
    return one.line == line && (one.sectors & sectors) != 0 ? one.at : 0;
  }
  // They were asked for at `now`, and are there at `at`.
  void add(uint64_t line, uint32_t sectors, Time now, Time at) {
    Line& one = lines_[line % kLines];
    const bool some_come = one.line == line && one.at > now;
    one = {line, (some_come ? one.sectors : 0) | sectors, std::max(at, some_come ? one.at : 0)};
    last_ = std::max(last_, at);
  }

 private:
  static constexpr size_t kLines = 512;  // more than DRAM's latency has under way
  struct Line {
    uint64_t line = 0;
    uint32_t sectors = 0;
    Time at = 0;
  };
  std::array<Line, kLines> lines_{};
  Time last_ = 0;
};

// What lanes reach of L1: words of four bytes, in 32 banks, of which the busiest has `fronts`: so many
// wavefronts of 128 bytes.
struct Banks {
  static constexpr uint32_t kBanks = 32, kWord = 4;
  uint32_t words = 0, fronts = 0;
  // Wavefronts beyond those that so many words need at least.
  uint32_t conflicts() const { return fronts - (words + kBanks - 1) / kBanks; }
};

// Where a warp's lanes reached last that have addresses of their own: in a loop they most often go on in the
// same sectors.
class Spread {
 public:
  static constexpr size_t kLanes = 32, kSector = 32;
  struct Line {
    LineSectors is{};
    L1::Place place{};  // where the first cache had it
  };

  // Of all lanes, each of which reaches bytes of one sector: their addresses, side by side, and the lines
  // that they reach, no more than there are lanes. What is no such access is not remembered.
  void remember(const void* addresses, uint32_t bytes, const LineSectors* lines, size_t count, Banks banks) {
    bytes_ = 0;
    if (!std::has_single_bit(bytes) || bytes > kSector || count > kLanes) return;
    std::memcpy(addresses_.data(), addresses, sizeof addresses_);
    bytes_ = bytes;
    if (!is_again(addresses, bytes)) {  // some reach two
      bytes_ = 0;
      return;
    }
    count_ = count;
    banks_ = banks;
    sectors_ = 0;
    for (size_t k = 0; k < count; ++k) {
      lines_[k] = {lines[k], {}};
      sectors_ += static_cast<size_t>(std::popcount(lines[k].sectors));
    }
  }
  void forget() { bytes_ = 0; }
  bool empty() const { return bytes_ == 0; }
  // Whether so many lanes reach so many bytes in the same sectors, each in its own.
  bool is_again(const void* addresses, uint32_t bytes, size_t lanes = kLanes) const {
    if (lanes != kLanes || bytes != bytes_ || bytes == 0) return false;
    Two others{}, all{};
    for (size_t lane = 0; lane < kLanes; lane += 2) {
      Two now, then;
      std::memcpy(&now, static_cast<const uint64_t*>(addresses) + lane, sizeof now);
      std::memcpy(&then, &addresses_[lane], sizeof then);
      others |= now ^ then;
      all |= now;
    }
    return ((others[0] | others[1]) / kSector | ((all[0] | all[1]) & (bytes - 1))) == 0;
  }
  size_t count() const { return count_; }
  size_t sectors() const { return sectors_; }
  Banks banks() const { return banks_; }  // lanes go on side by side
  Line& line(size_t k) { return lines_[k]; }

 private:
  using Two [[gnu::vector_size(16)]] = uint64_t;
  std::array<uint64_t, kLanes> addresses_{};
  std::array<Line, kLanes> lines_;
  uint32_t bytes_ = 0;  // of each lane; 0: nothing is remembered
  size_t count_ = 0, sectors_ = 0;
  Banks banks_{};
};

enum class Pipe : uint8_t { alu, fma, fp64, sfu };
inline constexpr size_t kPipes = 4;
inline constexpr size_t kQuarters = 4;

// A quarter of it, which issues an instruction a cycle.
class Quarter {
  static constexpr size_t kIssue = kPipes - 1;  // in the place of the one that stands apart

 public:
  explicit Quarter(const Time* now) : often_(1, now), sfu_(1, now) {}
  // Of operations that are issued one behind the other: how many, what they ask of each pipe, and what the
  // last of them does.
  class Asks {
   public:
    void add_issues(Time issues) { often_.add(kIssue, issues, std::min(issues, kCycle)); }
    void add(Pipe pipe, Time amount, Time last) {
      if (pipe != Pipe::sfu) return often_.add(static_cast<size_t>(pipe), amount, last);
      sfu_ = amount;
      last_ = last;
    }

   private:
    friend class Quarter;
    Servers<16, kPipes>::Asks often_;
    Time sfu_ = 0, last_ = 0;
  };
  // When the last of 1 or more is issued, or begins in its pipe if that is later.
  [[gnu::always_inline]] Time run(Time at, const Asks& asks) {
    const Time out = often_.run(at, asks.often_);
    if (asks.sfu_ == 0) [[likely]]
      return out;
    return std::max(out, sfu_.take(at, asks.sfu_) - asks.last_);
  }
  // The same of one operation, which goes into its pipe when it is issued.
  [[gnu::always_inline]] Time run_one(Time at, const Asks& asks) {
    const Time out = often_.run_one(at, asks.often_);
    if (asks.sfu_ == 0) [[likely]]
      return out;
    return std::max(out, sfu_.take(out, asks.sfu_) - asks.last_);
  }
  // As run(), of what is issued and no more.
  [[gnu::always_inline]] Time issue(Time at, const Asks& asks) { return often_.run_last(at, asks.often_); }
  void fetch(Time at) const { often_.fetch(at); }

  Crowd crowd;

 private:
  Servers<16, kPipes> often_;
  Server<32> sfu_;
};

struct Multiprocessor {
  Multiprocessor(double bytes_a_cycle, const Time* now)
      : quarters{Quarter(now), Quarter(now), Quarter(now), Quarter(now)},
        memory(1, now),
        tensor_sync{Server<32>(1, now), Server<32>(1, now), Server<32>(1, now), Server<32>(1, now)},
        l2(bytes_a_cycle, now),
        copies(1, now),
        updates(1, now),
        tensor_memory(1, now) {}
  uint32_t number = 0, gpc = 0;  // of those that are looked at, and in which of theirs it lies
  std::array<Quarter, kQuarters> quarters;
  Server<16> memory;                              // wavefronts of shared memory and of L1
  std::array<Server<32>, kQuarters> tensor_sync;  // mma.sync, of each quarter
  Server<32> l2;
  Server<32> asks;           // lines that loads ask L2 for
  Server<32> copies;         // lines that the copy engine asks for
  Server<32> updates;        // towards L2: atomics, reductions and stores
  Time stored = 0;           // when the last of the stores has left
  Server<32> tensor_memory;  // loads and stores of it
  std::array<Products, kQuarters> products;
  Time tensor_free = 0;
  Time multiplies = 0;  // until then at least, as wgmmas have been handed over that have not begun yet
  Time copied = 0;      // to tensor memory, beside products
  Time tensor_busy = 0;
  L1 l1;
  Coming coming;  // to it
};

}  // namespace bitwell::timing
