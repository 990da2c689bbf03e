// What fp32 instructions do to what they take and give: subnormals under .ftz, NaN, .sat. For lanes_*.cpp
// alone.
#pragma once
#include <bit>

#include "model/isa/lanes/lanes.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

inline uint32_t bits(float v) { return std::bit_cast<uint32_t>(v); }
inline uint64_t bits(double v) { return std::bit_cast<uint64_t>(v); }

struct Plain {
  static float in(float v) { return v; }
  static float out(float v) { return v != v ? std::bit_cast<float>(0x7FFFFFFFu) : v; }
};
struct Ftz {
  static float in(float v) {
    const uint32_t b = bits(v);
    return std::bit_cast<float>((b & 0x7F800000u) == 0 ? b & 0x80000000u : b);
  }
  static float out(float v) { return in(Plain::out(v)); }
};
template <class Base>
struct Sat {
  static float in(float v) { return Base::in(v); }
  static float out(float v) { return Base::in(v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f); }
};

}  // namespace
}  // namespace bitwell::isa::BITWELL_LEVEL
