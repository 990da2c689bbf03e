// What happens in a run, for those who watch.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace bitwell::machine {

// Times are logical: warp instructions of the cluster so far.

// A warp ran.
struct Turn {
  std::array<uint32_t, 3> cta;
  int warp;
  uint64_t begin, end;
  int ptx_line;             // where it stopped; 0: it ended
  std::string instruction;  // that stands there
};

// An asynchronous operation started, did a part of its work, or is done.
struct OperationStep {
  enum class Kind : uint8_t { issued, moved, finished } kind;
  std::array<uint32_t, 3> cta;
  int warp;  // that issued it
  uint64_t time;
  uint64_t id;        // unique in its cluster
  int ptx_line;       // of the instruction that issued it
  std::string state;  // "cp.async.bulk of PTX line 12, 512 of 1024 bytes moved"
};

// An mbarrier's phase ended.
struct PhaseOver {
  std::array<uint32_t, 3> cta;
  uint64_t time;
  std::string barrier;  // "'full' + 8 (shared address 1032)"
};

struct Event {
  std::array<uint32_t, 3> first_cta;  // of the cluster
  std::variant<Turn, OperationStep, PhaseOver> what;
};
using Observer = std::function<void(const Event&)>;

}  // namespace bitwell::machine
