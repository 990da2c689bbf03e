// What happens in a run, for those who watch.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/machine/memory/memory.h"
#include "model/machine/order.h"
#include "model/machine/synchronisation.h"
#include "model/machine/tensor/tensor_memory.h"

namespace bitwell::machine {

// Times are logical: warp instructions of the launch so far.

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

// Bytes of memory are reached: by lanes of the warp that executes an instruction, or by an operation under
// way. Told before they are, and only of those that are found and may be reached.
enum class AccessKind : uint8_t { read, write, update };
struct Access {
  static constexpr uint32_t kMostPieces = 64;
  AccessKind kind;
  Order order;
  std::array<uint32_t, 3> cta;
  int warp;            // that executes it, or issued the operation
  uint32_t lanes;      // one bit each; an operation's: 0
  uint64_t operation;  // unique in its cluster; of lanes: 0
  uint64_t time;
  int ptx_line;                         // of the instruction
  std::span<const uint64_t> addresses;  // generic: one for each of 32 lanes, or the operation's one (to who
                                        // wants pieces up to kMostPieces, one after the other); valid while
                                        // it is told
  uint64_t bytes;                       // at each
  bool mbarrier = false;                // of an mbarrier, by an instruction or operation for mbarriers; by
                                        // several lanes only to who wants pieces, all with one address
  int issuer = -1;                      // lane that issued the operation; of lanes: -1
  uint32_t rows = 0;                    // of tensor memory: so many lanes from the address on; else 0
  uint32_t met = 0;  // lanes that have met for it: one does it for all, each is to be behind
  // Of tensor memory: behind the first so many of its columns others are left out, which count in `bytes`.
  uint32_t columns_before_gap = 0, gap = 0;
  // Lanes that store what stands there already, bit for bit.
  uint32_t unchanged = 0;
  // It was found when the addresses were made that all 32 lanes reach bytes side by side, in their order.
  bool consecutive = false;
  // Likewise the least of the lanes' addresses, or of an operation's pieces, and the greatest; both 0: nobody
  // has looked.
  uint64_t low = 0, high = 0;
  // From each of an operation's pieces to the next; 0: nobody has looked.
  uint64_t step = 0;

  // Of an operation's pieces one by itself.
  Access piece(size_t i) const {
    Access out = *this;
    out.addresses = addresses.subspan(i, 1);
    out.low = out.high = out.step = 0;
    return out;
  }
};

// A warp is about to execute the instruction of a PTX line that an observer asked for.
struct Reached {
  std::array<uint32_t, 3> cta;
  int warp;
  uint32_t lanes;  // that will execute it, one bit each
  uint64_t time;
  int ptx_line;
  // All that is pointed to is valid while it is told.
  std::string_view source;       // the CUDA line, or empty
  std::string_view instruction;  // that stands there
  // The CTA's memories as they are.
  const Region* shared;
  const TensorMemory* tensor;
  // The operations of the cluster that are not done; not told to who wants accesses too, and so knows them.
  std::vector<std::string> under_way{};
};

// An operation reaches pieces by turns: the first of each of these accesses, then the second of each, and so
// on. Told before any of them is reached, to who wants pieces.
struct ByTurns {
  static constexpr size_t kMost = 4;
  std::span<const Access> of;  // at most kMost, of one operation, with as many pieces each
  uint32_t between = 0;        // accesses between two turns of which nobody need be told
};

struct Event {
  std::array<uint32_t, 3> first_cta;  // of the cluster
  std::variant<Turn, OperationStep, PhaseOver, Access, Reached, Synchronisation, ByTurns> what;
};
struct Observer {
  std::function<void(const Event&)> tell;
  bool accesses = false;     // wants Access and Synchronisation too
  std::vector<int> lines{};  // wants Reached of these PTX lines
  bool steps = true;         // wants Turn, OperationStep and PhaseOver
  bool pieces = false;       // wants several pieces of as many bytes each, which one operation reaches, as
                             // one Access; ByTurns; and warps that pass a barrier as one Synchronisation
};

}  // namespace bitwell::machine
