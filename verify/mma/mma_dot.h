// What `bitwell mma` computes: an instruction by name, its operands from text, and their dot product.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/number/dot.h"
#include "model/number/format.h"

namespace bitwell::mma {

using number::Format;

// A rule and the formats of A and B by name: ARCHITECTURE.INSTRUCTION.RESULT.INPUT; block-scaled
// ARCHITECTURE.KIND.INPUT, or .SCALES where the kind leaves a choice of these. Where A and B may differ, the
// name goes on with B's format.
struct Instruction {
  std::string name;
  const number::DotRule* rule = nullptr;
  const Format* a = nullptr;
  const Format* b = nullptr;
};

// Those whose A and B have the same format.
std::vector<Instruction> instructions();
// InputError, with the names of its architecture, or with all where there is no such architecture.
Instruction find(const std::string& name);

// Codes of the instruction's formats, one a word.
struct Operands {
  std::vector<uint32_t> a, b;
  uint32_t c = 0;
  std::vector<uint8_t> scale_a, scale_b;
};

// From words between spaces, hexadecimal, or decimal where `values`. InputError names the operand: what is no
// number, a value that its format does not hold, counts that do not go with the instruction.
Operands read_operands(const Instruction& i, const std::string& a, const std::string& b, const std::string& c,
                       const std::string& sa, const std::string& sb, bool values);

// One dot product in one line: INSTRUCTION | A | B | C, and | scales of A | scales of B for block-scaled
// forms.
struct DotLine {
  Instruction instruction;
  Operands operands;
};
// InputError for a line of other parts; else what `find` and `read_operands` throw.
DotLine read_line(const std::string& line, bool values);

// The result's code; `trace`, if not null, gets every sum's terms.
uint32_t compute(const Instruction& i, const Operands& o, std::vector<number::DotChunk>* trace);

}  // namespace bitwell::mma
