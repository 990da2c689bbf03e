// The conversions to and from fp16 that the NVFP4 kernels live on (PTX ISA 9.0, 9.7.9.21).
#include "model/isa/lanes/lanes_half.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

// fp16 to fp32 is exact, NaN to 0x7FFFFFFF.
void f32_f16(const Op& op, std::byte* rows, uint32_t mask) {
  float wide[kLanes];
  widen<kLanes>(row<u16>(rows, op.a), wide);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) {
    const u32 v = wide[i] != wide[i] ? 0x7FFFFFFFu : bits(wide[i]);
    d[i] = (mask >> i & 1) != 0 ? v : d[i];
  }
}

void f16_f32(const Op& op, std::byte* rows, uint32_t mask) {
  u16 r[kLanes];
  narrow<kLanes>(row<float>(rows, op.a), r);
  store<kLanes>(rows, op.d, r, mask);
}

// cvt.rn.f16x2.f32 d, a, b: a to the upper half.
void f16x2_f32(const Op& op, std::byte* rows, uint32_t mask) {
  u16 high[kLanes];
  u16 low[kLanes];
  narrow<kLanes>(row<float>(rows, op.a), high);
  narrow<kLanes>(row<float>(rows, op.b), low);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) {
    const u32 v = static_cast<u32>(high[i]) << 16 | low[i];
    d[i] = (mask >> i & 1) != 0 ? v : d[i];
  }
}

// E2M1 pair (bits 3..0 and 7..4) to two fp16: s at 15, magnitude m by value.
inline u32 e2m1_half(u32 code) {
  const u32 magnitude = code & 7;
  const u32 h =
      magnitude < 2 ? magnitude * 0x3800u : (magnitude << 9) + 0x3800u;  // 0, 0.5; then 2^-14 scaled up by 14
  return (code & 8) << 12 | h;
}
void f16x2_e2m1x2(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) {
    const u32 v = e2m1_half(a[i]) | e2m1_half(static_cast<u32>(a[i]) >> 4) << 16;
    d[i] = (mask >> i & 1) != 0 ? v : d[i];
  }
}

// E4M3 to fp16: normals move by bits; subnormals are integers times 2^-9, normal in fp16; 0x7F gives 0x7FFF.
// Without a table or a branch, so that lanes stay side by side.
inline u32 e4m3_half(u32 code) {
  const u32 magnitude = code & 0x7F;
  const u32 normal = (magnitude << 7) + 0x2000u;
  const u32 from_two = magnitude < 4 ? 0x1800u + (magnitude << 9) : 0x1C00u + (magnitude << 8);
  const u32 subnormal = magnitude < 2 ? magnitude * 0x1800u : from_two;
  const u32 finite = (code & 0x80) << 8 | (magnitude < 8 ? subnormal : normal);
  return magnitude == 0x7F ? 0x7FFFu : finite;
}
void f16x2_e4m3x2(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  u32* d = row<u32>(rows, op.d);
  for (int i = 0; i < kLanes; ++i) {
    const u32 v = e4m3_half(a[i] & 0xFF) | e4m3_half(static_cast<u32>(a[i]) >> 8) << 16;
    d[i] = (mask >> i & 1) != 0 ? v : d[i];
  }
}

}  // namespace

void add_half_convert(Catalog& c) {
  c["cvt.f32.f16"] = f32_f16;
  c["cvt.rn.f16.f32"] = f16_f32;
  c["cvt.rn.f16x2.f32"] = f16x2_f32;
  c["cvt.rn.f16x2.e2m1x2"] = f16x2_e2m1x2;
  c["cvt.rn.f16x2.e4m3x2"] = f16x2_e4m3x2;
}

}  // namespace bitwell::isa::BITWELL_LEVEL
