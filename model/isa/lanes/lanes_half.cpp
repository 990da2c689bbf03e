// fp16 and packed fp16 arithmetic, round to nearest even (PTX ISA 9.0, 9.7.4), and the conversions that the
// NVFP4 kernels live on. A packed row of 32 registers is a row of 64 halves.
#include "model/isa/lanes/lanes.h"
#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;

uint32_t bits(float v) { return std::bit_cast<uint32_t>(v); }

// Widening is exact. N is a multiple of 16.
template <int N>
inline void widen(const u16* in, float* out) {
#if defined(__AVX512F__)
  for (int i = 0; i < N; i += 16)
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
#elif defined(__F16C__)
  for (int i = 0; i < N; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#else
  for (int i = 0; i < N; ++i) {
    const u32 sign = static_cast<u32>(in[i] & 0x8000) << 16;
    const u32 magnitude = in[i] & 0x7FFF;
    u32 v = (magnitude << 13) + (112u << 23);
    if (magnitude < 0x400) v = bits(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24f);
    if (magnitude >= 0x7C00) v = 0x7F800000 | (magnitude & 0x3FF) << 13;
    out[i] = std::bit_cast<float>(sign | v);
  }
#endif
}

// One rounding to nearest even; NaN becomes 0x7FFF.
template <int N>
inline void narrow(const float* in, u16* out) {
#if defined(__AVX512F__)
  for (int i = 0; i < N; i += 16) {
    const __m512 v = _mm512_loadu_ps(in + i);
    const __m256i h = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_mask_mov_epi16(h, nan, _mm256_set1_epi16(0x7FFF)));
  }
#elif defined(__F16C__)
  for (int i = 0; i < N; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  for (int i = 0; i < N; ++i) out[i] = (out[i] & 0x7FFF) > 0x7C00 ? u16{0x7FFF} : out[i];
#else
  for (int i = 0; i < N; ++i) {
    const u32 b = bits(in[i]);
    const u32 sign = b >> 16 & 0x8000;
    const u32 magnitude = b & 0x7FFFFFFF;
    u32 h = 0;
    if (magnitude > 0x7F800000) {
      out[i] = 0x7FFF;
      continue;
    }
    if (magnitude >= 0x477FF000) {
      h = 0x7C00;
    } else if (magnitude >= 0x38800000) {
      h = (magnitude - (112u << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
    } else {  // subnormal: adding 0.5 puts the unit of 2^-24 at the bottom of the significand
      h = bits(std::bit_cast<float>(magnitude) + 0.5f) - bits(0.5f);
    }
    out[i] = static_cast<u16>(sign | h);
  }
#endif
}

inline u16 flush(u16 h) { return (h & 0x7C00) == 0 ? h & 0x8000 : h; }

struct Keep {
  static constexpr bool kFlush = false;
  static u16 out(u16 h) { return h; }
};
struct Ftz {
  static constexpr bool kFlush = true;
  static u16 out(u16 h) { return flush(h); }
};
template <class Base>
struct Sat {
  static constexpr bool kFlush = Base::kFlush;
  static u16 out(u16 h) {
    h = Base::out(h);
    return (h & 0x8000) != 0 || h > 0x7C00 ? u16{0} : h > 0x3C00 ? u16{0x3C00} : h;
  }
};
template <class Base>
struct Relu {
  static constexpr bool kFlush = Base::kFlush;
  static u16 out(u16 h) {
    h = Base::out(h);
    return (h & 0x8000) != 0 ? u16{0} : h;
  }
};

// a * b + c with one rounding to fp16. The product of two fp16 is exact in fp32. The sum is made odd where it
// is inexact (its error, by the two-sum of Knuth, is exact), so that the rounding to fp16 sees which side it
// came from.
inline float fma_to_odd(float a, float b, float c) {
  const float p = a * b;
  const float s = p + c;
  const float back = s - p;
  const float error = (p - (s - back)) + (c - back);
  const u32 sum = bits(s);
  const bool inexact = error > 0.0f || error < 0.0f;  // false for infinities and NaN
  const u32 step = (error > 0.0f) == (s > 0.0f) ? 1u : ~0u;
  return std::bit_cast<float>(inexact && (sum & 1) == 0 ? sum + step : sum);
}

struct Add {
  static constexpr int kOperands = 2;
  static float apply(float a, float b, float) {
    return a + b;
  }  // fp32's 24 bits make double rounding harmless
};
struct Sub {
  static constexpr int kOperands = 2;
  static float apply(float a, float b, float) { return a - b; }
};
struct Mul {
  static constexpr int kOperands = 2;
  static float apply(float a, float b, float) { return a * b; }
};
struct Fma {
  static constexpr int kOperands = 3;
  static float apply(float a, float b, float c) { return fma_to_odd(a, b, c); }
};

template <int N, class M>
inline void load(std::byte* rows, uint32_t offset, float* out) {
  const u16* in = row<u16>(rows, offset);
  if constexpr (M::kFlush) {
    u16 flushed[N];
    for (int i = 0; i < N; ++i) flushed[i] = flush(in[i]);
    widen<N>(flushed, out);
  } else {
    widen<N>(in, out);
  }
}

// Writes 32 lanes of N / 32 halves each.
template <int N>
inline void store(std::byte* rows, uint32_t offset, const u16* r, uint32_t mask) {
  u16* d = row<u16>(rows, offset);
  if (mask == ~0u) {
    for (int i = 0; i < N; ++i) d[i] = r[i];
  } else {
    for (int i = 0; i < N; ++i)
      if ((mask >> (i / (N / 32)) & 1) != 0) d[i] = r[i];
  }
}

template <int N, class F, class M>
void run(const Op& op, std::byte* rows, uint32_t mask) {
  float a[N];
  float b[N];
  float c[N] = {};
  float f[N];
  u16 r[N];
  load<N, M>(rows, op.a, a);
  load<N, M>(rows, op.b, b);
  if constexpr (F::kOperands == 3) load<N, M>(rows, op.c, c);
  for (int i = 0; i < N; ++i) f[i] = F::apply(a[i], b[i], c[i]);
  narrow<N>(f, r);
  for (int i = 0; i < N; ++i) r[i] = M::out(r[i]);
  store<N>(rows, op.d, r, mask);
}

template <class F, class M>
void both(Catalog& c, const std::string& name) {
  c[name + ".f16"] = run<32, F, M>;
  c[name + ".f16x2"] = run<64, F, M>;
}

template <class F>
void modes(Catalog& c, const std::string& name) {
  both<F, Keep>(c, name);
  both<F, Sat<Keep>>(c, name + ".sat");
}

// Sums of fp16 are never tiny and inexact, so flushing after rounding is right for them alone; products and
// fma with .ftz go through model/number.
template <class F>
void flushing_modes(Catalog& c, const std::string& name) {
  both<F, Ftz>(c, name + ".ftz");
  both<F, Sat<Ftz>>(c, name + ".ftz.sat");
}

inline u16 half_extreme(u16 a, u16 b, bool max, bool propagate, bool xor_sign) {
  const u16 sign = (a ^ b) & 0x8000;
  if (xor_sign) {
    a &= 0x7FFF;
    b &= 0x7FFF;
  }
  const bool a_nan = (a & 0x7FFF) > 0x7C00;
  const bool b_nan = (b & 0x7FFF) > 0x7C00;
  if ((a_nan && b_nan) || (propagate && (a_nan || b_nan))) return 0x7FFF;
  u16 r = a;
  if (a_nan) {
    r = b;
  } else if (!b_nan) {
    const int x = (a & 0x8000) != 0 ? -static_cast<int>(a & 0x7FFF) - 1 : a;  // totally ordered, -0 below +0
    const int y = (b & 0x8000) != 0 ? -static_cast<int>(b & 0x7FFF) - 1 : b;
    r = (x < y) != max ? a : b;
  }
  return xor_sign ? static_cast<u16>(r | sign) : r;
}

template <int N, bool Max, bool Nan, bool Xor, class M>
void extreme(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  const u16* b = row<u16>(rows, op.b);
  u16 r[N];
  for (int i = 0; i < N; ++i)
    r[i] = M::kFlush ? half_extreme(flush(a[i]), flush(b[i]), Max, Nan, Xor)
                     : half_extreme(a[i], b[i], Max, Nan, Xor);
  store<N>(rows, op.d, r, mask);
}

template <bool Max, bool Nan, bool Xor, class M>
void extremes(Catalog& c, const std::string& name) {
  c[name + ".f16"] = extreme<32, Max, Nan, Xor, M>;
  c[name + ".f16x2"] = extreme<64, Max, Nan, Xor, M>;
}

template <class M>
void all_extremes(Catalog& c, const std::string& ftz) {
  extremes<false, false, false, M>(c, "min" + ftz);
  extremes<true, false, false, M>(c, "max" + ftz);
  extremes<false, true, false, M>(c, "min" + ftz + ".NaN");
  extremes<true, true, false, M>(c, "max" + ftz + ".NaN");
  extremes<false, false, true, M>(c, "min" + ftz + ".xorsign.abs");
  extremes<true, false, true, M>(c, "max" + ftz + ".xorsign.abs");
  extremes<false, true, true, M>(c, "min" + ftz + ".NaN.xorsign.abs");
  extremes<true, true, true, M>(c, "max" + ftz + ".NaN.xorsign.abs");
}

template <int N, bool Neg, class M>
void sign_op(const Op& op, std::byte* rows, uint32_t mask) {
  const u16* a = row<u16>(rows, op.a);
  u16 r[N];
  for (int i = 0; i < N; ++i) {
    const u16 v = M::out(a[i]);
    r[i] = (v & 0x7FFF) > 0x7C00 ? u16{0x7FFF} : static_cast<u16>(Neg ? v ^ 0x8000 : v & 0x7FFF);
  }
  store<N>(rows, op.d, r, mask);
}

template <class M>
void signs(Catalog& c, const std::string& ftz) {
  c["abs" + ftz + ".f16"] = sign_op<32, false, M>;
  c["abs" + ftz + ".f16x2"] = sign_op<64, false, M>;
  c["neg" + ftz + ".f16"] = sign_op<32, true, M>;
  c["neg" + ftz + ".f16x2"] = sign_op<64, true, M>;
}

// Conversions. fp16 to fp32 is exact, NaN to 0x7FFFFFFF.
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

// E4M3 to fp16: normals move by bits; subnormals are small integers times 2^-9; 0x7F gives 0x7FFF.
inline u32 e4m3_half(u32 code) {
  static constexpr u32 kSubnormal[8] = {0x0000, 0x1800, 0x1C00, 0x1E00, 0x2000, 0x2100, 0x2200, 0x2300};
  const u32 magnitude = code & 0x7F;
  u32 h = (magnitude << 7) + (8u << 10);
  if (magnitude < 8) h = kSubnormal[magnitude];
  if (magnitude == 0x7F) return 0x7FFF;
  return (code & 0x80) << 8 | h;
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

void add_half(Catalog& c) {
  modes<Add>(c, "add");
  modes<Sub>(c, "sub");
  modes<Mul>(c, "mul");
  modes<Fma>(c, "fma");
  flushing_modes<Add>(c, "add");
  flushing_modes<Sub>(c, "sub");
  both<Fma, Relu<Keep>>(c, "fma.relu");
  all_extremes<Keep>(c, "");
  all_extremes<Ftz>(c, ".ftz");
  signs<Keep>(c, "");
  signs<Ftz>(c, ".ftz");
  c["cvt.f32.f16"] = f32_f16;
  c["cvt.rn.f16.f32"] = f16_f32;
  c["cvt.rn.f16x2.f32"] = f16x2_f32;
  c["cvt.rn.f16x2.e2m1x2"] = f16x2_e2m1x2;
  c["cvt.rn.f16x2.e4m3x2"] = f16x2_e4m3x2;
}

}  // namespace bitwell::isa::BITWELL_LEVEL
