// Who wrote last: for messages about bytes that should have stayed as they were.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/isa/form/program.h"
#include "model/machine/event.h"

namespace bitwell::run {

// The instruction that last wrote each byte of a cluster's shared memory, and each cell of its tensor memory,
// since somebody first wanted to know.
class LastWriters {
 public:
  explicit LastWriters(const isa::Program& program) : program_(program) {}

  void note(const machine::Access& access);

  // "'st.shared.u32' of PTX line 40 (a.cu:12)"; "" where nobody has written since. The first of `size` bytes
  // at a shared::cluster address that somebody has.
  std::string of_shared(uint64_t address, uint64_t size) const;
  // Of a cell of the CTA of that rank.
  std::string of_cell(uint32_t rank, uint32_t lane, uint32_t column) const;

 private:
  using Lines = std::vector<int>;  // of the PTX; 0: nobody
  std::string named(int line) const;

  const isa::Program& program_;
  // By rank, as far as somebody has written.
  std::vector<Lines> shared_;  // [byte]
  std::vector<Lines> cells_;   // [lane][column]
};

}  // namespace bitwell::run
