// Instructions as nvcc writes them, one a line, as text.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::bugs {

// "@%p1 add.s32 %r1, %r2, 3" has a guard, an opcode and three operands.
struct Parts {
  std::string guard, opcode;
  std::vector<std::string> operands;

  std::string text() const;  // with its semicolon
  // Whether the opcode is `base` or starts with it and a dot.
  bool is(std::string_view base) const;
  bool has(std::string_view modifier) const { return opcode.find(modifier) != std::string::npos; }
};

// `instruction` is without its semicolon.
Parts split(std::string_view instruction);

std::string_view trim(std::string_view s);

// A decimal number, nothing if the operand is none.
std::optional<int64_t> integer(const std::string& operand);

struct Line {
  int number = 0;             // of the text, from 1
  size_t at = 0, length = 0;  // in the text
  Parts parts;
};

std::vector<Line> instructions(std::string_view text);

}  // namespace bitwell::bugs
