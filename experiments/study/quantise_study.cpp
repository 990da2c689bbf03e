#include "experiments/study/quantise_study.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "experiments/study/family.h"
#include "model/machine/failure.h"
#include "model/number/quantise.h"

namespace bitwell::study {
namespace {

constexpr std::array kInputs{Family::gaussian, Family::heavy_tailed, Family::outlier_channels};

// As models hand them over: bf16, to nearest even.
float as_bf16(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000);
}

}  // namespace

Study quantise_study(const QuantisePlan& plan) {
  if (plan.rows == 0 || plan.columns == 0 || plan.columns % 32 != 0)
    throw machine::InputError(fmt::format(
        "a tensor has at least one row, and columns a multiple of 32; got {}x{}", plan.rows, plan.columns));
  constexpr size_t most = size_t{1} << 28;  // elements: 2.4 GB a thread
  if (plan.columns > most || plan.rows > most / plan.columns)
    throw machine::InputError(
        fmt::format("a tensor has at most {} elements; got {}x{}", most, plan.rows, plan.columns));
  std::vector<number::Recipe> chosen(number::recipes().begin(), number::recipes().end());
  if (!plan.recipes.empty()) chosen.clear();
  for (const std::string& name : plan.recipes) {
    const number::Recipe* r = number::find_recipe(name);
    std::string known;
    for (const number::Recipe& other : number::recipes())
      known += (known.empty() ? "" : ", ") + std::string(other.name);
    if (r == nullptr) throw machine::InputError("no recipe '" + name + "'; there are " + known);
    chosen.push_back(*r);
  }
  Study out;
  out.name = "quantise";
  out.seed = plan.seed;
  out.asked = fmt::format("recipes {} tensor {}x{} seed {}",
                          plan.recipes.empty() ? "all" : fmt::format("{}", fmt::join(plan.recipes, "+")),
                          plan.rows, plan.columns, plan.seed);
  out.columns = {"input",          "recipe",        "sqnr_db",    "bias_over_sigma",
                 "magnitude_bias", "clipped_share", "zero_share", "scale_bits_per_element"};
  out.pieces = kInputs.size() * chosen.size();
  out.rows = [=](size_t piece) {
    const Family input = kInputs[piece / chosen.size()];
    const number::Recipe& recipe = chosen[piece % chosen.size()];
    std::vector<float> x;
    for (size_t row = 0; row < plan.rows; ++row)
      for (const float v : draw_values(input, true, row, plan.columns, plan.seed)) x.push_back(as_bf16(v));
    const number::Quantised q = number::quantise(recipe, x, plan.seed);
    const std::vector<float> back = number::dequantise(recipe, q);
    double signal = 0;
    double noise = 0;
    double sum = 0;
    double size = 0;
    double kept = 0;
    size_t zeros = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = double{back[i]} - double{x[i]};
      signal += double{x[i]} * x[i];
      noise += error * error;
      sum += error;
      size += std::fabs(x[i]);
      kept += std::fabs(back[i]);
      zeros += (q.codes[i] & 7) == 0 ? 1 : 0;
    }
    const auto n = static_cast<double>(x.size());
    const double scale_bits = (recipe.scale == number::ScaleFormat::f32_scale ? 32.0 : 8.0) / recipe.block;
    return std::vector<std::vector<std::string>>{
        {std::string(name_of(input)), std::string(recipe.name), digits(10 * std::log10(signal / noise)),
         digits(sum / n / std::sqrt(signal / n)), digits(kept / size - 1),
         digits(static_cast<double>(q.clipped) / n), digits(static_cast<double>(zeros) / n),
         digits(scale_bits)}};
  };
  return out;
}

}  // namespace bitwell::study
