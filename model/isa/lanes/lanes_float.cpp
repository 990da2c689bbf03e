// fp32 and fp64 arithmetic, round to nearest even, by the host's own (PTX ISA 9.0, 9.7.3). fp32's other
// roundings are lanes_directed.cpp's; fp64's go through model/number.
#include <type_traits>

#include "model/isa/lanes/lanes_f32.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

// A product or fma that rounds up to the least normal was tiny before, and .ftz flushes it. Rare: such lanes
// are done again by model/number.
template <class F, class M, bool Fused, bool Saturate>
void flushing(const Op& op, std::byte* rows, uint32_t mask) {
  alignas(64) float r[kLanes];
  const float* a = row<float>(rows, op.a);
  const float* b = row<float>(rows, op.b);
  const float* d = row<float>(rows, op.c);
  bool again = false;
  for (int i = 0; i < kLanes; ++i) {
    r[i] = F{}(M::in(a[i]), M::in(b[i]), M::in(d[i]));
    again |= (bits(r[i]) & 0x7FFFFFFFu) == 0x00800000u;
    r[i] = M::out(r[i]);
  }
  if (again)
    for (int i = 0; i < kLanes; ++i)
      if ((bits(r[i]) & 0x7FFFFFFFu) == 0x00800000u)
        r[i] = std::bit_cast<float>(soft_ftz_f32(Fused, bits(a[i]), bits(b[i]), bits(d[i]), Saturate));
  float* out = row<float>(rows, op.d);
  if (mask == ~0u)
    for (int i = 0; i < kLanes; ++i) out[i] = r[i];
  else
    for (int i = 0; i < kLanes; ++i) out[i] = (mask >> i & 1) != 0 ? r[i] : out[i];
}

template <class M, bool Saturate>
void flushing_forms(Catalog& c, const std::string& t) {
  const auto product = [](float a, float b, float) { return a * b; };
  const auto fused = [](float a, float b, float d) { return __builtin_fmaf(a, b, d); };
  c["mul" + t] = flushing<decltype(product), M, false, Saturate>;
  c["fma" + t] = flushing<decltype(fused), M, true, Saturate>;
}

template <class M>
void arithmetic(Catalog& c, const std::string& t) {
  c["add" + t] = binary<float>([](float a, float b) { return M::out(M::in(a) + M::in(b)); });
  c["sub" + t] = binary<float>([](float a, float b) { return M::out(M::in(a)-M::in(b)); });
  c["mul" + t] = binary<float>([](float a, float b) { return M::out(M::in(a)*M::in(b)); });
  c["fma" + t] = ternary<float>(
      [](float a, float b, float d) { return M::out(__builtin_fmaf(M::in(a), M::in(b), M::in(d))); });
}

// Two values a register: the 64 of two rows, one behind the other.
template <bool Fused, class F>
void pairs(const Op& op, std::byte* rows, uint32_t mask) {
  float* d = row<float>(rows, op.d);
  const float* a = row<float>(rows, op.a);
  const float* b = row<float>(rows, op.b);
  const float* c = row<float>(rows, Fused ? op.c : op.a);
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < 2 * kLanes; ++i) d[i] = Plain::out(F{}(a[i], b[i], c[i]));
  } else {
    for (int i = 0; i < 2 * kLanes; ++i)
      if ((mask >> i / 2 & 1) != 0) d[i] = Plain::out(F{}(a[i], b[i], c[i]));
  }
}

void packed(Catalog& c) {
  const auto sum = [](float a, float b, float) { return a + b; };
  const auto difference = [](float a, float b, float) { return a - b; };
  const auto product = [](float a, float b, float) { return a * b; };
  const auto fused = [](float a, float b, float d) { return __builtin_fmaf(a, b, d); };
  c["add.f32x2"] = pairs<false, decltype(sum)>;
  c["sub.f32x2"] = pairs<false, decltype(difference)>;
  c["mul.f32x2"] = pairs<false, decltype(product)>;
  c["fma.f32x2"] = pairs<true, decltype(fused)>;
}

// min and max prefer numbers to NaN and order -0 below +0; `.NaN` gives NaN if any operand is one.
template <class M, bool Max, bool Propagate, bool XorSign>
float extreme(float x, float y) {
  float a = M::in(x);
  float b = M::in(y);
  const uint32_t sign = (bits(a) ^ bits(b)) & 0x80000000u;
  if (XorSign) {
    a = std::bit_cast<float>(bits(a) & 0x7FFFFFFFu);
    b = std::bit_cast<float>(bits(b) & 0x7FFFFFFFu);
  }
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  float r = Max ? (a > b ? a : b) : (a < b ? a : b);
  if (a == b) r = std::bit_cast<float>(Max ? bits(a) & bits(b) : bits(a) | bits(b));
  if (a_nan) r = b;
  if (b_nan) r = a;
  if ((a_nan && b_nan) || (Propagate && (a_nan || b_nan))) return std::bit_cast<float>(0x7FFFFFFFu);
  return XorSign ? std::bit_cast<float>(bits(r) | sign) : r;
}

template <class M, bool Max, bool Propagate, bool XorSign>
void extremes(Catalog& c, const std::string& name) {
  c[name] = binary<float>([](float a, float b) { return extreme<M, Max, Propagate, XorSign>(a, b); });
}

