#include "experiments/study/adversarial.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "model/number/half.h"

namespace bitwell::study {
namespace {

constexpr size_t kMutants = 16;
constexpr int kGenerations = 24;
constexpr size_t kGroup = 16;

// Error against A; an overflow counts nothing, so that the search stays where errors are finite.
double badness(uint16_t result, const Truth& exact) {
  const double got = number::half_to_float(result);
  return std::isfinite(got) && exact.magnitude > 0 ? std::fabs(got - exact.value) / exact.magnitude : -1;
}

size_t worst_of(const std::vector<uint16_t>& results, const std::vector<Truth>& exact) {
  size_t worst = 0;
  for (size_t i = 1; i < results.size(); ++i)
    if (badness(results[i], exact[i]) > badness(results[worst], exact[worst])) worst = i;
  return worst;
}

Vectors one_of(const Vectors& v, size_t i) {
  const auto code = v.codes.begin() + static_cast<std::ptrdiff_t>(i * v.k);
  const auto scale = v.scales.begin() + static_cast<std::ptrdiff_t>(i * v.k / kGroup);
  return {1,
          v.k,
          {code, code + static_cast<std::ptrdiff_t>(v.k)},
          {scale, scale + static_cast<std::ptrdiff_t>(v.k / kGroup)}};
}

// A few groups of the column changed.
void mutate(std::span<uint8_t> codes, std::span<uint8_t> scales, std::mt19937_64& random) {
  const size_t groups = scales.size();
  for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    const size_t g = random() % groups;
    const size_t other = random() % groups;
    const auto group = codes.subspan(g * kGroup, kGroup);
    switch (random() % 5) {
      case 0:
        for (uint8_t& c : group) c ^= 8;
        break;
      case 1:
        std::swap_ranges(group.begin(), group.end(),
                         codes.begin() + static_cast<std::ptrdiff_t>(other * kGroup));
        std::swap(scales[g], scales[other]);
        break;
      case 2: std::fill(group.begin(), group.end(), uint8_t{0}); break;
      case 3: std::fill(group.begin(), group.end(), static_cast<uint8_t>(random() % 16)); break;
      default:
        scales[g] =
            static_cast<uint8_t>(std::clamp<int>(scales[g] + static_cast<int>(random() % 33) - 16, 0, 0x7E));
    }
  }
}

}  // namespace

Worst search(const Order& order, size_t k, uint64_t seed) {
  Worst best;
  double most = -2;
  for (const NamedFamily& f : families()) {
    if (f.family == Family::adversarial) continue;
    Worst start{draw(f.family, true, 1, k, seed), draw(f.family, false, kMutants, k, seed), {}, {}, 0};
    start.results = results(order, start.a, Columns(start.b));
    start.exact = truths(start.a, start.b);
    const size_t i = worst_of(start.results, start.exact);
    const double bad = badness(start.results[i], start.exact[i]);
    start.tried = best.tried + kMutants;
    best.tried = start.tried;
    if (bad <= most) continue;
    most = bad;
    best = std::move(start);
  }
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15ULL + k);
  for (int generation = 0; generation < kGenerations; ++generation) {
    const Vectors parent = one_of(best.b, worst_of(best.results, best.exact));
    Vectors children{kMutants, k, {}, {}};
    for (size_t i = 0; i < kMutants; ++i) {
      Vectors child = parent;
      if (i > 0) mutate(child.codes, child.scales, random);
      children.codes.insert(children.codes.end(), child.codes.begin(), child.codes.end());
      children.scales.insert(children.scales.end(), child.scales.begin(), child.scales.end());
    }
    best.b = std::move(children);
    best.results = results(order, best.a, Columns(best.b));
    best.exact = truths(best.a, best.b);
    best.tried += kMutants;
  }
  return best;
}

}  // namespace bitwell::study
