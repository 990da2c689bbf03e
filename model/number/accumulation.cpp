#include "model/number/accumulation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/number/half.h"
#include "model/number/tile/values.h"

namespace bitwell::number {
namespace {

constexpr int kGroup = 16;

// One thread's work.
struct Thread {
  size_t number = 0;
  float sum[2] = {0, 0};
  float pair[2] = {0, 0};  // running fp16 sums: of even and odd elements, or the first of all
};

class Evaluator {
 public:
  Evaluator(const Accumulation& order, const DotOperands& d, FirstLoss* loss)
      : order_(order), d_(d), loss_(loss), threads_(threads_of(order, d.a.size())) {}

  float a(size_t k) const { return kE2m1Values[d_.a[k]]; }
  float b(size_t k) const { return kE2m1Values[d_.b[k]]; }
  float sfa(size_t g) const { return kE4m3Values[d_.sfa[g]]; }
  float sfb(size_t g) const { return kE4m3Values[d_.sfb[g]]; }
  float scale_f16(size_t g) const { return half_mul(sfa(g), sfb(g)); }

  // Groups whose value is one fp32 number that still wants its scale.
  float group_value(size_t g) const {
    const size_t k = g * kGroup;
    if (order_.group == GroupSum::fma_chain_f32) {
      float v = 0;
      for (size_t i = 0; i < kGroup; ++i) v = std::fma(a(k + i), b(k + i), v);
      return v;
    }
    if (order_.group == GroupSum::one_chain_f16x2) {
      float pair[2];
      for (size_t half = 0; half < 2; ++half) {
        pair[half] = half_mul(a(k + half), b(k + half));
        for (size_t i = 2; i < kGroup; i += 2)
          pair[half] = half_fma(a(k + i + half), b(k + i + half), pair[half]);
      }
      return pair[0] + pair[1];
    }
    float eights[2];
    for (size_t e = 0; e < 2; ++e) {
      float pair[2];
      for (size_t half = 0; half < 2; ++half) {
        const auto product = [&](size_t i) {
          return half_mul(a(k + 8 * e + i + half), b(k + 8 * e + i + half));
        };
        const auto step = [&](size_t i, float c) {
          return half_fma(a(k + 8 * e + i + half), b(k + 8 * e + i + half), c);
        };
        pair[half] = half_add(step(2, product(0)), step(6, product(4)));
      }
      eights[e] = pair[0] + pair[1];
    }
    return eights[0] + eights[1];
  }

  float group_scale(size_t g) const {
    return order_.group == GroupSum::fma_chain_f32 ? sfa(g) * sfb(g) : scale_f16(g);
  }

  void running(size_t k, float& sum, const Thread& t) const {
    const float product = half_mul(a(k), b(k));
    const float scale = scale_f16(k / kGroup);
    const float before = sum;
    sum = half_fma(product, scale, sum);
    if (loss_ == nullptr || loss_->found) return;
    const float addend = product * scale;
    const bool overflow = std::isfinite(before) && !std::isfinite(sum);
    if (overflow || (addend != 0 && before == sum))
      *loss_ = {true, overflow, false, k, static_cast<int>(t.number), before, addend, sum};
  }

  // Two sums, in fp16.
  float sum_of(float x, float y) const {
    const float sum = half_add(x, y);
    if (loss_ != nullptr && !loss_->found && sum != x + y)
      *loss_ = {true, std::isfinite(x + y) && !std::isfinite(sum), true, 0, 0, x, y, sum};
    return sum;
  }

  void elements(size_t begin, size_t end, Thread& t) const {
    for (size_t k = begin; k < end; ++k) {
      const size_t g = k / kGroup;
      switch (order_.group) {
        case GroupSum::scaled_products_f32: t.sum[0] = t.sum[0] + a(k) * sfa(g) * (b(k) * sfb(g)); break;
        case GroupSum::products_times_scale_f32:
          t.sum[0] = t.sum[0] + half_mul(a(k), b(k)) * (sfa(g) * sfb(g));
          break;
        case GroupSum::running_f16: running(k, t.pair[0], t); break;
        default: running(k, t.pair[k % 2], t); break;
      }
    }
  }

