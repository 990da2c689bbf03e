#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/study/order.h"

namespace bitwell::study {
namespace {

constexpr double kU16 = 0x1p-11;
constexpr double kU32 = 0x1p-24;
constexpr double kRzUnit = 0x1p-23;
constexpr double kMissed = 1e-3;  // share of dot products that the probable bound may miss

double gamma(double n, double u) { return n * u >= 1 ? INFINITY : n * u / (1 - n * u); }

// Roundings of the path from a product to the result that has most.
struct Path {
  double f16 = 0, f32 = 0;
};

Path path(const number::Accumulation& o, size_t k) {
  using number::GroupSum;
  const auto up = [](size_t n, size_t to) { return static_cast<double>((n - 1) / to + 1); };
  if (o.span != 0 && k > static_cast<size_t>(o.span)) {
    number::Accumulation one = o;
    one.span = 0;
    Path p = path(one, static_cast<size_t>(o.span));
    p.f32 += up(k, static_cast<size_t>(o.span));
    return p;
  }
  const auto tile = static_cast<size_t>(o.tile);
  const size_t threads = number::threads_of(o, k);
  const double own = std::ceil(up(k, tile) / static_cast<double>(threads));  // tiles of a thread
  const auto width = static_cast<double>(std::min(tile, k));
  Path p;
  switch (o.group) {
    case GroupSum::running_f16:
    case GroupSum::running_f16x2: {
      const double inner = o.group == GroupSum::running_f16 ? width : width / 2;
      const double last = o.group == GroupSum::running_f16 ? 0 : 1;
      p.f16 = o.drain_each_tile ? inner + last + (o.drain_f16 ? own : 0) : own * inner + last;
      p.f32 = o.drain_each_tile && !o.drain_f16 ? own : 0;
      break;
    }
    case GroupSum::scaled_products_f32:
    case GroupSum::products_times_scale_f32: p.f32 = own * width; break;
    default: {  // groups exact before their scale; multiply_add rounds the product too, gathered once more a
                // tile
      const double groups = own * width / 16;
      p.f32 = o.join == number::Join::fused ? groups : 2 * groups + own;
      if (o.group != GroupSum::fma_chain_f32) p.f32 += 2;
      p.f16 = 0;
    }
  }
  if (o.accumulators == 2) p.f32 += 1;
  if (o.combine != number::Combine::none) {
    const double more = o.combine == number::Combine::sequential ? static_cast<double>(threads)
                                                                 : std::bit_width(threads) - 1.0;
    (o.combine_f16 ? p.f16 : p.f32) += more;
  }
  return p;
}

}  // namespace

Bound bound(const Order& order, size_t k) {
  const auto n = static_cast<double>(k);
  Bound out;
  double worst = 0;
  double probable = 0;
  const double likely = std::sqrt(2 * std::log(2 * std::max(2.0, n) / kMissed));
  if (order.block_scaled()) {
    worst = std::ceil(n / 64) * (kRzUnit + 0x1p-31);
    probable = worst;  // cut off, not rounded: errors have one sign where sums have
  } else if (order.rule != nullptr) {
    const double chunks = std::ceil(n / order.rule->length);
    const double cut = (n + chunks) * std::ldexp(1.0, -order.rule->fraction_bits);
    const bool f16 = order.rule->rounding == number::DotRounding::rne_f16;
    out.f16_roundings = f16 ? chunks : 0;
    worst = cut + (f16 ? gamma(chunks, kU16) : chunks * kRzUnit);
    probable = cut + (f16 ? likely * std::sqrt(chunks) * kU16 : chunks * kRzUnit);
  } else {
    const Path p = path(order.sum, k);
    out.f16_roundings = p.f16;
    worst = gamma(p.f16, kU16) + gamma(p.f32, kU32);
    probable = likely * (std::sqrt(p.f16) * kU16 + std::sqrt(p.f32) * kU32);
  }
  const auto rounded = [](double b) { return b + kU16 * (1 + b); };
  out.worst = rounded(worst);
  out.probable = std::min(rounded(probable), out.worst);
  return out;
}

}  // namespace bitwell::study
