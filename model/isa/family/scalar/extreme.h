// The least or greatest of several words, as redux and tcgen05.ld.red find it (PTX ISA 9.0, 9.7.13.10 and
// 9.7.16.8.3).
#pragma once
#include <cstdint>
#include <span>

#include "model/ptx/syntax.h"

namespace bitwell::isa {

struct Extreme {
  enum class Type : uint8_t { u32, s32, f32 } type{};
  bool greatest = false;
  // Of fp32, where -0 is below +0 and numbers go before NaN:
  bool absolute = false;
  bool propagates = false;  // the canonical NaN, if one is NaN

  // Of no words it is the canonical NaN.
  uint32_t of(std::span<const uint32_t> words) const;
};
// What the modifiers .min or .max, .abs, .NaN and the type say.
Extreme extreme_of(const ptx::Instruction& instruction);

}  // namespace bitwell::isa
