#include "model/number/tile/dot_operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "model/number/aligned_sum.h"
#include "model/number/simd_level.h"

namespace bitwell::number {

namespace scalar {
TileLanes make_tile_lanes();
ValueLanes make_value_lanes();
ExactLanes make_exact_lanes();
AlignedLanes make_aligned_lanes();
}  // namespace scalar
namespace avx2 {
TileLanes make_tile_lanes();
ValueLanes make_value_lanes();
ExactLanes make_exact_lanes();
AlignedLanes make_aligned_lanes();
}  // namespace avx2
namespace avx512 {
TileLanes make_tile_lanes();
ValueLanes make_value_lanes();
ExactLanes make_exact_lanes();
AlignedLanes make_aligned_lanes();
}  // namespace avx512

Loops loops_of(std::string_view level) {
  if (level.empty()) level = has_level("avx512") ? "avx512" : has_level("avx2") ? "avx2" : "scalar";
  if (level == "avx512")
    return {avx512::make_tile_lanes(), avx512::make_value_lanes(), avx512::make_exact_lanes(),
            avx512::make_aligned_lanes()};
  if (level == "avx2")
    return {avx2::make_tile_lanes(), avx2::make_value_lanes(), avx2::make_exact_lanes(),
            avx2::make_aligned_lanes()};
  return {scalar::make_tile_lanes(), scalar::make_value_lanes(), scalar::make_exact_lanes(),
          scalar::make_aligned_lanes()};
}

namespace {

bool special(const DotRule& rule, const DotOperand& v, const ValueLanes& lanes) {
  return (v.format->has_nan() && lanes.special(*v.format, v.codes.data(), v.codes.size())) ||
         !std::all_of(v.scales.begin(), v.scales.end(), [&](uint8_t c) { return finite(*rule.scale, c); });
}

// Whether a code or a scale is NaN: every sum with it is, as the addend of what comes behind stays so.
bool has_nan(const DotRule& rule, const DotOperand& v) {
  return (v.format->has_nan() &&
          std::any_of(v.codes.begin(), v.codes.end(), [&](uint32_t c) { return is_nan(*v.format, c); })) ||
         !std::all_of(v.scales.begin(), v.scales.end(), [&](uint8_t c) { return finite(*rule.scale, c); });
}

}  // namespace

std::vector<uint8_t> special_ones(const DotRule& rule, const DotOperand& o, size_t count, size_t k,
                                  const ValueLanes& lanes) {
  std::vector<uint8_t> out(count);
  if (!special(rule, o, lanes)) return out;
  for (size_t i = 0; i < count; ++i) {
    const DotOperand v = vector_of(rule, o, i, k);
    if (special(rule, v, lanes)) out[i] = has_nan(rule, v) ? kNaN : kInfinite;
  }
  return out;
}

const Scales& scales_of(const DotRule& rule) {
  const auto make = [](const Format& f) {
    Scales out{};
    for (uint32_t code = 0; code < out.size(); ++code) {
      const Operand o = operand(f, code);
      out[code] = {std::ldexp(static_cast<double>(o.significand), o.exponent - f.fraction_bits), o.exponent};
    }
    return out;
  };
  static const std::array<Scales, 2> all{make(ue4m3), make(ue8m0)};
  return all[rule.scale == &ue8m0 ? 1 : 0];
}

std::vector<size_t> order_of(const DotRule& rule, size_t k) {
  std::vector<size_t> out;
  for (size_t half = 0; half < 2 && rule.emulated; ++half)
    for (size_t i = 0; i < k; ++i)
      if (i % 4 / 2 == half) out.push_back(i);
  return out;
}

void ordered_products(const DotOperand& o, std::span<const size_t> order, const ValueLanes& lanes,
                      std::vector<float>& value, std::vector<int16_t>& exponent) {
  value.resize(o.codes.size());
  exponent.resize(o.codes.size());
  lanes.products(*o.format, narrow(*o.format), o.codes.data(), o.codes.size(), value.data(), exponent.data());
  reorder(order, value);
  reorder(order, exponent);
}

Exponents::Exponents(const DotOperand& o, const AlignedLanes& lanes) {
  if (narrow(*o.format)) {
    byte_exponent.resize(o.codes.size());
    lanes.byte_exponents(*o.format, o.codes.data(), o.codes.size(), byte_exponent.data());
  } else {
    exponent.resize(o.codes.size());
    lanes.exponents(*o.format, o.codes.data(), o.codes.size(), exponent.data());
  }
}

Numbers::Numbers(const DotRule& rule, const DotOperand& o, size_t count, size_t k, const ExactLanes& lanes)
    : value(o.codes.size()) {
  lanes.values(*o.format, o.codes.data(), o.codes.size(), value.data());
  int scale_exponent = 0;  // the largest
  if (const size_t scales = rule.scales(k); scales != 0) {
    const auto length = static_cast<size_t>(rule.scale_vector);
    scale_exponent = rule.scale->emin();
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < k; j += length) {
        const Scale& scale = scales_of(rule)[o.scales[i * scales + j / length]];
        scale_exponent = std::max(scale_exponent, scale.exponent);
        for (size_t e = j; e < std::min(j + length, k); ++e)
          value[i * k + e] *= static_cast<float>(scale.value);
      }
  }
  bounds = lanes.bounds(value.data(), value.size());
  bounds.highest = std::max(bounds.highest, o.format->emin() + scale_exponent);
}

