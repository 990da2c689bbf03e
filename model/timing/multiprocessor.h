// A multiprocessor, as far as time goes: its ports, and what its first cache holds.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/timing/cost.h"
#include "model/timing/server.h"

namespace bitwell::timing {

// Sectors of 32 bytes that were read of late.
class L1 {
 public:
  void set_size(uint64_t bytes) {
    sets_ = static_cast<uint32_t>(std::max<uint64_t>(bytes / 128 / kWays, 1));
    lines_.assign(sets_ * kWays, {});
  }
  // Whether it has it; from now on it does.
  bool has(uint64_t sector) {
    const uint64_t line = sector / 4;
    const auto bit = static_cast<uint8_t>(1u << (sector % 4));
    Line* const set = &lines_[(line ^ (line >> 9)) % sets_ * kWays];
    Line* oldest = set;
    for (size_t i = 0; i < kWays; ++i) {
      if (set[i].line == line + 1) {
        set[i].used = ++now_;
        const bool there = (set[i].sectors & bit) != 0;
        set[i].sectors |= bit;
        return there;
      }
      if (set[i].used < oldest->used) oldest = &set[i];
    }
    *oldest = {line + 1, ++now_, bit};
    return false;
  }

 private:
  static constexpr size_t kWays = 16;
  struct Line {
    uint64_t line = 0, used = 0;
    uint8_t sectors = 0;
  };
  std::vector<Line> lines_;
  uint64_t sets_ = 1;
  uint64_t now_ = 0;
};

enum class Pipe : uint8_t { alu, fma, fp64, sfu };
inline constexpr size_t kPipes = 4;
inline constexpr size_t kQuarters = 4;

// A quarter of it, which issues an instruction a cycle.
struct Quarter {
  Server issue{16, 1};
  std::array<Server, kPipes> pipes{Server{16, 1}, Server{16, 1}, Server{16, 1}, Server{32, 1}};
};

struct Multiprocessor {
  Multiprocessor(double bytes_a_cycle) : l2(32, bytes_a_cycle) {}
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
