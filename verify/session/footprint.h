// What a launch touched of what it reserved.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/isa/form/program.h"
#include "model/run/watch/footprint.h"

namespace bitwell::session {

// Bytes of shared memory or columns of tensor memory, of all CTAs together.
struct Reserved {
  size_t reserved = 0, touched = 0;
  // Of each run that is reserved and was never touched, the first and the last.
  std::vector<std::pair<size_t, size_t>> never{};
  // Of shared memory, its variables. Dynamic ones have all bytes behind the static ones.
  struct Part {
    std::string name;
    bool dynamic;
    size_t offset, bytes, touched;
  };
  std::vector<Part> parts{};

  size_t untouched() const;
  // Less is padding between variables and behind them.
  bool much_untouched() const { return untouched() * 16 > reserved; }
};

// Nothing of a memory of which nothing is reserved, or nothing known.
struct Memories {
  std::optional<Reserved> shared, tensor;
};
Memories memories_of(const run::Footprint& footprint, const isa::Program& program);

}  // namespace bitwell::session
