// fp16 and packed fp16 arithmetic, round to nearest even (PTX ISA 9.0, 9.7.4).
#include "model/isa/lanes/lanes_half.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

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

}  // namespace

void add_half(Catalog& c) {
  modes<Add>(c, "add");
  modes<Sub>(c, "sub");
  modes<Mul>(c, "mul");
  modes<Fma>(c, "fma");
  flushing_modes<Add>(c, "add");
  flushing_modes<Sub>(c, "sub");
  both<Fma, Relu<Keep>>(c, "fma.relu");
}

}  // namespace bitwell::isa::BITWELL_LEVEL
