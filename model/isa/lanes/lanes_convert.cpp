// Conversions between integers, and those between integers and floating point that every instruction set of
// the host does in one instruction (PTX ISA 9.0, 9.7.9.21 cvt). lanes_float_convert.cpp has more; all others
// go through model/number.
#include <type_traits>

#include "model/isa/lanes/lanes.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

// What a register of at least 8 * sizeof(T) bits holds, read as T. Registers of 8-bit types live in 16-bit
// rows.
template <class To, class From, class Row>
void extend(Catalog& c, const std::string& name) {
  using Stored = std::conditional_t<sizeof(To) == 1, uint16_t, std::make_unsigned_t<To>>;
  c[name] =
      unary<Stored, Row>([](Row v) { return static_cast<Stored>(static_cast<To>(static_cast<From>(v))); });
}

template <class To, class From>
To clamp_to(From v) {
  constexpr To low = To(-1) < To(0) ? static_cast<To>(To(1) << (8 * sizeof(To) - 1)) : To(0);
  constexpr To high = static_cast<To>(~low);
  const To max = To(-1) < To(0) ? high : static_cast<To>(~To(0));
  if constexpr (From(-1) < From(0)) {
    if (v < 0) {
      if (!(To(-1) < To(0))) return 0;
      return static_cast<int64_t>(v) < static_cast<int64_t>(low) ? low : static_cast<To>(v);
    }
  }
  return static_cast<uint64_t>(v) > static_cast<uint64_t>(max) ? max : static_cast<To>(v);
}

template <class To, class From, class Row>
void saturate(Catalog& c, const std::string& name) {
  using Stored = std::conditional_t<sizeof(To) == 1, uint16_t, std::make_unsigned_t<To>>;
  c[name] =
      unary<Stored, Row>([](Row v) { return static_cast<Stored>(clamp_to<To, From>(static_cast<From>(v))); });
}

template <class To, class From>
void pair(Catalog& c, const std::string& to, const std::string& from) {
  using Row = std::conditional_t<sizeof(From) == 1, uint16_t, std::make_unsigned_t<From>>;
  extend<To, From, Row>(c, "cvt." + to + "." + from);
  saturate<To, From, Row>(c, "cvt.sat." + to + "." + from);
}

template <class To>
void from_all(Catalog& c, const std::string& to) {
  pair<To, uint8_t>(c, to, "u8");
  pair<To, int8_t>(c, to, "s8");
  pair<To, uint16_t>(c, to, "u16");
  pair<To, int16_t>(c, to, "s16");
  pair<To, uint32_t>(c, to, "u32");
  pair<To, int32_t>(c, to, "s32");
  pair<To, uint64_t>(c, to, "u64");
  pair<To, int64_t>(c, to, "s64");
}

}  // namespace

void add_convert(Catalog& c) {
  from_all<uint8_t>(c, "u8");
  from_all<int8_t>(c, "s8");
  from_all<uint16_t>(c, "u16");
  from_all<int16_t>(c, "s16");
  from_all<uint32_t>(c, "u32");
  from_all<int32_t>(c, "s32");
  from_all<uint64_t>(c, "u64");
  from_all<int64_t>(c, "s64");
  c["cvt.rn.f32.s32"] = unary<float, int32_t>([](int32_t v) { return static_cast<float>(v); });
  c["cvt.rn.f32.u32"] = unary<float, uint32_t>([](uint32_t v) { return static_cast<float>(v); });
  c["cvt.rn.f64.s32"] = unary<double, int32_t>([](int32_t v) { return static_cast<double>(v); });
  c["cvt.rn.f64.u32"] = unary<double, uint32_t>([](uint32_t v) { return static_cast<double>(v); });
  c["cvt.rn.f32.f64"] =
      unary<float, double>([](double v) { return static_cast<float>(v); });  // NaN: see soft.cpp
}

}  // namespace bitwell::isa::BITWELL_LEVEL
