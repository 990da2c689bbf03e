// What the video instructions of two kinds have in common (PTX ISA 9.0, 9.7.19).
#pragma once
#include <string>

#include "model/isa/family/emit.h"

namespace bitwell::isa {

enum class VideoOperation : uint8_t {
  add,
  sub,
  average,
  distance,
  min,
  max,
  equal,
  unequal,
  lt,
  le,
  gt,
  ge,
  shift_left,
  shift_right,
  multiply
};
// Of an opcode without the number of its elements, or of a comparison.
VideoOperation video_operation(const std::string& name);
// Not of shifts and products.
int64_t video_result(VideoOperation operation, int64_t a, int64_t b);
// Refuses an operand's selector.
[[noreturn]] void no_selector(const ptx::Operand& operand, const std::string& needs);

// The operand without a selector (".b3", ".h10", ".b7654"), which is put into `selector` without its dot; of
// what has none, "".
ptx::Operand without_selector(const ptx::Operand& operand, std::string& selector);

}  // namespace bitwell::isa
