// What happens in a run, for those who watch: one event for each turn of a warp, each operation issued, moved
// or finished, each phase that an mbarrier ends.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>

namespace bitwell::machine {

struct Event {
  enum class Kind : uint8_t {
    turn,       // a warp ran from `begin` to `end`
    issued,     // an operation started
    moved,      // it did a part of its work
    finished,   // it is done
    phase_over  // an mbarrier's phase ended
  };
  Kind kind;
  // Logical time: warp instructions of the cluster so far.
  uint64_t begin = 0;
  uint64_t end = 0;
  std::array<uint32_t, 3> cta{};
  int warp = 0;      // that ran, or that issued the operation
  uint64_t id = 0;   // of the operation, unique in its cluster
  int ptx_line = 0;  // where the warp stopped, or the operation was issued; 0: the warp ended
  std::string name;  // that instruction, or the mbarrier
  std::array<uint32_t, 3> first_cta{};  // of the cluster
};
using Observer = std::function<void(const Event&)>;

}  // namespace bitwell::machine