template <class M>
void all_extremes(Catalog& c, const std::string& ftz) {
  extremes<M, false, false, false>(c, "min" + ftz + ".f32");
  extremes<M, true, false, false>(c, "max" + ftz + ".f32");
  extremes<M, false, true, false>(c, "min" + ftz + ".NaN.f32");
  extremes<M, true, true, false>(c, "max" + ftz + ".NaN.f32");
  extremes<M, false, false, true>(c, "min" + ftz + ".xorsign.abs.f32");
  extremes<M, true, false, true>(c, "max" + ftz + ".xorsign.abs.f32");
  extremes<M, false, true, true>(c, "min" + ftz + ".NaN.xorsign.abs.f32");
  extremes<M, true, true, true>(c, "max" + ftz + ".NaN.xorsign.abs.f32");
}

template <class M>
void unaries(Catalog& c, const std::string& ftz) {
  c["abs" + ftz + ".f32"] =
      unary<float>([](float a) { return std::bit_cast<float>(bits(M::out(M::in(a))) & 0x7FFFFFFFu); });
  c["neg" + ftz + ".f32"] = unary<float>([](float a) {
    const float v = M::in(a);
    return v != v ? Plain::out(v) : std::bit_cast<float>(bits(v) ^ 0x80000000u);
  });
  c["sqrt" + ftz + ".f32"] = unary<float>([](float a) { return M::out(__builtin_sqrtf(M::in(a))); });
  c["rcp" + ftz + ".f32"] = unary<float>([](float a) { return M::out(1.0f / M::in(a)); });
  if (ftz.empty()) c["div.f32"] = binary<float>([](float a, float b) { return M::out(a / b); });
}

// fp64 keeps NaN payloads: as nan_result of model/number says.
double nan64(double result, double a, double b, double d) {
  if (result == result) return result;
  const double first = b != b ? b : d != d ? d : a;
  return std::bit_cast<double>(first != first ? bits(first) | 0x0008000000000000u : 0xFFF8000000000000u);
}

void doubles(Catalog& c) {
  c["add.f64"] = binary<double>([](double a, double b) { return nan64(a + b, a, b, b); });
  c["sub.f64"] = binary<double>([](double a, double b) { return nan64(a - b, a, b, b); });
  c["mul.f64"] = binary<double>([](double a, double b) { return nan64(a * b, a, b, b); });
  c["div.f64"] = binary<double>([](double a, double b) { return nan64(a / b, b, a, a); });
  c["fma.f64"] =
      ternary<double>([](double a, double b, double d) { return nan64(__builtin_fma(a, b, d), a, b, d); });
  c["rcp.f64"] = unary<double>([](double a) { return nan64(1.0 / a, a, a, a); });
  c["sqrt.f64"] = unary<double>([](double a) { return nan64(__builtin_sqrt(a), a, a, a); });
  // abs and neg leave a NaN's sign alone and quiet it.
  const auto quiet = [](double a) { return std::bit_cast<double>(bits(a) | 0x0008000000000000u); };
  c["abs.f64"] = unary<double>([](double a) {
    return a != a ? decltype(quiet){}(a) : std::bit_cast<double>(bits(a) & 0x7FFFFFFFFFFFFFFFu);
  });
  c["neg.f64"] = unary<double>([](double a) {
    return a != a ? decltype(quiet){}(a) : std::bit_cast<double>(bits(a) ^ 0x8000000000000000u);
  });
  const auto pick = [](auto max) {
    return binary<double>([](double a, double b) {
      constexpr bool kMax = decltype(max)::value;
      if (a != a && b != b) return std::bit_cast<double>(bits(b) | 0x0008000000000000u);
      if (a != a) return b;
      if (b != b) return a;
      if (a == b) return std::bit_cast<double>(kMax ? bits(a) & bits(b) : bits(a) | bits(b));
      return (a < b) != kMax ? a : b;
    });
  };
  c["min.f64"] = pick(std::false_type{});
  c["max.f64"] = pick(std::true_type{});
}

void signs(Catalog& c) {
  c["copysign.f32"] =
      binary<uint32_t>([](uint32_t a, uint32_t b) { return (b & 0x7FFFFFFFu) | (a & 0x80000000u); });
  c["copysign.f64"] = binary<uint64_t>(
      [](uint64_t a, uint64_t b) { return (b & 0x7FFFFFFFFFFFFFFFu) | (a & 0x8000000000000000u); });
}

}  // namespace

void add_float(Catalog& c) {
  arithmetic<Plain>(c, ".f32");
  arithmetic<Ftz>(c, ".ftz.f32");
  arithmetic<Sat<Plain>>(c, ".sat.f32");
  arithmetic<Sat<Ftz>>(c, ".ftz.sat.f32");
  flushing_forms<Ftz, false>(c, ".ftz.f32");
  flushing_forms<Sat<Ftz>, true>(c, ".ftz.sat.f32");
  all_extremes<Plain>(c, "");
  all_extremes<Ftz>(c, ".ftz");
  unaries<Plain>(c, "");
  unaries<Ftz>(c, ".ftz");
  packed(c);
  signs(c);
  doubles(c);
}

}  // namespace bitwell::isa::BITWELL_LEVEL
