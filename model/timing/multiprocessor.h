// A multiprocessor, as far as time goes: its ports, and what its first cache holds.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/timing/cost.h"
#include "model/timing/server.h"

namespace bitwell::timing {

// Sectors of 32 bytes that were read of late.
class L1 {
 public:
  void set_size(uint64_t bytes) {
    count_ = static_cast<uint32_t>(std::max<uint64_t>(bytes / 128 / kWays, 1));
    sets_.assign(count_, {});
  }
  // Which of those sectors of a line it has not got; from now on it has them.
  uint32_t misses(uint64_t line, uint32_t sectors) {
    Set& set = sets_[(line ^ (line >> 9)) % count_];
    for (size_t i = 0; i < kWays; ++i)
      if (set.lines[i] == line + 1) {
        set.used[i] = ++now_;
        const uint32_t out = sectors & ~uint32_t{set.sectors[i]};
        set.sectors[i] |= static_cast<uint8_t>(sectors);
        return out;
      }
    const auto oldest =
        static_cast<size_t>(std::min_element(set.used.begin(), set.used.end()) - set.used.begin());
    set.lines[oldest] = line + 1;
    set.used[oldest] = ++now_;
    set.sectors[oldest] = static_cast<uint8_t>(sectors);
    return sectors;
  }

 private:
  static constexpr size_t kWays = 16;
  struct Set {
    std::array<uint64_t, kWays> lines{};
    std::array<uint32_t, kWays> used{};
    std::array<uint8_t, kWays> sectors{};
  };
  std::vector<Set> sets_;
  uint64_t count_ = 1;
  uint32_t now_ = 0;
};

enum class Pipe : uint8_t { alu, fma, fp64, sfu };
inline constexpr size_t kPipes = 4;
inline constexpr size_t kQuarters = 4;

// A quarter of it, which issues an instruction a cycle. `now`: nobody asks it for what is before.
struct Quarter {
  Quarter(const double& now)
      : issue(16, 1, &now),
        pipes{Server{16, 1, &now}, Server{16, 1, &now}, Server{16, 1, &now}, Server{32, 1, &now}} {}
  Server issue;
  std::array<Server, kPipes> pipes;
};

struct Multiprocessor {
  Multiprocessor(double bytes_a_cycle, const double& now)
      : quarters{Quarter(now), Quarter(now), Quarter(now), Quarter(now)}, l2(32, bytes_a_cycle) {}
  std::array<Quarter, kQuarters> quarters;
  Server memory{16, 1};  // wavefronts of shared memory and of L1
  Server tensor_sync{32, 1};
  Server l2;
  Server copies{32, 1};         // lines that the copy engine asks for
  Server tensor_memory{32, 1};  // loads and stores of it
  double tensor_free = 0;
  double copied = 0;  // to tensor memory, beside products
  double tensor_busy = 0;
  L1 l1;
};

}  // namespace bitwell::timing
