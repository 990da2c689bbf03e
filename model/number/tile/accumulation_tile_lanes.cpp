// accumulation.cpp again with a vector of columns for each number, compiled once for every instruction set.
// No templates of the library with these vectors: the linker would keep one instruction set's code for all.
#include "model/number/tile/accumulation_tile_lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "model/number/half.h"
#include "model/number/tile/accumulation_tile.h"

namespace bitwell::number::BITWELL_LEVEL {
namespace {

constexpr size_t kGroup = 16;
constexpr size_t kLanes = kAccumulationLanes;
using Vector = float __attribute__((vector_size(4 * kLanes)));
using Bits = int32_t __attribute__((vector_size(4 * kLanes)));

Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }
Vector all(float v) { return Vector{} + v; }
Bits bits(Vector v) { return std::bit_cast<Bits>(v); }
Vector value(Bits v) { return std::bit_cast<Vector>(v); }

// The nearest fp16 of each lane, as fp32.
inline Vector to_half(Vector v) {
#if defined(__AVX512F__)
  const __m512 x = std::bit_cast<__m512>(v);
  return std::bit_cast<Vector>(
      _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
#elif defined(__F16C__)
  struct Halves {
    __m256 x[2];
  };
  auto h = std::bit_cast<Halves>(v);
  for (__m256& x : h.x)
    x = _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  return std::bit_cast<Vector>(h);
#else
  for (size_t i = 0; i < kLanes; ++i) v[i] = bitwell::number::round_to_half(v[i]);
  return v;
#endif
}

inline Vector fused(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  return std::bit_cast<Vector>(
      _mm512_fmadd_ps(std::bit_cast<__m512>(a), std::bit_cast<__m512>(b), std::bit_cast<__m512>(c)));
#else
  for (size_t i = 0; i < kLanes; ++i) c[i] = std::fma(a[i], b[i], c[i]);
  return c;
#endif
}

// As half.h: one rounding of a * b + c.
inline Vector half_fma(Vector p, Vector scale, Vector c) {
  const Vector product = p * scale;
  const Vector s = product + c;
  const Vector back = s - product;
  const Vector error = (product - (s - back)) + (c - back);
  const Bits wrong = ((error > 0.0f) | (error < 0.0f)) & ((bits(s) & 1) == 0);
  const Bits up = (error > 0.0f) == (s > 0.0f);
  return to_half(value(bits(s) + (wrong & ((up & 2) - 1))));
}
inline Vector half_add(Vector a, Vector b) { return to_half(a + b); }
inline Vector half_mul(Vector a, Vector b) { return to_half(a * b); }

struct Thread {
  Vector sum[2] = {};
  Vector pair[2] = {};
};

class Evaluator {
 public:
  Evaluator(const Accumulation& order, const AccumulationStrip& s) : order_(order), s_(s) {}

  // The threads' sums combined.
  Vector total() const {
    const size_t threads = threads_of(order_, s_.k);
    const auto sum = [&](size_t t) { return load(s_.sums + t * kLanes); };
    for (size_t t = 0; t < threads; ++t) store(s_.sums + t * kLanes, thread_sum(t, threads));
    const auto add = [&](Vector x, Vector y) { return order_.combine_f16 ? half_add(x, y) : x + y; };
    if (order_.combine == Combine::sequential) {
      Vector total = {};
      for (size_t t = 0; t < threads; ++t) total = add(total, sum(t));
      return total;
    }
    // Later rounds of a butterfly read no more than the lowest 2 * offset, of shuffle_down even less.
    for (size_t offset = threads / 2; offset > 0; offset /= 2)
      for (size_t i = 0; i < offset; ++i) store(s_.sums + i * kLanes, add(sum(i), sum(i + offset)));
    return sum(0);
  }

 private:
  Vector a(size_t k) const { return all(s_.a[k]); }
  Vector b(size_t k) const { return load(s_.b + k * kLanes); }
  Vector scale_f32(size_t g) const { return s_.sfa[g] * load(s_.sfb + g * kLanes); }
  Vector scale_f16(size_t g) const { return half_mul(all(s_.sfa[g]), load(s_.sfb + g * kLanes)); }

  Vector group_value(size_t g) const {
    const size_t k = g * kGroup;
    if (order_.group == GroupSum::fma_chain_f32) {
      Vector v = {};
      for (size_t i = 0; i < kGroup; ++i) v = fused(a(k + i), b(k + i), v);
      return v;
    }
    if (order_.group == GroupSum::one_chain_f16x2) {
      Vector pair[2];
      for (size_t half = 0; half < 2; ++half) {
        pair[half] = half_mul(a(k + half), b(k + half));
        for (size_t i = 2; i < kGroup; i += 2)
          pair[half] = half_fma(a(k + i + half), b(k + i + half), pair[half]);
      }
      return pair[0] + pair[1];
    }
    Vector eights[2];
    for (size_t e = 0; e < 2; ++e) {
      Vector pair[2];
      for (size_t half = 0; half < 2; ++half) {
        const size_t at = k + 8 * e + half;
        const Vector low = half_fma(a(at + 2), b(at + 2), half_mul(a(at), b(at)));
        const Vector high = half_fma(a(at + 6), b(at + 6), half_mul(a(at + 4), b(at + 4)));
        pair[half] = half_add(low, high);
      }
      eights[e] = pair[0] + pair[1];
    }
    return eights[0] + eights[1];
  }

  // Elements of one group.
  void elements(size_t begin, size_t end, Thread& t) const {
    const size_t g = begin / kGroup;
    switch (order_.group) {
      case GroupSum::scaled_products_f32: {
        const Vector scale = load(s_.sfb + g * kLanes);
        for (size_t k = begin; k < end; ++k) t.sum[0] = t.sum[0] + s_.a[k] * s_.sfa[g] * (b(k) * scale);
        break;
      }
      case GroupSum::products_times_scale_f32: {
        const Vector scale = scale_f32(g);
        for (size_t k = begin; k < end; ++k) t.sum[0] = t.sum[0] + a(k) * b(k) * scale;  // a * b is exact
        break;
      }
      case GroupSum::running_f16: {
        const Vector scale = scale_f16(g);
        for (size_t k = begin; k < end; ++k) t.pair[0] = half_fma(a(k) * b(k), scale, t.pair[0]);
        break;
      }
      default: {
        const Vector scale = scale_f16(g);
        for (size_t k = begin; k < end; k += 2) {
          t.pair[0] = half_fma(a(k) * b(k), scale, t.pair[0]);
          t.pair[1] = half_fma(a(k + 1) * b(k + 1), scale, t.pair[1]);
        }
      }
    }
  }

  Vector pair_sum(const Thread& t) const {
    return order_.group == GroupSum::running_f16 ? t.pair[0] : half_add(t.pair[0], t.pair[1]);
  }

  void tile(size_t begin, size_t end, Thread& t, Vector& sum) const {
    if (order_.join == Join::none) {
      for (size_t k = begin; k < end; k += kGroup) elements(k, std::min(end, k + kGroup), t);
      if (order_.drain_each_tile) {
        const Vector inner = pair_sum(t);
        t.sum[0] = order_.drain_f16 ? half_add(t.sum[0], inner) : t.sum[0] + inner;
        t.pair[0] = t.pair[1] = Vector{};
      }
      return;
    }
    Vector gathered = {};
    for (size_t g = begin / kGroup; g < end / kGroup; ++g) {
      const Vector v = group_value(g);
      const Vector s = order_.group == GroupSum::fma_chain_f32 ? scale_f32(g) : scale_f16(g);
      if (order_.join == Join::multiply_add)
        sum = sum + v * s;
      else if (order_.join == Join::fused)
        sum = fused(v, s, sum);
      else
        gathered = g == begin / kGroup ? v * s : fused(v, s, gathered);
    }
    if (order_.join == Join::gathered) sum = fused(gathered, all(1.0f), sum);
  }

  Vector thread_sum(size_t thread, size_t threads) const {
    Thread t;
    const auto width = static_cast<size_t>(order_.tile);
    const size_t step = threads * width;
    size_t begin = thread * width;
    if (order_.accumulators == 2) {
      for (; begin + step < s_.k; begin += 2 * step) {
        tile(begin, begin + width, t, t.sum[0]);
        tile(begin + step, std::min(begin + step + width, s_.k), t, t.sum[1]);
      }
      if (begin < s_.k) tile(begin, std::min(begin + width, s_.k), t, t.sum[0]);
      return t.sum[0] + t.sum[1];
    }
    for (; begin < s_.k; begin += step) tile(begin, std::min(begin + width, s_.k), t, t.sum[0]);
    const bool in_f16 = order_.group == GroupSum::running_f16 || order_.group == GroupSum::running_f16x2;
    return in_f16 && !order_.drain_each_tile ? pair_sum(t) : t.sum[0];
  }

  const Accumulation& order_;
  const AccumulationStrip& s_;
};

void evaluate(const Accumulation& order, const AccumulationStrip& strip, uint16_t* c) {
  Vector total = {};
  if (order.span == 0) {
    total = Evaluator(order, strip).total();
  } else {
    const auto span = static_cast<size_t>(order.span);
    for (size_t k = 0; k < strip.k; k += span)
      total =
          total + Evaluator(order, {strip.a + k, strip.sfa + k / kGroup, strip.b + k * kLanes,
                                    strip.sfb + k / kGroup * kLanes, std::min(span, strip.k - k), strip.sums})
                      .total();
  }
  for (size_t i = 0; i < kLanes; ++i) c[i] = float_to_half(total[i]);
}

}  // namespace

AccumulationLanes accumulation_lanes() { return evaluate; }

}  // namespace bitwell::number::BITWELL_LEVEL
