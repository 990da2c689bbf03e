#include "experiments/study/adversarial.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "model/number/half.h"

namespace bitwell::study {
namespace {

constexpr size_t kMutants = 16;
// Generations: so many elements of a column in all, but neither too few nor too many.
constexpr size_t kElements = size_t{1} << 18;
constexpr size_t kLeast = 24, kMost = 300;
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

// Generations of columns from the one that is worst so far, which stays among them.
void climb(const Order& order, uint64_t seed, Worst& best) {
  const size_t k = best.b.k;
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15ULL + k);
  for (size_t left = std::clamp<size_t>(kElements / k, kLeast, kMost); left > 0; --left) {
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
  }
}

}  // namespace

std::vector<Worst> search(std::span<const Order> orders, size_t k, size_t dots, uint64_t seed) {
  std::vector<Worst> out(orders.size());
  std::vector<double> most(orders.size(), -2);
  for (const NamedFamily& f : families()) {
    if (f.family == Family::adversarial) continue;
    const Sample s = sample(f.family, k, dots, seed);
    const Columns columns(s.b);
    const std::vector<Truth> exact = truths(s.a, s.b);
    for (size_t o = 0; o < orders.size(); ++o) {
      const std::vector<uint16_t> got = results(orders[o], s.a, columns);
      const size_t i = worst_of(got, exact);
      const double bad = badness(got[i], exact[i]);
      if (bad <= most[o]) continue;
      most[o] = bad;
      out[o] = {one_of(s.a, i / s.b.count), one_of(s.b, i % s.b.count), {got[i]}, {exact[i]}};
    }
  }
  for (size_t o = 0; o < orders.size(); ++o) climb(orders[o], seed, out[o]);
  return out;
}

}  // namespace bitwell::study
