#include "model/isa/lanes/soft.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "model/isa/lanes/tracks.h"
#include "model/number/decode.h"
#include "model/number/encode.h"

namespace bitwell::isa {
namespace {

using number::Exact;
using number::Format;
using number::Kind;
using number::Mode;
using number::Rounding;

// Descriptors travel in op.imm, so that an op stays a plain value.
uint64_t format_index(const Format* f) {
  const auto at = std::find(number::formats.begin(), number::formats.end(), f);
  return static_cast<uint64_t>(at - number::formats.begin());  // formats.size(): none
}
const Format* format_at(uint64_t index) {
  return index < number::formats.size() ? number::formats[index] : nullptr;
}

uint64_t pack_mode(Mode m) {
  return static_cast<uint64_t>(m.rounding) | uint64_t{m.ftz} << 3 | uint64_t{m.sat} << 4 |
         uint64_t{m.relu} << 5;
}
Mode unpack_mode(uint64_t v) {
  return {static_cast<Rounding>(v & 7), (v >> 3 & 1) != 0, (v >> 4 & 1) != 0, (v >> 5 & 1) != 0};
}

// Lanes of 16 bits or less are stored in 16 bits, others in their own.
uint64_t read_lane(const std::byte* row, int bits, int lane) {
  uint64_t v = 0;
  const size_t bytes = bits <= 16 ? 2 : static_cast<size_t>(bits) / 8;
  std::memcpy(&v, row + bytes * static_cast<size_t>(lane), bytes);
  return v;
}
void write_lane(std::byte* row, int bits, int lane, uint64_t v) {
  const size_t bytes = bits <= 16 ? 2 : static_cast<size_t>(bits) / 8;
  std::memcpy(row + bytes * static_cast<size_t>(lane), &v, bytes);
}

uint64_t calculate(SoftOperation operation, const Format& f, uint64_t a, uint64_t b, uint64_t c, Mode m) {
  switch (operation) {
    case SoftOperation::add: return number::add(f, a, b, m);
    case SoftOperation::sub: return number::sub(f, a, b, m);
    case SoftOperation::mul: return number::mul(f, a, b, m);
    case SoftOperation::fma: return number::fma(f, a, b, c, m);
    case SoftOperation::div: return number::div(f, a, b, m);
    case SoftOperation::rcp: return number::div(f, static_cast<uint64_t>(f.bias) << f.fraction_bits, a, m);
    case SoftOperation::sqrt: return number::sqrt(f, a, m);
  }
  return 0;
}

void run_arithmetic(const Op& op, std::byte* rows, uint32_t mask) {
  const auto operation = static_cast<SoftOperation>(op.imm & 0xFF);
  const Format& f = *format_at(op.imm >> 8 & 0xFF);
  const Mode mode = unpack_mode(op.imm >> 16 & 0xFF);
  const int count = (op.imm >> 24 & 1) != 0 ? 2 : 1;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    for (int i = count * lane; i < count * (lane + 1); ++i)
      write_lane(rows + op.d, f.bits, i,
                 calculate(operation, f, read_lane(rows + op.a, f.bits, i), read_lane(rows + op.b, f.bits, i),
                           read_lane(rows + op.c, f.bits, i), mode));
  }
}

Exact integer(const Number& n, uint64_t v) {
  if (n.bits < 64) v &= (uint64_t{1} << n.bits) - 1;
  const bool negative = n.is_signed && (v >> (n.bits - 1) & 1) != 0;
  if (negative) v = (n.bits < 64 ? v | ~((uint64_t{1} << n.bits) - 1) : v), v = 0 - v;
  return {Kind::finite, negative, v, 0};
}

// To an integral value: rounding to a grid of 1, by the same rule as everywhere.
Exact integral(const Exact& v, Rounding mode) {
  if (v.kind != Kind::finite || v.significand == 0 || v.exponent >= 0) return v;
  // A format whose unit is 1 in the range that matters: 2^-0 down, 116 bits of fraction are never needed
  // because values of 2^53 and above are integral already.
  static constexpr Format grid{"integer", 62, 62, 2, 60, -59, true, number::Special::none, 0, ""};
  if (v.exponent + number::bit_width(v.significand) > 60) return v;
  Exact r = number::round(grid, v, mode, number::Overflow::ieee);
  r.negative = v.negative;
  return r;
}

uint64_t to_integer(const Exact& v, const Conversion& c) {
  const Number& n = c.to;
  const uint64_t top = uint64_t{1} << (n.bits - 1);
  // PTX ISA, cvt: NaN gives 0, or the top bit alone where a 64-bit type is on either side.
  if (v.is_nan()) return n.bits == 64 || c.from.bits == 64 ? top : 0;
  const uint64_t max = n.is_signed ? top - 1 : top - 1 + top;
  if (v.is_infinity()) return v.negative ? (n.is_signed ? top : 0) : max;
  const Exact r = integral(v, c.mode.rounding);
  if (r.is_zero()) return 0;
  const bool huge = r.exponent + number::bit_width(r.significand) > 64;
  const number::u128 magnitude = huge              ? ~number::u128{0}
                                 : r.exponent >= 0 ? r.significand << r.exponent
                                                   : r.significand >> -r.exponent;
  if (v.negative) {
    if (!n.is_signed) return 0;
    return magnitude > top ? top : 0 - static_cast<uint64_t>(magnitude);
  }
  return magnitude > max ? max : static_cast<uint64_t>(magnitude);
}

// What a NaN becomes, where it is not simply canonical. All of it from the H200's single-instruction probes:
// fp64 on either side keeps sign and payload (its top bits, or zeros below) and quiets, and so does rounding
// fp64 to an integral value; .ftz from fp32 makes it canonical first; bf16 to fp32 only shifts.
std::optional<uint64_t> special_nan(const Conversion& c, uint64_t code) {
  const Format& from = *c.from.format;
  const Format& to = *c.to.format;
  if (c.mode.sat) return std::nullopt;
  if (from.bits == 64 || to.bits == 64) {
    if (c.mode.ftz && from.bits == 32) code = from.canonical_nan();
    const uint64_t sign = (code & from.sign_mask()) != 0 ? to.sign_mask() : 0;
    const uint64_t payload = code & from.fraction_mask();
    const int shift = to.fraction_bits - from.fraction_bits;
    const uint64_t moved = shift >= 0 ? payload << shift : payload >> -shift;
    return sign | (to.magnitude_mask() - to.fraction_mask()) | uint64_t{1} << (to.fraction_bits - 1) | moved;
  }
  if (from.name == "bf16" && to.name == "f32" && !c.mode.ftz) return code << 16;
  return std::nullopt;
}

uint64_t convert(const Conversion& c, uint64_t code) {
  // .rna to TF32 drops the low bits of NaN and infinity alike; .satfinite takes one unit off what is left
  // (H200).
  if (c.to.format == &number::tf32 && c.mode.rounding == Rounding::nearest_away &&
      (code & 0x7F800000u) == 0x7F800000u)
    return (code & 0xFFFFE000u) - (c.saturate ? 0x2000u : 0u);
  const bool ftz = c.mode.ftz && c.to.format != &number::f16;  // to fp16, .ftz does nothing on the H200
  Exact v = c.from.format != nullptr ? number::read(*c.from.format, code, ftz && c.from.bits == 32)
                                     : integer(c.from, code);
  if (c.to.format == nullptr) return to_integer(v, c);
  if (v.is_nan()) {
    if (!c.to.format->has_nan()) return c.to.format->max_code();  // +6 for e2m1: PTX ISA, cvt
    if (const std::optional<uint64_t> special = special_nan(c, code)) return *special;
  }
  if (c.to_integral) v = integral(v, c.mode.rounding);
  Mode m = c.mode;
  m.ftz = ftz && c.to.bits == 32;
  return number::write(*c.to.format, v, m, c.saturate ? number::Overflow::saturate : number::Overflow::ieee);
}

uint64_t pack_number(const Number& n) {
  return format_index(n.format) | static_cast<uint64_t>(n.bits) << 4 | uint64_t{n.is_signed} << 11;
}
Number unpack_number(uint64_t v) {
  return {format_at(v & 15), static_cast<int>(v >> 4 & 127), (v >> 11 & 1) != 0};
}

Conversion unpack_conversion(uint64_t v) {
  Conversion c;
  c.from = unpack_number(v & 0xFFF);
  c.to = unpack_number(v >> 12 & 0xFFF);
  c.mode = unpack_mode(v >> 24 & 0xFF);
  c.to_integral = (v >> 32 & 1) != 0;
  c.saturate = (v >> 33 & 1) != 0;
  c.count = static_cast<int>(v >> 34 & 3);
  c.two_sources = (v >> 36 & 1) != 0;
  return c;
}

void run_conversion(const Op& op, std::byte* rows, uint32_t mask) {
  const Conversion c = unpack_conversion(op.imm);
  const int from_register = c.two_sources ? c.from.bits : c.from.bits * c.count;
  const int to_register = c.to.bits * c.count;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const uint64_t a = read_lane(rows + op.a, from_register, lane);
    if (c.count == 1) {
      uint64_t r = convert(c, a);
      if (to_register < 64) r &= (uint64_t{1} << to_register) - 1;
      // 8-bit results live in 16-bit rows, extended by their sign.
      if (c.to.is_signed && c.to.bits == 8 && (r & 0x80) != 0) r |= 0xFF00;
      write_lane(rows + op.d, to_register, lane, r);
      continue;
    }
    const uint64_t element = (uint64_t{1} << c.from.bits) - 1;
    const uint64_t high = c.two_sources ? a : a >> c.from.bits & element;
    const uint64_t low = c.two_sources ? read_lane(rows + op.b, from_register, lane) : a & element;
    write_lane(rows + op.d, to_register, lane, convert(c, high) << c.to.bits | convert(c, low));
  }
}

}  // namespace

uint32_t soft_ftz_f32(bool fused, uint32_t a, uint32_t b, uint32_t c, bool sat) {
  const Mode mode{.ftz = true, .sat = sat};
  return static_cast<uint32_t>(fused ? number::fma(number::f32, a, b, c, mode)
                                     : number::mul(number::f32, a, b, mode));
}

Op soft_arithmetic(SoftOperation operation, const Format& format, bool packed, Mode mode) {
  Op op;
  op.lanes = run_arithmetic;
  op.imm = static_cast<uint64_t>(operation) | format_index(&format) << 8 | pack_mode(mode) << 16 |
           uint64_t{packed} << 24;
  if (packed) track_halves(op, static_cast<uint16_t>(2 * format.bits / 8));
  return op;
}

Op soft_conversion(const Conversion& c) {
  Op op;
  op.lanes = run_conversion;
  op.imm = pack_number(c.from) | pack_number(c.to) << 12 | pack_mode(c.mode) << 24 |
           uint64_t{c.to_integral} << 32 | uint64_t{c.saturate} << 33 | static_cast<uint64_t>(c.count) << 34 |
           uint64_t{c.two_sources} << 36;
  return op;
}

}  // namespace bitwell::isa
