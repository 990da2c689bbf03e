#include "verify/oracle/two_level.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "verify/oracle/reciprocal.h"

namespace bitwell::oracle {
namespace {

constexpr float kGreatest = std::numeric_limits<float>::max();

Nvfp4Group rounded(uint8_t scale, std::span<const float, 16> values, auto quotient) {
  Nvfp4Group out;
  out.scale = scale;
  for (size_t i = 0; i < values.size(); ++i) out.codes[i] = to_e2m1(quotient(values[i]));
  return out;
}

// As -use_fast_math has products and comparisons: what is subnormal is zero.
float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float flushed_product(float a, float b) { return flushed(flushed(a) * flushed(b)); }

// vLLM's kernel, TensorRT-LLM's and FlashInfer's, which differ in what makes the codes zeros.
Nvfp4Group by_reciprocals(std::string_view recipe, std::span<const float, 16> values, float largest,
                          float multiplied) {
  const bool flush = recipe == "flashinfer";
  const auto times = [&](float a, float b) { return flush ? flushed_product(a, b) : a * b; };
  const uint8_t scale = to_e4m3(times(multiplied, times(largest, reciprocal(6))));
  const float s = scale == 0x7F ? std::numeric_limits<float>::quiet_NaN() : e4m3_value(scale);
  const float told_by = recipe == "vllm" ? s : flush ? flushed(largest) : largest;
  const float factor = told_by == 0 ? 0 : reciprocal(times(s, reciprocal(multiplied)));
  return rounded(scale, values, [&](float x) { return times(x, factor); });
}

// The largest magnitude, of NaNs alone a NaN.
float largest_of(std::span<const float, 16> values) {
  float out = std::fabs(values[0]);
  for (const float v : values)
    if (std::isnan(out) || std::fabs(v) > out) out = std::fabs(v);
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
  const float largest = largest_of(values);
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
  if (recipe == "mslk") {
    const uint8_t scale = to_e4m3((largest / 6) * multiplied);
    const float factor = multiplied / e4m3_value(scale);
    return rounded(scale, values, [&](float x) { return x * factor; });
  }
  if (recipe == "vllm" || recipe == "tensorrt_llm" || recipe == "flashinfer")
    return by_reciprocals(recipe, values, largest, multiplied);
  if (recipe == "fbgemm") {
    const uint8_t scale = to_e4m3(divided_fully(largest, 6) * multiplied);
    const float factor = divided_fully(6, largest == 0 ? 0x1p-126f : largest);
    return rounded(scale, values, [&](float x) { return x * factor; });
  }
  throw std::invalid_argument("no recipe '" + std::string(recipe) + "'");
}

}  // namespace bitwell::oracle