  float pair_sum(const Thread& t) const {
    return order_.group == GroupSum::running_f16 ? t.pair[0] : sum_of(t.pair[0], t.pair[1]);
  }
  bool runs_in_f16() const {
    return order_.group == GroupSum::running_f16 || order_.group == GroupSum::running_f16x2;
  }

  void tile(size_t begin, size_t end, Thread& t, float& sum) const {
    if (order_.join == Join::none) {
      elements(begin, end, t);
      if (order_.drain_each_tile) {
        const float inner = pair_sum(t);
        t.sum[0] = order_.drain_f16 ? sum_of(t.sum[0], inner) : t.sum[0] + inner;
        t.pair[0] = t.pair[1] = 0;
      }
      return;
    }
    float gathered = 0;
    for (size_t g = begin / kGroup; g < end / kGroup; ++g) {
      const float v = group_value(g);
      const float s = group_scale(g);
      if (order_.join == Join::multiply_add)
        sum = sum + v * s;
      else if (order_.join == Join::fused)
        sum = std::fma(v, s, sum);
      else
        gathered = g == begin / kGroup ? v * s : std::fma(v, s, gathered);
    }
    if (order_.join == Join::gathered) sum = std::fma(gathered, 1.0f, sum);
  }

  float thread_sum(size_t thread) const {
    Thread t;
    t.number = thread;
    const size_t size = d_.a.size();
    const size_t step = threads_ * static_cast<size_t>(order_.tile);
    const auto width = static_cast<size_t>(order_.tile);
    size_t begin = thread * width;
    if (order_.accumulators == 2) {
      for (; begin + step < size; begin += 2 * step) {
        tile(begin, begin + width, t, t.sum[0]);
        tile(begin + step, std::min(begin + step + width, size), t, t.sum[1]);
      }
      if (begin < size) tile(begin, std::min(begin + width, size), t, t.sum[0]);
      return t.sum[0] + t.sum[1];
    }
    for (; begin < size; begin += step) tile(begin, std::min(begin + width, size), t, t.sum[0]);
    return runs_in_f16() && !order_.drain_each_tile ? pair_sum(t) : t.sum[0];
  }

  // The threads' sums combined.
  float total() const {
    std::vector<float> sums;
    for (size_t t = 0; t < threads_; ++t) sums.push_back(thread_sum(t));
    const auto add = [&](float x, float y) { return order_.combine_f16 ? sum_of(x, y) : x + y; };
    if (order_.combine == Combine::sequential) {
      float total = 0;
      for (const float s : sums) total = add(total, s);
      return total;
    }
    for (size_t offset = sums.size() / 2; offset > 0; offset /= 2) {
      const std::vector<float> before = sums;
      for (size_t i = 0; i < sums.size(); ++i) {
        // Beyond the warp, shuffle_down returns the lane's own value.
        const size_t other = order_.combine == Combine::butterfly ? i ^ offset
                             : i + offset < sums.size()           ? i + offset
                                                                  : i;
        sums[i] = add(before[i], before[other]);
      }
    }
    return sums[0];
  }

 private:
  const Accumulation& order_;
  const DotOperands& d_;
  FirstLoss* loss_;
  size_t threads_;
};

}  // namespace

size_t threads_of(const Accumulation& order, size_t k) {
  if (order.threads != 0) return static_cast<size_t>(order.threads);
  const auto tile = static_cast<size_t>(order.tile);
  return std::bit_ceil(std::max<size_t>(1, (k + tile - 1) / tile));
}

uint16_t evaluate(const Accumulation& order, const DotOperands& operands, FirstLoss* loss) {
  const auto span = static_cast<size_t>(order.span);
  if (span == 0) return float_to_half(Evaluator(order, operands, loss).total());
  float total = 0;
  for (size_t k = 0; k < operands.a.size(); k += span) {
    const size_t n = std::min(span, operands.a.size() - k);
    const DotOperands part{operands.a.subspan(k, n), operands.b.subspan(k, n),
                           operands.sfa.subspan(k / kGroup, n / kGroup),
                           operands.sfb.subspan(k / kGroup, n / kGroup)};
    total = total + Evaluator(order, part, loss).total();
  }
  return float_to_half(total);
}

}  // namespace bitwell::number
