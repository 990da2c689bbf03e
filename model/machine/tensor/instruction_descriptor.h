// The 32-bit instruction descriptor of tcgen05.mma: types, extents and what the instruction does to its
// operands (PTX ISA 9.0, 9.7.16.4.2, tables of the non-block-scaled and the block-scaled kinds).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/number/format.h"

namespace bitwell::machine {

enum class MmaKind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
inline constexpr std::string_view kMmaKinds[] = {"f16",      "tf32", "f8f6f4",  "i8",
                                                 "mxf8f6f4", "mxf4", "mxf4nvf4"};  // as the enum
constexpr bool block_scaled(MmaKind k) { return k >= MmaKind::mxf8f6f4; }

struct InstructionDescriptor {
  // Of kind::i8: A and B of 8 bits, D of 32.
  struct Integers {
    bool a_signed, b_signed;
    bool saturate;  // D is held at the ends of its range, else it wraps
  };
  std::optional<Integers> integers;
  // Of all other kinds.
  const number::Format* a = nullptr;
  const number::Format* b = nullptr;
  const number::Format* d = nullptr;
  const number::Format* scale = nullptr;  // block-scaled kinds
  uint32_t m = 0, n = 0, k = 0;           // of both CTAs with cta_group::2
  bool negate_a = false, negate_b = false;
  bool transpose_a = false, transpose_b = false;  // MN-major
  uint32_t a_scale_id = 0, b_scale_id = 0;        // first byte of the scales' words
  uint32_t max_shift = 0;                         // .ws: how far its columns of B may be shifted

  int a_bits() const { return a == nullptr ? 8 : a->container; }  // of an element as it is stored
  int b_bits() const { return b == nullptr ? 8 : b->container; }
};
// Throws Fault, naming the field, its bits and what stands there, where the kind does not have it;
// Unsupported for sparse matrices and K = 96. `stationary`: of tcgen05.mma.ws.
InstructionDescriptor decode_instruction_descriptor(MmaKind kind, int cta_group, uint32_t bits,
                                                    bool stationary = false);

}  // namespace bitwell::machine