Groups::Groups(const DotRule& rule, const DotOperand& o, size_t count, size_t given, const ValueLanes& lanes)
    : k((given + kChunk - 1) / kChunk * kChunk),
      twice(count * k),
      occupied(twice.size() / kGroup),
      sum(occupied.size()),
      scale(occupied.size()) {
  std::span<const uint32_t> codes = o.codes;
  std::vector<uint32_t> whole;
  if (k != given) {
    whole.resize(count * k);
    for (size_t i = 0; i < count; ++i)
      std::copy_n(&o.codes[i * given], given, whole.begin() + static_cast<std::ptrdiff_t>(i * k));
    codes = whole;
  }
  lanes.twice(codes.data(), occupied.size(), twice.data(), occupied.data(), sum.data());
  const Scales& by_code = scales_of(rule);
  const size_t groups = k / kGroup;
  const size_t scales = rule.scales(given);
  const size_t shared = static_cast<size_t>(rule.scale_vector) / kGroup;  // groups of one scale
  for (size_t i = 0; i < count; ++i)
    for (size_t g = 0; g < groups; ++g) {
      Scale& s = scale[i * groups + g];
      if (g / shared < scales) s = by_code[o.scales[i * scales + g / shared]];
      if (s.value == 0) occupied[i * groups + g] = 0;
    }
}

void check(const DotRule& rule, const DotOperand& o, size_t count, size_t k, const char* what) {
  const bool known = std::find(rule.inputs.begin(), rule.inputs.end(), o.format) != rule.inputs.end();
  if (!known || o.codes.size() != count * k || o.scales.size() != count * rule.scales(k))
    throw std::invalid_argument(std::string(what) + ": types or counts that the rule does not take");
  if (rule.group != 1 && (rule.group != kGroup || rule.length != kChunk || o.format != &e2m1))
    throw std::invalid_argument(std::string(what) + ": groups of other than 16 E2M1 products");
}

namespace {

// [column][k] as [k][padded column].
template <class T>
void transpose(const T* from, size_t columns, size_t k, size_t stride, T* to) {
  for (size_t first = 0; first < columns; first += kTileLanes) {
    const size_t end = std::min(first + kTileLanes, columns);
    for (size_t i = 0; i < k; ++i)
      for (size_t c = first; c < end; ++c) to[i * stride + c] = from[c * k + i];
  }
}

template <class Open>
const DotColumns::Products& once(DotColumns::Products& out, std::atomic<bool>& ready, Open open) {
  if (ready.load(std::memory_order_acquire)) return out;
  const std::lock_guard guard(out.lock);
  if (!ready.load(std::memory_order_relaxed)) {
    open();
    ready.store(true, std::memory_order_release);
  }
  return out;
}

}  // namespace

