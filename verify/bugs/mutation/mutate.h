// Mistakes planted into compiled PTX, mechanically: one instruction at a time.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::bugs {

struct Mutant {
  std::string kind;           // "wait deleted", "parity flipped", ...
  int line = 0;               // of the PTX file
  std::string before, after;  // the instruction, one space between its parts; `after` empty: deleted
  size_t at = 0, length = 0;  // of the instruction in the text
  int nth = 1;                // of the instructions that say the same, from 1
};

// The text with everything but one entry blanked, lines kept: line information and the other entries.
std::string only_entry(const std::string& ptx, const std::string& entry);

// Every mutant of the instructions in a text whose instructions stand on lines of their own, as nvcc writes
// them; in the order of lines.
std::vector<Mutant> mutants(std::string_view text);

std::string plant(const std::string& text, const Mutant& m);

// An instruction without the names of its registers: what texts compiled from the same source share.
std::string shape_of(std::string_view instruction);

}  // namespace bitwell::bugs
