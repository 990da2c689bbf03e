#include "verify/oracle/two_level.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bitwell::oracle {
namespace {

constexpr float kGreatest = std::numeric_limits<float>::max();

Nvfp4Group rounded(uint8_t scale, std::span<const float, 16> values, auto quotient) {
  Nvfp4Group out;
  out.scale = scale;
  for (size_t i = 0; i < values.size(); ++i) out.codes[i] = to_e2m1(quotient(values[i]));
  return out;
}

}  // namespace

float e2m1_value(uint8_t code) {
  static constexpr float kValues[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return code < 8 ? kValues[code] : -kValues[code % 8];
}

float e4m3_value(uint8_t code) {
  const int field = code >> 3 & 15, fraction = code & 7;
  return std::ldexp(static_cast<float>(field == 0 ? fraction : 8 + fraction), (field == 0 ? 1 : field) - 10);
}

Nvfp4Group two_level(std::string_view recipe, std::span<const float, 16> values, float largest_of_all) {
  const float g = largest_of_all == 0 ? 1 : largest_of_all;
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::fabs(v));
  const float multiplied = std::min(2688.0f / g, kGreatest);  // brings the tensor to 448 * 6
  const float divided = g / 2688.0f;
  const float sixth = 1.0f / 6.0f;
  if (recipe == "transformer_engine") {
    const uint8_t scale = to_e4m3(largest * (multiplied * sixth));
    const float factor = std::min(1.0f / (e4m3_value(scale) * (1.0f / multiplied)), kGreatest);
    return rounded(scale, values, [&](float x) { return x * factor; });
  }
  if (recipe == "torchao") {
    const uint8_t scale = to_e4m3(std::clamp((largest / 6) / divided, 0x1p-6f, 448.0f));
    const float factor = (1.0f / divided) / e4m3_value(scale);
    return rounded(scale, values, [&](float x) { return x * factor; });
  }
  if (recipe == "modelopt") {
    const float wanted = largest / (6 * divided);
    const uint8_t scale = to_e4m3(wanted == 0 ? 1.0f : std::clamp(wanted, 0x1p-9f, 448.0f));
    const float unit = e4m3_value(scale) * divided;
    return rounded(scale, values, [&](float x) { return x / unit == 0 ? 0.0f : x / unit; });
  }
  if (recipe == "compressed_tensors") {
    uint8_t scale = to_e4m3(multiplied * (largest / 6));
    if (scale == 0) scale = to_e4m3(0.125f);
    const float unit = e4m3_value(scale) / multiplied;
    return rounded(scale, values, [&](float x) { return x / unit; });
  }
  if (recipe == "vllm_emulation") {
    const uint8_t scale = to_e4m3(multiplied * (largest * sixth));
    const float factor = scale == 0 ? 0 : multiplied / e4m3_value(scale);
    return rounded(scale, values, [&](float x) { return x * factor; });
  }
  throw std::invalid_argument("no recipe '" + std::string(recipe) + "'");
}

}  // namespace bitwell::oracle
