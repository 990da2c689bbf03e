// What `bitwell mma` computes: an instruction by name, its operands from text, and their dot product.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/number/block_dot.h"
#include "model/number/format.h"

namespace bitwell::verify::mma {

using number::Format;

// An instruction by name: a plain rule, or a block-scaled form of Blackwell.
struct Instruction {
  std::string name;
  const number::DotRule* rule = nullptr;
  const Format* input = nullptr;
  const Format* scale = nullptr;  // block-scaled
  size_t k = 0;                   // of a block-scaled form; else any
};

std::vector<Instruction> instructions();
// InputError, with the names of its architecture, or with all where there is no such architecture.
Instruction find(const std::string& name);
const Format& result_of(const Instruction& i);
// Below the point of the largest product or addend, that a sum keeps.
int fraction_bits(const Instruction& i);

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

}  // namespace bitwell::verify::mma
