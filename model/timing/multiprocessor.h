// A multiprocessor, as far as time goes: its ports, and what its first cache holds.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/timing/cost.h"
#include "model/timing/lines.h"
#include "model/timing/server.h"

namespace bitwell::timing {

// Sectors of 32 bytes that were read of late: the least recent line of a set goes first.
class L1 {
 public:
  void set_size(uint64_t bytes) {
    count_ = std::max<uint64_t>(bytes / kLine / kWays, 1);
    sets_.assign(count_, {});
  }
  // Which of those sectors of a line it has not got; from now on it has them. `number`: the line's own.
  uint32_t misses(uint64_t line, uint32_t number, uint32_t sectors) {
    std::array<uint32_t, kWays>& ways = sets_[(line ^ (line >> 9)) % count_].ways;
    const uint32_t there = number + 1;
    // All at once, since most are not there.
    Four any{};
    for (size_t k = 0; k < kWays; k += 4) {
      Four some;
      std::memcpy(&some, &ways[k], sizeof some);
      any |= (some >> kSectors) == there;
    }
    uint32_t had = 0;
    if (const auto halves = std::bit_cast<std::array<uint64_t, 2>>(any); (halves[0] | halves[1]) == 0) {
      std::memmove(&ways[1], &ways[0], (kWays - 1) * sizeof ways[0]);
    } else {
      size_t at = 0;
      while (ways[at] >> kSectors != there) ++at;
      had = ways[at] & kAllSectors;
      for (; at > 0; --at) ways[at] = ways[at - 1];
    }
    ways.front() = there << kSectors | had | sectors;
    return sectors & ~had;
  }

 private:
  static constexpr size_t kWays = 16;
  static constexpr int kSectors = 4;
  static constexpr uint32_t kAllSectors = (1 << kSectors) - 1;
  using Four [[gnu::vector_size(16)]] = uint32_t;
  // A line's number and 1, and a bit for each of its sectors; the most recent first, 0 where there is none.
  struct alignas(64) Set {
    std::array<uint32_t, kWays> ways{};
  };
  std::vector<Set> sets_;
  uint64_t count_ = 1;
};

enum class Pipe : uint8_t { alu, fma, fp64, sfu };
inline constexpr size_t kPipes = 4;
inline constexpr size_t kQuarters = 4;

// A quarter of it, which issues an instruction a cycle.
class Quarter {
 public:
  Quarter(const double& now) : often_(16, 1, &now), sfu_(32, 1, &now) {}
  // As a server of issue slots, or of that pipe.
  [[gnu::always_inline]] double issue(double at, double amount) { return often_.take(kIssue, at, amount); }
  [[gnu::always_inline]] double take(Pipe pipe, double at, double amount) {
    return pipe == Pipe::sfu ? sfu_.take(at, amount) : often_.take(static_cast<size_t>(pipe), at, amount);
  }
  void fetch(double at) const { often_.fetch(at); }
  // Of operations that are issued one behind the other: what they ask of a pipe, and what the last of them
  // does.
  struct Ask {
    Pipe pipe;
    double amount, last;
  };
  // Some operations, 1 or more, for one time: when the last is issued, or begins in its pipe if that is
  // later.
  [[gnu::always_inline]] double run(double at, double issues, const Ask* first, const Ask* end) {
    auto then = often_.then(at);
    double out = often_.take(kIssue, then, issues) - 1;
    for (; first != end; ++first) {
      const double done = first->pipe == Pipe::sfu
                              ? sfu_.take(at, first->amount)
                              : often_.take(static_cast<size_t>(first->pipe), then, first->amount);
      out = std::max(out, done - first->last);
    }
    return out;
  }

 private:
  static constexpr size_t kIssue = kPipes - 1;  // in the place of the one that stands apart
  Servers<kPipes> often_;
  Server sfu_;
};

struct Multiprocessor {
  Multiprocessor(double bytes_a_cycle, const double& now)
      : quarters{Quarter(now), Quarter(now), Quarter(now), Quarter(now)},
        memory(16, 1, &now),
        tensor_sync(32, 1, &now),
        l2(32, bytes_a_cycle, &now),
        copies(32, 1, &now),
        tensor_memory(32, 1, &now) {}
  std::array<Quarter, kQuarters> quarters;
  Server memory;  // wavefronts of shared memory and of L1
  Server tensor_sync;
  Server l2;
  Server copies;         // lines that the copy engine asks for
  Server tensor_memory;  // loads and stores of it
  double tensor_free = 0;
  double copied = 0;  // to tensor memory, beside products
  double tensor_busy = 0;
  L1 l1;
};

}  // namespace bitwell::timing
