// Where what an instruction reads can come to, whatever a run does: through registers, calls, shared, local
// and tensor memory. A way that is there need not be taken; where there is none, the bytes cannot matter.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "model/hazard/flow/object_flow.h"

namespace bitwell::hazard {

struct Way {
  enum class End : uint8_t { none, output, branch, address };
  End end = End::none;
  std::vector<int> lines;  // of the PTX, from the instruction asked about to the end; one of the shortest
};

class Ways {
 public:
  // Of a program that outlives this.
  explicit Ways(const isa::Program& program);
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;

  // To global memory if there is such a way; else to what decides a branch or is an address; else to nowhere.
  // Of an instruction that only writes: of those bytes.
  Way from(int line) const;

 private:
  enum Place : uint8_t { shared, local, tensor };
  // What an instruction does beside its registers; `output`: it writes global memory.
  struct Effect {
    std::array<bool, 3> reads{}, writes{};
    bool output = false;
  };
  static Effect effect_of(const isa::Uses& uses);
  // How an instruction takes a value: as data, as an address, or to be done at all.
  struct Taken {
    size_t use;
    enum class As : uint8_t { data, address, guard } as;
  };
  static std::optional<Taken::As> taken_as(isa::Use::Take take);
  struct Search;
  void leave(Search& search, size_t from, size_t use) const;
  void expand(Search& search, size_t node) const;

  ObjectFlow flow_;
  std::vector<Effect> effects_;                 // by use
  std::vector<std::vector<Taken>> taken_;       // by value
  std::vector<std::vector<size_t>> flows_;      // by value: others that it becomes part of
  std::array<std::vector<size_t>, 3> readers_;  // uses, by place
};

}  // namespace bitwell::hazard
