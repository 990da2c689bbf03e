// fp32 arithmetic that rounds down, up or to zero (PTX ISA 9.0, 9.7.3): every expf() of CUDA has an fma.rm. A
// product of two fp32 is an fp64, and so is each half of the exact sum of two fp64: the sum, and what it has
// lost. fp32 is the one beside them on the side that is asked for.
#include "model/isa/lanes/lanes_f32.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

enum class Round { zero, down, up };

// The fp32 below, that is above one below 0.
inline float beside(float v, bool below) {
  const bool away = (bits(v) >> 31 != 0) == below;
  const uint32_t magnitude = bits(v) & 0x7FFFFFFFu;
  if (magnitude == 0) return std::bit_cast<float>(below ? 0x80000001u : 1u);
  return std::bit_cast<float>(away ? bits(v) + 1 : bits(v) - 1);
}

// Of sum + lost, of which `lost` is less than half a unit of `sum` in its last place.
template <Round R>
float directed(double sum, double lost) {
  const auto nearest = static_cast<float>(sum);
  const auto here = static_cast<double>(nearest);
  const bool below = R == Round::down || (R == Round::zero && sum > 0);
  const bool moves =
      below ? here > sum || (here == sum && lost < 0) : here < sum || (here == sum && lost > 0);
  return Plain::out(moves ? beside(nearest, below) : nearest);
}

template <Round R>
float sum_of(double a, double b) {
  const double sum = a + b, part = sum - a;
  const float out = directed<R>(sum, (a - (sum - part)) + (b - part));
  // An exact 0 is -0 when rounding down, unless all its parts are +0.
  const bool negative = (bits(a) | bits(b)) >> 63 != 0;
  return R == Round::down && sum == 0 ? (negative ? -0.0f : 0.0f) : out;
}

template <Round R>
void rounded(Catalog& c, const std::string& to) {
  c["add" + to + ".f32"] = binary<float>([](float a, float b) { return sum_of<R>(a, b); });
  c["sub" + to + ".f32"] = binary<float>([](float a, float b) { return sum_of<R>(a, -double{b}); });
  c["mul" + to + ".f32"] =
      binary<float>([](float a, float b) { return directed<R>(double{a} * double{b}, 0); });
  c["fma" + to + ".f32"] =
      ternary<float>([](float a, float b, float d) { return sum_of<R>(double{a} * double{b}, d); });
}

}  // namespace

void add_directed(Catalog& c) {
  rounded<Round::zero>(c, ".rz");
  rounded<Round::down>(c, ".rm");
  rounded<Round::up>(c, ".rp");
}

}  // namespace bitwell::isa::BITWELL_LEVEL
