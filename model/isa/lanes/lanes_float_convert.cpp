// Conversions from fp32 and fp64, and to them from integers that lanes_convert.cpp leaves, by the host's own
// (PTX ISA 9.0, 9.7.9.21 cvt).
#include <limits>

#include "model/isa/lanes/lanes_f32.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

enum class Round { nearest, zero, down, up };

#if defined(__clang__) && !__has_builtin(__builtin_roundeven)
float to_even(float v) { return __builtin_rintf(v); }  // the host's direction is the default one
double to_even(double v) { return __builtin_rint(v); }
#else
float to_even(float v) { return __builtin_roundevenf(v); }
double to_even(double v) { return __builtin_roundeven(v); }
#endif

template <Round R>
float integral(float v) {
  if constexpr (R == Round::nearest) return to_even(v);
  if constexpr (R == Round::zero) return __builtin_truncf(v);
  return R == Round::down ? __builtin_floorf(v) : __builtin_ceilf(v);
}
template <Round R>
double integral(double v) {
  if constexpr (R == Round::nearest) return to_even(v);
  if constexpr (R == Round::zero) return __builtin_trunc(v);
  return R == Round::down ? __builtin_floor(v) : __builtin_ceil(v);
}

// What lies beyond the type becomes its least or greatest; NaN 0, or the top bit where a type of 64 bits
// takes part.
template <class To, class From>
To integer(From v) {
  using Limits = std::numeric_limits<To>;
  constexpr bool is_signed = Limits::is_signed;
  constexpr int bits = 8 * sizeof(To) - (is_signed ? 1 : 0);
  constexpr From end = static_cast<From>(uint64_t{1} << (bits - 1)) * 2, least = is_signed ? -end : From(0);
  constexpr auto nan =
      static_cast<To>(sizeof(To) == 8 || sizeof(From) == 8 ? uint64_t{1} << (8 * sizeof(To) - 1) : 0);
  To out = static_cast<To>(v >= least && v < end ? v : From(0));
  if (v >= end) out = Limits::max();
  if (v < least) out = Limits::min();
  return v == v ? out : nan;
}

struct Wide {  // fp64, which has no .ftz, and whose NaN only become quiet
  static double in(double v) { return v; }
  static double out(double v) { return v == v ? v : std::bit_cast<double>(bits(v) | uint64_t{1} << 51); }
};

template <class To, Round R, class M, class From>
void to_integer(Catalog& c, const std::string& name, const std::string& from) {
  const std::string to = (std::numeric_limits<To>::is_signed ? ".s" : ".u") + std::to_string(8 * sizeof(To));
  c[name + to + from] = unary<To, From>([](From v) { return integer<To>(integral<R>(M::in(v))); });
}

template <Round R, class M, class From>
void rounded(Catalog& c, const std::string& name, const std::string& from) {
  to_integer<uint16_t, R, M, From>(c, name, from);
  to_integer<int16_t, R, M, From>(c, name, from);
  to_integer<uint32_t, R, M, From>(c, name, from);
  to_integer<int32_t, R, M, From>(c, name, from);
  to_integer<uint64_t, R, M, From>(c, name, from);
  to_integer<int64_t, R, M, From>(c, name, from);
  c[name + from + from] = unary<From>([](From v) { return M::out(integral<R>(M::in(v))); });
}

template <class M, class From>
void all_rounded(Catalog& c, const std::string& ftz, const std::string& from) {
  rounded<Round::nearest, M, From>(c, "cvt.rni" + ftz, from);
  rounded<Round::zero, M, From>(c, "cvt.rzi" + ftz, from);
  rounded<Round::down, M, From>(c, "cvt.rmi" + ftz, from);
  rounded<Round::up, M, From>(c, "cvt.rpi" + ftz, from);
}

// Registers of 8-bit types live in 16-bit rows.
template <class From, class Row = From>
void from_integer(Catalog& c, const std::string& from) {
  c["cvt.rn.f32." + from] = unary<float, Row>([](Row v) { return static_cast<float>(static_cast<From>(v)); });
  c["cvt.rn.f64." + from] =
      unary<double, Row>([](Row v) { return static_cast<double>(static_cast<From>(v)); });
}

}  // namespace

void add_float_convert(Catalog& c) {
  all_rounded<Plain, float>(c, "", ".f32");
  all_rounded<Ftz, float>(c, ".ftz", ".f32");
  all_rounded<Wide, double>(c, "", ".f64");
  c["cvt.ftz.f32.f32"] = unary<float>([](float v) { return Ftz::out(Ftz::in(v)); });
  c["cvt.sat.f32.f32"] = unary<float>([](float v) { return Sat<Plain>::out(v); });
  c["cvt.ftz.sat.f32.f32"] = unary<float>([](float v) { return Sat<Ftz>::out(Ftz::in(v)); });
  c["cvt.f64.f32"] =
      unary<double, float>([](float v) { return static_cast<double>(v); });  // NaN: see soft.cpp
  c["cvt.ftz.f64.f32"] =
      unary<double, float>([](float v) { return static_cast<double>(Ftz::out(Ftz::in(v))); });
  from_integer<uint8_t, uint16_t>(c, "u8");
  from_integer<int8_t, uint16_t>(c, "s8");
  from_integer<uint16_t>(c, "u16");
  from_integer<int16_t>(c, "s16");
  from_integer<uint64_t>(c, "u64");
  from_integer<int64_t>(c, "s64");
}

}  // namespace bitwell::isa::BITWELL_LEVEL
