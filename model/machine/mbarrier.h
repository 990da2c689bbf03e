// mbarrier objects (PTX ISA 9.0, 9.7.13.15): 64 bits in shared memory that count arrivals and bytes, phase by
// phase, and what a report wants to know beside them.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "model/machine/failure.h"
#include "model/machine/memory/memory.h"

namespace bitwell::machine {

// The word's fields. PTX leaves the encoding open; this one is ours and also serves as the opaque state that
// arrive returns.
struct MbarrierWord {
  uint32_t expected;  // arrivals of a phase, 1 to 2^20 - 1
  uint32_t pending;   // arrivals that the phase under way still needs
  int32_t bytes;      // expected by expect_tx less completed by complete_tx, -(2^20 - 1) to 2^20 - 1
  uint32_t parity;    // of the phase under way
};
inline constexpr uint32_t kMostArrivals = (1u << 20) - 1;
uint64_t encode(const MbarrierWord& word);
MbarrierWord decode_mbarrier(uint64_t bits);

// What a barrier has seen; for reports.
struct MbarrierHistory {
  uint64_t phases = 0;          // completed
  uint64_t bytes_expected = 0;  // of the phase under way
  uint64_t bytes_arrived = 0;
  uint64_t last_expected = 0;  // bytes, of the last phase completed
  uint64_t arrivals = 0;       // since it was initialised
  Place initialised;
  struct Arriver {
    uint32_t rank;
    int warp;
    int ptx_line;
  };
  std::deque<Arriver> arrivers;  // the latest few warps
};

// The barriers of one CTA's shared memory, by address. Every operation throws Fault (not placed) for an
// address that holds no barrier; a phase that ends is returned as true.
class Mbarriers {
 public:
  explicit Mbarriers(Region& shared) : shared_(shared) {}

  // Returns whether the very same barrier stands there already, and nothing has happened to it: it then
  // stays. Faults over any other that is live.
  bool init(uint64_t address, uint64_t count, const Place& place);
  void inval(uint64_t address);
  // `count` arrivals. Faults if the phase needs fewer: over-arrival.
  bool arrive(uint64_t address, uint64_t count, const MbarrierHistory::Arriver& who);
  // The same, and later phases need as many fewer.
  bool arrive_drop(uint64_t address, uint64_t count, const MbarrierHistory::Arriver& who);
  // The same as arrive, faults if it ends the phase.
  void arrive_no_complete(uint64_t address, uint64_t count, bool drop, const MbarrierHistory::Arriver& who);
  // cp.async.mbarrier.arrive: one more arrival is pending until its copies are done.
  void increment_pending(uint64_t address);
  // Bytes that are to come, and that came: either may be first, and either may end the phase (H200).
  bool expect(uint64_t address, uint64_t bytes);
  bool complete(uint64_t address, uint64_t bytes);

  // Whether the phase of that parity, or that an arrive's state names, is over.
  bool phase_over(uint64_t address, uint32_t parity);
  uint64_t state(uint64_t address) { return encode(word(address)); }

  MbarrierWord word(uint64_t address);
  const std::map<uint64_t, MbarrierHistory>& all() const { return histories_; }
  // The barrier whose 8 bytes meet [address, address + length), or nullptr.
  const std::pair<const uint64_t, MbarrierHistory>* overlapping(uint64_t address, uint64_t length) const;
  bool empty() const { return histories_.empty(); }

 private:
  MbarrierHistory& history(uint64_t address);
  void put(uint64_t address, const MbarrierWord& word);
  bool finish(uint64_t address, MbarrierWord word);

  Region& shared_;
  std::map<uint64_t, MbarrierHistory> histories_;
};

}  // namespace bitwell::machine
