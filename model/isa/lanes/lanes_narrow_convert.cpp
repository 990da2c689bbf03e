// Conversions to and from bf16, E4M3 and E5M2 to nearest even (PTX ISA 9.0, 9.7.9.21), as model/number has
// them.
#include "model/isa/lanes/lanes_half.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

// NaN becomes 0x7FFF.
inline u32 bf16_of(u32 v) {
  const u32 rounded = (v + 0x7FFF + (v >> 16 & 1)) >> 16;
  return (v & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF : rounded;
}

void bf16_f32(const Op& op, std::byte* rows, uint32_t mask) {
  const u32* a = row<u32>(rows, op.a);
  u16 r[kLanes];
  for (int i = 0; i < kLanes; ++i) r[i] = static_cast<u16>(bf16_of(a[i]));
  store<kLanes>(rows, op.d, r, mask);
}

// d, a, b: a to the upper half.
void bf16x2_f32(const Op& op, std::byte* rows, uint32_t mask) {
  const u32* a = row<u32>(rows, op.a);
  const u32* b = row<u32>(rows, op.b);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) {
    const u32 v = bf16_of(a[i]) << 16 | bf16_of(b[i]);
    d[i] = (mask >> i & 1) != 0 ? v : d[i];
  }
}

// The upper half of fp32, NaN too.
void f32_bf16(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) d[i] = (mask >> i & 1) != 0 ? static_cast<u32>(a[i]) << 16 : d[i];
}

// To a byte with so many fraction bits, saturating: the largest number is `most`, NaN is 0x7F.
template <int fraction_bits, int bias, u32 most>
inline u32 byte_of(u32 v) {
  constexpr int drop = 23 - fraction_bits;
  constexpr u32 least_normal = static_cast<u32>(128 - bias) << 23;
  const u32 magnitude = v & 0x7FFFFFFF;
  const u32 up = magnitude + ((1u << (drop - 1)) - 1) + (magnitude >> drop & 1);
  const u32 normal = (up >> drop) - (static_cast<u32>(127 - bias) << fraction_bits);
  // A number whose last bit is that of the format's subnormal numbers.
  const float unit = std::bit_cast<float>(static_cast<u32>(128 - bias - fraction_bits + 23) << 23);
  const u32 subnormal = bits(std::bit_cast<float>(magnitude < least_normal ? magnitude : 0) + unit) & 0xFF;
  const u32 rounded = magnitude < least_normal ? subnormal : normal;
  const u32 finite = rounded > most ? most : rounded;
  return magnitude > 0x7F800000 ? 0x7F : (v >> 24 & 0x80) | finite;
}
inline u32 e4m3_of(u32 v) { return byte_of<3, 7, 0x7E>(v); }
inline u32 e5m2_of(u32 v) { return byte_of<2, 15, 0x7B>(v); }

// d, a, b: a to the upper byte.
template <u32 (*byte)(u32)>
void bytes_f32(const Op& op, std::byte* rows, uint32_t mask) {
  const u32* a = row<u32>(rows, op.a);
  const u32* b = row<u32>(rows, op.b);
  u16 r[kLanes];
  for (int i = 0; i < kLanes; ++i) r[i] = static_cast<u16>(byte(a[i]) << 8 | byte(b[i]));
  store<kLanes>(rows, op.d, r, mask);
}

// The upper half of fp16; NaN becomes 0x7FFF.
inline u32 half_of_e5m2(u32 code) { return (code & 0x7F) > 0x7C ? 0x7FFF : code << 8; }
void f16x2_e5m2x2(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) {
    const u32 v = half_of_e5m2(a[i] & 0xFF) | half_of_e5m2(static_cast<u32>(a[i]) >> 8) << 16;
    d[i] = (mask >> i & 1) != 0 ? v : d[i];
  }
}

}  // namespace

void add_narrow_convert(Catalog& c) {
  c["cvt.rn.bf16.f32"] = bf16_f32;
  c["cvt.rn.bf16x2.f32"] = bf16x2_f32;
  c["cvt.f32.bf16"] = f32_bf16;
  c["cvt.rn.satfinite.e4m3x2.f32"] = bytes_f32<e4m3_of>;
  c["cvt.rn.satfinite.e5m2x2.f32"] = bytes_f32<e5m2_of>;
  c["cvt.rn.f16x2.e5m2x2"] = f16x2_e5m2x2;
}

}  // namespace bitwell::isa::BITWELL_LEVEL
