// Quantisation of fp32 values to E2M1 with one scale a block, the recipes that projects use and their
// variants (Transformer Engine, ModelOpt, fouroversix, Quartet, OCP MX).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bitwell::number {

enum class ScaleFormat : uint8_t { e4m3_scale, e8m0_scale, f32_scale };
enum class ScaleRounding : uint8_t { nearest, up, down };
// What a block's largest magnitude is mapped to: 6; 4; or whichever gives the smaller error ("4 over 6").
enum class BlockTop : uint8_t { six, four, less_squared_error, less_absolute_error };

struct Recipe {
  std::string_view name;
  int block = 16;
  ScaleFormat scale = ScaleFormat::e4m3_scale;
  ScaleRounding rounding = ScaleRounding::nearest;  // of the scale; e8m0 knows up alone
  bool two_level = true;  // a tensor scale brings the largest block scale to scale_top
  float scale_top = 448;
  BlockTop top = BlockTop::six;
  bool stochastic = false;  // rounding of elements, 8 random bits each; else to nearest even
  float shrink = 1;  // of values before rounding, undone nowhere: 16/17 keeps stochastic rounding unbiased
  bool hadamard = false;  // blocks of 16 are turned by a random-sign Hadamard matrix first
};
std::span<const Recipe> recipes();
const Recipe* find_recipe(std::string_view name);

// value = (E2M1 of codes[i]) * scales[i / block] * tensor_scale, turned back if the recipe turns.
struct Quantised {
  std::vector<uint8_t> codes;        // one a byte
  std::vector<uint8_t> scale_codes;  // of e4m3 and e8m0
  std::vector<float> scales;
  float tensor_scale = 1;
  size_t clipped = 0;  // elements whose quotient lay beyond 6
};
// x.size(): a multiple of the block. The same seed gives the same codes.
Quantised quantise(const Recipe& recipe, std::span<const float> x, uint64_t seed);
std::vector<float> dequantise(const Recipe& recipe, const Quantised& q);

}  // namespace bitwell::number
