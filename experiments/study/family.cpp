#include "experiments/study/family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "model/machine/failure.h"
#include "model/number/quantise.h"

namespace bitwell::study {
namespace {

constexpr std::array<NamedFamily, 9> kFamilies{{
    {Family::problem, "problem", "inputs of GPU MODE's NVFP4 GEMV contest: no signs, half of them zero"},
    {Family::gaussian, "gaussian", "N(0,1), one scale level"},
    {Family::gaussian_stored, "gaussian_stored", "N(0,1) by the two-level recipe, scales up to 448"},
    {Family::same_sign, "same_sign", "|N(0,1)|, one scale level"},
    {Family::heavy_tailed, "heavy_tailed", "Student's t with 3 degrees of freedom"},
    {Family::outlier_channels, "outlier_channels", "N(0,1), 1 channel in 64 thirty times as large"},
    {Family::cancelling, "cancelling", "the second half of k takes the first back but for 1 element in 64"},
    {Family::extreme_scales, "extreme_scales", "N(0,1) nibbles, every finite E4M3 scale"},
    {Family::adversarial, "adversarial",
     "the worst that a search finds, for each order its own; statistics of its end"},
}};

// The standard library's distributions differ between libraries; these do not.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t bits() { return engine_(); }
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

uint64_t seed_of(Family family, bool is_a, size_t v, uint64_t seed) {
  std::seed_seq mixed{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                      static_cast<uint32_t>(family), is_a ? 1U : 0U, static_cast<uint32_t>(v)};
  std::array<uint32_t, 2> words{};
  mixed.generate(words.begin(), words.end());
  return uint64_t{words[0]} << 32 | words[1];
}

float element(Family f, Random& random, size_t k) {
  const double z = random.normal();
  switch (f) {
    case Family::same_sign: return static_cast<float>(std::fabs(z));
    case Family::heavy_tailed: {
      double square = 0;
      for (int i = 0; i < 3; ++i) {
        const double part = random.normal();
        square += part * part;
      }
      return static_cast<float>(z / std::sqrt(square / 3));
    }
    case Family::outlier_channels: return static_cast<float>(k % 64 == 37 ? 30 * z : z);
    default: return static_cast<float>(z);
  }
}

void draw_problem(size_t k, Random& random, Vectors& out) {
  for (size_t i = 0; i < k; ++i) {
    const uint64_t bits = random.bits() >> 60;
    out.codes.push_back(i % 2 == 0 ? static_cast<uint8_t>(bits & 3) : uint8_t{0});
  }
  for (size_t g = 0; g < k / 16; ++g)
    out.scales.push_back(std::array<uint8_t, 3>{0x00, 0x38, 0x40}[random.bits() % 3]);
}

}  // namespace

std::span<const NamedFamily> families() { return kFamilies; }
std::string_view name_of(Family family) { return kFamilies[static_cast<size_t>(family)].name; }

Vectors draw(Family family, bool is_a, size_t count, size_t k, uint64_t seed) {
  static const number::Recipe& one_level = *number::find_recipe("single_level");
  static const number::Recipe& two_level = *number::find_recipe("nvfp4");
  if (family == Family::adversarial)
    throw machine::InputError("the family 'adversarial' is searched for each order: study accumulate has it");
  Vectors out{count, k, {}, {}};
  out.codes.reserve(count * k);
  out.scales.reserve(count * k / 16);
  std::vector<float> x(k);
  for (size_t v = 0; v < count; ++v) {
    Random random(seed_of(family, is_a, v, seed));
    if (family == Family::problem) {
      draw_problem(k, random, out);
      continue;
    }
    for (size_t i = 0; i < k; ++i) x[i] = element(family, random, i);
    const bool stored = family == Family::gaussian_stored;
    number::Quantised q = number::quantise(stored ? two_level : one_level, x, 0);
    if (family == Family::extreme_scales)
      for (uint8_t& s : q.scale_codes) s = static_cast<uint8_t>(random.bits() % 0x7F);
    if (family == Family::cancelling) {
      const size_t half = k / 32 * 16;
      for (size_t i = 0; i < half; ++i) q.codes[half + i] = q.codes[i] ^ (is_a ? 0 : 8);
      for (size_t g = 0; g < half / 16; ++g) q.scale_codes[half / 16 + g] = q.scale_codes[g];
      for (size_t i = half; i < k; i += 64) q.codes[i] = static_cast<uint8_t>(random.bits() >> 60);
    }
    out.codes.insert(out.codes.end(), q.codes.begin(), q.codes.end());
    out.scales.insert(out.scales.end(), q.scale_codes.begin(), q.scale_codes.end());
  }
  return out;
}

std::vector<float> draw_values(Family family, bool is_a, size_t i, size_t k, uint64_t seed) {
  Random random(seed_of(family, is_a, i, seed));
  std::vector<float> x(k);
  for (size_t j = 0; j < k; ++j) x[j] = element(family, random, j);
  return x;
}

}  // namespace bitwell::study
