// The registers of a program's wgmma.mma_async, D and those of A, and the instructions that reach them. While
// one is under way they are its own (PTX ISA 9.0, 9.7.15.7).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/isa/form/program.h"

namespace bitwell::hazard {

class MmaRegisters {
 public:
  // How an instruction comes to a register of the wgmma.mma_async of a PTX line.
  struct Reach {
    enum class As : uint8_t {
      thread,       // an instruction of the warp
      operand,      // another wgmma, A in place of D or D in place of A
      other_shape,  // another wgmma that has the accumulator too, but another shape
    } as;
    int mma;           // that PTX line
    std::string name;  // of the register; of several one
    bool accumulator;  // it is of D, not of A
    bool written;
  };

  MmaRegisters() = default;
  explicit MmaRegisters(const isa::Program& program);

  // What the instructions of a PTX line reach.
  const std::vector<Reach>& at(int line) const;
  // Whether a wgmma.fence stands there.
  bool fences(int line) const {
    return static_cast<size_t>(line) < of_lines_.size() && of_lines_[static_cast<size_t>(line)].fences;
  }
  // All lines of which one of these two is to be said.
  std::vector<int> lines() const;

 private:
  struct OfLine {
    std::vector<Reach> reaches;
    bool fences = false;
  };
  OfLine& of_line(int line);

  std::vector<OfLine> of_lines_;  // by number
};

}  // namespace bitwell::hazard
