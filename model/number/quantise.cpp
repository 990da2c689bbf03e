#include "model/number/quantise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "model/number/codec.h"
#include "model/number/half.h"

namespace bitwell::number {
namespace {

constexpr std::array<float, 8> kMagnitudes{0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
constexpr float kLargest = 6;
constexpr size_t kTurned = 16;  // elements that a Hadamard matrix turns together
// The signs that go before it; fixed, so that both operands of a product can use them.
constexpr uint16_t kSigns = 0xB2C5;

constexpr std::array<Recipe, 17> kRecipes{{
    {.name = "nvfp4"},
    {.name = "single_level", .two_level = false},
    {.name = "tensor_256", .scale_top = 256},
    {.name = "four_over_six_mse", .scale_top = 256, .top = BlockTop::less_squared_error},
    {.name = "four_over_six_mae", .scale_top = 256, .top = BlockTop::less_absolute_error},
    {.name = "always_four", .scale_top = 256, .top = BlockTop::four},
    {.name = "scale_up", .rounding = ScaleRounding::up},
    {.name = "scale_down", .rounding = ScaleRounding::down},
    {.name = "scale_f32", .scale = ScaleFormat::f32_scale},
    {.name = "block_32", .block = 32},
    {.name = "mxfp4",
     .block = 32,
     .scale = ScaleFormat::e8m0_scale,
     .rounding = ScaleRounding::up,
     .two_level = false},
    {.name = "e8m0_16", .scale = ScaleFormat::e8m0_scale, .rounding = ScaleRounding::up, .two_level = false},
    {.name = "stochastic", .stochastic = true},
    {.name = "stochastic_16_17", .stochastic = true, .shrink = 16.0F / 17},
    {.name = "hadamard", .hadamard = true},
    {.name = "hadamard_stochastic", .stochastic = true, .hadamard = true},
    {.name = "hadamard_four_over_six",
     .scale_top = 256,
     .top = BlockTop::less_squared_error,
     .hadamard = true},
}};

float e4m3_value(uint8_t code) {
  uint16_t h = 0;
  decode_e4m3_to_f16({&code, 1}, {&h, 1});
  return half_to_float(h);
}
const auto kE4m3 = [] {
  std::array<float, 256> t{};
  for (size_t i = 0; i < t.size(); ++i) t[i] = e4m3_value(static_cast<uint8_t>(i));
  return t;
}();

// Codes of magnitudes, in rising order of value up to the largest finite one.
uint8_t scale_code(const Recipe& r, float wanted) {
  if (r.scale == ScaleFormat::e8m0_scale) {
    int exponent = 0;
    const float fraction = std::frexp(wanted, &exponent);
    if (wanted <= 0) return 0;
    return static_cast<uint8_t>(std::clamp((fraction == 0.5F ? exponent - 1 : exponent) + 127, 0, 254));
  }
  uint8_t code = 0;
  encode_e4m3({&wanted, 1}, {&code, 1});
  if (r.rounding == ScaleRounding::up && kE4m3[code] < wanted && code < 0x7E) ++code;
  if (r.rounding == ScaleRounding::down && kE4m3[code] > wanted) --code;
  return code;
}
float scale_value(const Recipe& r, uint8_t code) {
  return r.scale == ScaleFormat::e8m0_scale ? std::ldexp(1.0F, code - 127) : kE4m3[code];
}

// To nearest, ties to the even code, as cvt.rn.satfinite.e2m1x2.f32.
uint8_t nearest_code(float v) {
  const float m = std::fabs(v);
  const int code = m <= 0.25F   ? 0
                   : m < 0.75F  ? 1
                   : m <= 1.25F ? 2
                   : m < 1.75F  ? 3
                   : m <= 2.5F  ? 4
                   : m < 3.5F   ? 5
                   : m <= 5.0F  ? 6
                                : 7;
  return static_cast<uint8_t>(code | (std::signbit(v) ? 8 : 0));
}
uint8_t stochastic_code(float v, uint32_t random_bits) {
  const float m = std::min(std::fabs(v), kLargest);
  size_t below = 7;
  while (kMagnitudes[below] > m) --below;
  size_t code = below;
  if (below < 7) {
    const float share = (m - kMagnitudes[below]) / (kMagnitudes[below + 1] - kMagnitudes[below]);
    code += share * 256 > static_cast<float>(random_bits & 0xFF) ? 1 : 0;
  }
  return static_cast<uint8_t>(code | (std::signbit(v) ? 8U : 0U));
}

// y = H (signs * x) / 4 of each 16, its own inverse but for where the signs go.
void turn(std::span<float> x, bool back) {
  for (size_t at = 0; at + kTurned <= x.size(); at += kTurned) {
    float* v = &x[at];
    const auto flip = [&] {
      for (size_t i = 0; i < kTurned; ++i) v[i] = (kSigns >> i & 1) != 0 ? -v[i] : v[i];
    };
    if (!back) flip();
    for (size_t half = 1; half < kTurned; half *= 2)
      for (size_t i = 0; i < kTurned; ++i)
        if ((i & half) == 0) {
          const float sum = v[i] + v[i + half];
          v[i + half] = v[i] - v[i + half];
          v[i] = sum;
        }
    for (size_t i = 0; i < kTurned; ++i) v[i] *= 0.25F;
    if (back) flip();
  }
}

struct Block {
  float scale = 0;
  uint8_t code = 0;
  double error = 0;
};

// The block's scale for its largest magnitude at `top`, and what rounding then loses.
Block scaled(const Recipe& r, std::span<const float> x, float largest, float top, float tensor_scale) {
  Block out;
  const float wanted = largest / (top * tensor_scale);
  if (r.scale == ScaleFormat::f32_scale) {
    out.scale = wanted;
  } else {
    out.code = scale_code(r, wanted);
    out.scale = scale_value(r, out.code);
  }
  if (r.top != BlockTop::less_squared_error && r.top != BlockTop::less_absolute_error) return out;
  for (const float v : x) {
    const float unit = out.scale * tensor_scale;
    const uint8_t code = nearest_code(unit == 0 ? 0 : v / unit);
    const double back = (code >= 8 ? -1 : 1) * kMagnitudes[code & 7] * unit;
    const double lost = std::fabs(back - v);
    out.error += r.top == BlockTop::less_squared_error ? lost * lost : lost;
  }
  return out;
}

}  // namespace

std::span<const Recipe> recipes() { return kRecipes; }
const Recipe* find_recipe(std::string_view name) {
  const auto* found =
      std::find_if(kRecipes.begin(), kRecipes.end(), [&](const Recipe& r) { return r.name == name; });
  return found == kRecipes.end() ? nullptr : found;
}

Quantised quantise(const Recipe& r, std::span<const float> values, uint64_t seed) {
  std::vector<float> x(values.begin(), values.end());
  if (r.hadamard) turn(x, false);
  Quantised out;
  const auto block = static_cast<size_t>(r.block);
  out.codes.resize(x.size());
  const auto magnitude = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  if (r.two_level && !x.empty()) {
    const float largest = std::fabs(*std::max_element(x.begin(), x.end(), magnitude));
    if (largest > 0) out.tensor_scale = largest / (kLargest * r.scale_top);
  }
  std::mt19937_64 random(seed);
  for (size_t at = 0; at < x.size(); at += block) {
    const std::span part = std::span(x).subspan(at, block);
    const float largest = std::fabs(*std::max_element(part.begin(), part.end(), magnitude));
    Block best = scaled(r, part, largest, r.top == BlockTop::four ? 4 : kLargest, out.tensor_scale);
    if (r.top == BlockTop::less_squared_error || r.top == BlockTop::less_absolute_error) {
      const Block four = scaled(r, part, largest, 4, out.tensor_scale);
      if (four.error < best.error) best = four;
    }
    if (r.scale != ScaleFormat::f32_scale) out.scale_codes.push_back(best.code);
    out.scales.push_back(best.scale);
    const float unit = best.scale * out.tensor_scale;
    for (size_t i = 0; i < part.size(); ++i) {
      const float quotient = unit == 0 ? 0 : part[i] / unit * r.shrink;
      out.clipped += std::fabs(quotient) > kLargest ? 1 : 0;
      out.codes[at + i] = r.stochastic ? stochastic_code(quotient, static_cast<uint32_t>(random() >> 32))
                                       : nearest_code(quotient);
    }
  }
  return out;
}

std::vector<float> dequantise(const Recipe& r, const Quantised& q) {
  std::vector<float> out(q.codes.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const float v =
        kMagnitudes[q.codes[i] & 7] * (q.scales[i / static_cast<size_t>(r.block)] * q.tensor_scale);
    out[i] = (q.codes[i] & 8) != 0 ? -v : v;
  }
  if (r.hadamard) turn(out, true);
  return out;
}

}  // namespace bitwell::number
