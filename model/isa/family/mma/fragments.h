// mma.sync and wgmma: which registers hold which elements, and the arithmetic of one warp's 16 rows
// (PTX ISA 9.0, 9.7.14.5 and 9.7.15.5.1, register fragments).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/isa/form/matrix_watch.h"
#include "model/machine/warp.h"
#include "model/number/tile/dot_tile.h"

namespace bitwell::isa {

inline constexpr size_t kFragmentRows = 16;  // of D and A, that one warp holds

// An instruction's types and extents.
struct Mma : MatrixProduct {
  const number::DotRule* rule = nullptr;  // none: integers
  const number::Format* a = nullptr;      // of as many bits as B's in registers
  const number::Format* b = nullptr;
  size_t n = 0;
  size_t k = 0;
  bool in_bytes = false;  // elements of 4 and 6 bits have a byte each: bits 5 to 2, bits 5 to 0

  size_t element_bits() const { return in_bytes ? 8 : static_cast<size_t>(a->container); }  // in registers
  size_t words() const { return k * element_bits() / 32; }                                  // of a row of A
  size_t a_registers() const { return words() / 2; }
  size_t b_registers() const { return words() / 4; }
  bool half_result() const { return rule != nullptr && rule->output == &number::f16; }
  size_t d_registers() const { return n / 8 * (half_result() ? 2 : 4); }
  bool may_leave_halves() const override { return half_result(); }
  std::unique_ptr<MatrixProduct> copy() const override { return std::make_unique<Mma>(*this); }
};

// The row of the rule table for a target and types; Unsupported, by name, if the target has none.
const number::DotRule& dot_rule(int sm, const std::string& instruction, const number::Format& a,
                                const number::Format& b, const number::Format& output,
                                const number::Format* scale = nullptr, int scale_vector = 0);

// Exchanges the sign of every code, as imm-scale of -1 and the instruction descriptor's negate bits do.
void negate(const number::Format& format, std::span<uint32_t> codes);

// A's codes, [row][k], from registers given as rows of 32 lanes.
void unpack_a(const Mma& mma, std::span<const uint32_t* const> registers, std::span<uint32_t> codes);
// B's codes of mma.sync, [column][k].
void unpack_b(const Mma& mma, std::span<const uint32_t* const> registers, std::span<uint32_t> codes);
// The accumulator's codes, [row][column], from and to registers.
void unpack_d(const Mma& mma, std::span<uint32_t* const> registers, std::span<uint32_t> codes);
void pack_d(const Mma& mma, std::span<const uint32_t> codes, std::span<uint32_t* const> registers);

}  // namespace bitwell::isa
