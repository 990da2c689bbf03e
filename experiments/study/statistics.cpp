#include "experiments/study/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/machine/failure.h"
#include "model/number/half.h"
#include "verify/oracle/gemv.h"

namespace bitwell::study {
void check(const Tolerance& t) {
  if (!(t.relative >= 0 && std::isfinite(t.relative) && t.absolute >= 0 && std::isfinite(t.absolute)))
    throw machine::InputError(fmt::format("a tolerance is finite and not negative; got rtol {} and atol {}",
                                          t.relative, t.absolute));
}

double half_unit_at(double value) {
  int binade = 0;
  std::frexp(value, &binade);
  return std::ldexp(1.0, value == 0 ? -24 : std::clamp(binade - 11, -24, 5));
}

std::vector<Truth> truths(const Vectors& a, const Vectors& b) {
  const size_t k = a.k;
  std::vector<Truth> out;
  out.reserve(a.count * b.count);
  // |codes|: the sign bit off.
  const auto magnitudes = [](const Vectors& v) {
    std::vector<uint8_t> codes = v.codes;
    for (uint8_t& c : codes) c &= 7;
    return codes;
  };
  const std::vector<uint8_t> size_a = magnitudes(a);
  const std::vector<uint8_t> size_b = magnitudes(b);
  for (size_t i = 0; i < a.count; ++i)
    for (size_t j = 0; j < b.count; ++j) {
      const auto sa = std::span(a.scales).subspan(i * k / 16, k / 16);
      const auto sb = std::span(b.scales).subspan(j * k / 16, k / 16);
      const auto sum =
          oracle::dot(std::span(a.codes).subspan(i * k, k), std::span(b.codes).subspan(j * k, k), sa, sb);
      const auto size =
          oracle::dot(std::span(size_a).subspan(i * k, k), std::span(size_b).subspan(j * k, k), sa, sb);
      out.push_back({std::ldexp(static_cast<double>(sum.units), -20),
                     std::ldexp(static_cast<double>(size.units), -20)});
    }
  return out;
}

Statistics statistics(std::span<const uint16_t> results, std::span<const Truth> truths, const Bound& bound,
                      const Tolerance& tolerance) {
  Statistics out;
  out.dots = results.size();
  std::vector<double> ulps;
  ulps.reserve(results.size());
  double sum_relative = 0;
  double sum_ulp = 0;
  double sum_bits = 0;
  size_t in_range = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const Truth& t = truths[i];
    const double want = number::half_to_float(number::float_to_half(static_cast<float>(t.value)));
    const double got = number::half_to_float(results[i]);
    in_range += std::isfinite(want) ? 1 : 0;
    if (!std::isfinite(got)) {
      out.overflows += std::isfinite(want) ? 1 : 0;
      out.outside += std::isfinite(want) ? 1 : 0;
      continue;
    }
    const double error = std::fabs(got - t.value);
    out.outside += std::fabs(got - want) <= tolerance.absolute + tolerance.relative * std::fabs(want) ? 0 : 1;
    out.underflows += got == 0 && want != 0 ? 1 : 0;
    const double relative = t.magnitude == 0 ? 0 : error / t.magnitude;
    const double least = (bound.f16_roundings + 1) * 0x1p-25;  // what underflow may add
    out.beyond_worst += error > bound.worst * t.magnitude + least ? 1 : 0;
    out.beyond_probable += error > bound.probable * t.magnitude + least ? 1 : 0;
    const double ulp = error / half_unit_at(t.value);
    ulps.push_back(ulp);
    sum_relative += relative;
    sum_ulp += ulp;
    out.max_relative = std::max(out.max_relative, relative);
    out.max_ulp = std::max(out.max_ulp, ulp);
    const double bits = error == 0 ? 24 : t.value == 0 ? 0 : -std::log2(error / std::fabs(t.value));
    sum_bits += std::clamp(bits, 0.0, 24.0);
  }
  out.bits = in_range == 0 ? 0 : sum_bits / static_cast<double>(in_range);
  if (ulps.empty()) return out;
  const auto n = static_cast<double>(ulps.size());
  out.mean_relative = sum_relative / n;
  out.mean_ulp = sum_ulp / n;
  std::sort(ulps.begin(), ulps.end());
  const auto quantile = [&](double q) { return ulps[static_cast<size_t>(std::ceil(q * n)) - 1]; };
  out.median_ulp = quantile(0.5);
  out.ulp90 = quantile(0.9);
  out.ulp99 = quantile(0.99);
  return out;
}

}  // namespace bitwell::study
