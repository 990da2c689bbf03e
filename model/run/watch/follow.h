// What some accesses of a run read, followed to what it comes to. Their bytes count as never written for that
// one access; what would then be a fault (definedness.h) is taken down instead, and the run goes on as it
// would. Only for a launch that runs to its end: nothing else that was never written comes to anything there.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/machine/event.h"

namespace bitwell::run {

class Cluster;

class Follow {
 public:
  // Bytes of one access. What it reads of them is followed; where it writes or changes them, what stands
  // there from then on.
  struct Mark {
    uint64_t access;   // its number among all that are told in a run, from 1
    uint64_t address;  // generic; of tensor memory as machine::Access has it
    uint64_t bytes;    // of tensor memory: lanes of one column
    // Lanes that read the same bytes by that access and are not followed: one bit each.
    uint32_t but = 0;
  };
  // Bytes of a buffer or variable in global memory, into which it was stored.
  struct Output {
    std::string buffer;
    std::map<uint64_t, uint64_t> runs;  // offsets: from, and behind the last
    int ptx_line;                       // the first that stored some

    uint64_t bytes() const;
  };
  // It was used for what is not followed further.
  struct Use {
    int ptx_line;
    std::string as;  // "an address"
    uint64_t times = 1;
  };

  // Its bits count as never written; or all of them are the others, and nothing is taken down.
  enum class How : uint8_t { as_unwritten, inverted };

  explicit Follow(std::vector<Mark> marks, How how = How::as_unwritten);
  Follow(const Follow&) = delete;
  Follow& operator=(const Follow&) = delete;

  // In the order in which they were first met.
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<Use>& uses() const { return uses_; }
  // Marks whose bytes were met.
  size_t met() const { return met_; }

  // For the run. Before its first access.
  void begin(machine::Memory& memory) const;
  // An access is about to be made; what was told before it has been.
  void told(const machine::Access& access, const Cluster& cluster);
  // What was told has been made.
  void over();
  // Lanes of the access told last whose reading is not followed, though others' is. For as long as `showing`,
  // their bytes are what they are.
  uint32_t but() const { return hidden_.empty() ? 0 : but_; }
  void show(bool showing);
  void used(int ptx_line, const std::string& as);
  // The same by the instruction or operation whose access was told last.
  void used_here(const std::string& as) { used(last_.line, as); }
  // Bytes of global memory hold what comes of it.
  void stored(const machine::Region& region, uint64_t address, uint64_t bytes, int ptx_line);
  void stored_here(const machine::Region& region, uint64_t address, uint64_t bytes) {
    stored(region, address, bytes, last_.line);
  }

 private:
  uint8_t changed(uint8_t was) const {
    return how_ == How::inverted ? static_cast<uint8_t>(~was) : uint8_t{0};
  }
  void mark(const Mark& mark, machine::AccessKind kind, const Cluster& cluster);

  std::vector<Mark> marks_;  // by access
  size_t next_ = 0, met_ = 0;
  uint64_t accesses_ = 0;
  struct Last {
    uint64_t operation = 0;
    machine::AccessKind kind{};
    int line = 0;
  } last_;
  How how_;
  // A byte of memory, or whether one or a cell was written.
  struct Changed {
    uint8_t* at;
    uint8_t was;
  };
  std::vector<Changed> hidden_;      // until the access is over
  uint32_t but_ = 0;                 // of that access
  std::vector<uint8_t*> to_change_;  // when it is
  std::vector<Output> outputs_;
  std::vector<Use> uses_;
};

}  // namespace bitwell::run