const DotColumns::Products& opened_exponents(const DotColumns& b, const AlignedLanes& lanes) {
  DotColumns::Products& out = *b.products;
  return once(out, out.exponents_ready, [&] {
    const size_t stride = padded(b.columns);
    const std::vector<size_t> order = order_of(*b.rule, b.k);
    Exponents of({b.format, b.codes}, lanes);
    const auto place = [&](auto& from, auto& to) {
      reorder(order, from);
      to.assign(b.k * stride, 0);
      transpose(from.data(), b.columns, b.k, stride, to.data());
    };
    if (narrow(*b.format))
      place(of.byte_exponent, out.byte_exponent);
    else
      place(of.exponent, out.exponent);
  });
}
const DotColumns::Products& opened(const DotColumns& b, const ValueLanes& lanes,
                                   const AlignedLanes& aligned) {
  opened_exponents(b, aligned);
  DotColumns::Products& out = *b.products;
  return once(out, out.ready, [&] {
    const size_t stride = padded(b.columns);
    out.value.clear();
    if (!narrow(*b.format) || b.rule->scale != nullptr || b.number.empty()) {
      std::vector<float> value;
      std::vector<int16_t> exponent;
      ordered_products({b.format, b.codes}, order_of(*b.rule, b.k), lanes, value, exponent);
      out.value.assign(b.k * stride, 0);
      transpose(value.data(), b.columns, b.k, stride, out.value.data());
    }
    const size_t scales = b.rule->scales(b.k);
    out.scale_exponent.assign(std::max<size_t>(scales, 1) * stride, 0);
    for (size_t c = 0; c < b.columns; ++c)
      for (size_t i = 0; i < scales; ++i)
        out.scale_exponent[i * stride + c] =
            static_cast<int16_t>(scales_of(*b.rule)[b.scales[c * scales + i]].exponent);
  });
}

namespace {

void open_numbers(DotColumns& out, const DotOperand& b, const ExactLanes& lanes) {
  const Numbers numbers(*out.rule, b, out.columns, out.k, lanes);
  out.bounds = numbers.bounds;
  out.number.resize(out.k * padded(out.columns));
  transpose(numbers.value.data(), out.columns, out.k, padded(out.columns), out.number.data());
}

void open_groups(DotColumns& out, const DotOperand& b, const ValueLanes& lanes) {
  const size_t stride = padded(out.columns);
  const Groups of(*out.rule, b, out.columns, out.k, lanes);
  const size_t groups = of.k / kGroup;
  out.raised.assign(of.k * stride, kRaise);
  out.group.assign(groups * stride, 0);
  out.scale.assign(groups * stride, 0);
  out.reach.assign(groups * stride / kTileLanes, {});
  std::vector<uint8_t> raised(of.twice.size());
  std::transform(of.twice.begin(), of.twice.end(), raised.begin(),
                 [](int8_t v) { return static_cast<uint8_t>(v + kRaise); });
  for (size_t first = 0; first < out.columns; first += kTileLanes)
    for (size_t i = 0; i < of.k; i += 4) {
      const uint8_t* const from = raised.data() + first * of.k + i;
      uint8_t* const to = out.raised.data() + i * stride + 4 * first;
      const size_t count = std::min(kTileLanes, out.columns - first);
      for (size_t c = 0; c < count; ++c) std::memcpy(to + 4 * c, from + c * of.k, 4);
    }
  for (size_t c = 0; c < out.columns; ++c)
    for (size_t g = 0; g < groups; ++g) {
      const Scale& scale = of.scale[c * groups + g];
      out.group[g * stride + c] = scale.exponent * 65536 + of.occupied[c * groups + g];
      out.scale[g * stride + c] = scale.value;
      if (of.occupied[c * groups + g] == 0) continue;
      Reach& reach = out.reach[(g * stride + c) / kTileLanes];
      reach.lowest = std::min(reach.lowest, static_cast<int16_t>(scale.exponent));
      reach.highest = std::max(reach.highest, static_cast<int16_t>(scale.exponent));
    }
}

}  // namespace

DotColumns prepare_columns(const DotRule& rule, const DotOperand& b, size_t columns, size_t k,
                           std::string_view level) {
  DotColumns out;
  prepare_columns(rule, b, columns, k, out, level);
  return out;
}

void prepare_columns(const DotRule& rule, const DotOperand& b, size_t columns, size_t k, DotColumns& out,
                     std::string_view level) {
  check(rule, b, columns, k, "prepare_columns");
  const Loops loops = loops_of(level);
  out.rule = &rule;
  out.format = b.format;
  out.columns = columns;
  out.k = k;
  out.codes.assign(b.codes.begin(), b.codes.end());
  out.scales.assign(b.scales.begin(), b.scales.end());
  out.special = special_ones(rule, b, columns, k, loops.values);
  out.finite = std::none_of(out.special.begin(), out.special.end(), [](uint8_t s) { return s != 0; });
  if (rule.group != 1) return open_groups(out, b, loops.values);
  if (out.products == nullptr) out.products = std::make_shared<DotColumns::Products>();
  out.products->exponents_ready = false;
  out.products->ready = false;
  out.number.clear();
  if (!rule.emulated && out.finite) open_numbers(out, b, loops.exact);
}

}  // namespace bitwell::number
