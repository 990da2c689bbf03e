#include "model/number/dot_tile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "model/number/aligned_sum.h"
#include "model/number/arithmetic.h"
#include "model/number/dot_tile_lanes.h"
#include "model/number/dot_values_lanes.h"
#include "model/number/simd_level.h"

namespace bitwell::number {

namespace scalar {
TileLanes make_tile_lanes();
ValueLanes make_value_lanes();
}  // namespace scalar
namespace avx2 {
TileLanes make_tile_lanes();
ValueLanes make_value_lanes();
}  // namespace avx2
namespace avx512 {
TileLanes make_tile_lanes();
ValueLanes make_value_lanes();
}  // namespace avx512

namespace {

constexpr size_t kGroup = 16;
constexpr size_t kChunk = 64;  // of a rule of groups

struct Loops {
  TileLanes tile;
  ValueLanes values;
};
Loops loops_of(std::string_view level) {
  if (level.empty()) level = has_level("avx512") ? "avx512" : has_level("avx2") ? "avx2" : "scalar";
  if (level == "avx512") return {avx512::make_tile_lanes(), avx512::make_value_lanes()};
  if (level == "avx2") return {avx2::make_tile_lanes(), avx2::make_value_lanes()};
  return {scalar::make_tile_lanes(), scalar::make_value_lanes()};
}

size_t padded(size_t columns) { return (columns + kTileLanes - 1) / kTileLanes * kTileLanes; }

bool finite(const Format& f, uint32_t code) {
  return (code >> f.ignored_low & f.magnitude_mask()) <= f.max_code();
}

// The emulation of fp8 takes the products with k % 4 in {0, 1} first: the place of each k.
std::vector<size_t> order_of(const DotRule& rule, size_t k) {
  std::vector<size_t> out;
  for (size_t half = 0; half < (rule.emulated ? 2 : 1); ++half)
    for (size_t i = 0; i < k; ++i)
      if (!rule.emulated || i % 4 / 2 == half) out.push_back(i);
  return out;
}

// Its products, with itself or what it mixes with, are normal numbers of fp32.
bool narrow(const Format& f) { return f.exponent_bits <= 5; }

// Codes along K and their scales: of one column, or of one row.
DotOperand vector_of(const DotRule& rule, const DotOperand& o, size_t i, size_t k) {
  return {o.format, o.codes.subspan(i * k, k), o.scales.subspan(i * rule.scales(k), rule.scales(k))};
}

bool special(const DotRule& rule, const DotOperand& v, const ValueLanes& lanes) {
  return (v.format->has_nan() && lanes.special(*v.format, v.codes.data(), v.codes.size())) ||
         !std::all_of(v.scales.begin(), v.scales.end(), [&](uint8_t c) { return finite(*rule.scale, c); });
}
// By row or column. Most often none is.
std::vector<uint8_t> special_ones(const DotRule& rule, const DotOperand& o, size_t count, size_t k,
                                  const ValueLanes& lanes) {
  std::vector<uint8_t> out(count);
  if (!special(rule, o, lanes)) return out;
  for (size_t i = 0; i < count; ++i) out[i] = special(rule, vector_of(rule, o, i, k), lanes) ? 1 : 0;
  return out;
}

struct Scale {
  double value;
  int exponent;  // of the scale as encoded
};
using Scales = std::array<Scale, 256>;
// By code; a rule without scales has no use for it.
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

// Products' values and exponents, as PlainStep wants them, at their places in `order`.
void ordered_products(const DotOperand& o, std::span<const size_t> order, const ValueLanes& lanes,
                      std::vector<float>& value, std::vector<int16_t>& exponent) {
  value.resize(o.codes.size());
  exponent.resize(o.codes.size());
  lanes.products(*o.format, narrow(*o.format), o.codes.data(), o.codes.size(), value.data(), exponent.data());
  if (std::is_sorted(order.begin(), order.end())) return;
  const std::vector<float> values = value;
  const std::vector<int16_t> exponents = exponent;
  const size_t k = order.size();
  for (size_t first = 0; first < o.codes.size(); first += k)
    for (size_t i = 0; i < k; ++i) {
      value[first + i] = values[first + order[i]];
      exponent[first + i] = exponents[first + order[i]];
    }
}

// Rows or columns of E2M1 in groups, k padded with zeros to whole chunks.
struct Groups {
  size_t k;                        // padded
  std::vector<int8_t> twice;       // the values: [vector][k]
  std::vector<uint16_t> occupied;  // [vector][group]; of those whose scale is zero too, 0
  std::vector<Scale> scale;        // [vector][group]

  Groups(const DotRule& rule, const DotOperand& o, size_t count, size_t given, const ValueLanes& lanes)
      : k((given + kChunk - 1) / kChunk * kChunk),
        twice(count * k),
        occupied(twice.size() / kGroup),
        scale(occupied.size()) {
    std::span<const uint32_t> codes = o.codes;
    std::vector<uint32_t> whole;
    if (k != given) {
      whole.resize(count * k);
      for (size_t i = 0; i < count; ++i)
        std::copy_n(&o.codes[i * given], given, whole.begin() + static_cast<std::ptrdiff_t>(i * k));
      codes = whole;
    }
    lanes.twice(codes.data(), occupied.size(), twice.data(), occupied.data());
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
};

void check(const DotRule& rule, const DotOperand& o, size_t count, size_t k, const char* what) {
  const bool known = std::find(rule.inputs.begin(), rule.inputs.end(), o.format) != rule.inputs.end();
  if (!known || o.codes.size() != count * k || o.scales.size() != count * rule.scales(k))
    throw std::invalid_argument(std::string(what) + ": types or counts that the rule does not take");
  if (rule.group != 1 && (rule.group != kGroup || rule.length != kChunk || o.format != &e2m1))
    throw std::invalid_argument(std::string(what) + ": groups of other than 16 E2M1 products");
}

// A tile under way: rows' parts are made ready once, then 32 columns at a time are taken through all rows.
class Tile {
 public:
  Tile(const DotRule& rule, const DotOperand& a, size_t rows, const DotColumns& b, std::span<uint32_t> d,
       size_t pitch, const Loops& loops)
      : rule_(rule),
        a_(a),
        rows_(rows),
        b_(b),
        d_(d),
        pitch_(pitch),
        loops_(loops),
        special_(special_ones(rule, a, rows, b.k, loops.values)) {}

  // The codes of `count` columns from `first` on, for the loops; returns the mask of those that are not
  // theirs: of a row or column with NaN or infinity, and, where C comes last, of a C that is one. Other C the
  // loops refuse themselves.
  uint32_t open(size_t row, size_t first, size_t count, uint32_t special_columns, uint32_t* lane) const {
    const uint32_t* from = &d_[row * pitch_ + first];
    uint32_t slow = special_[row] != 0 ? ~0u : special_columns;
    if (!rule_.emulated && count == kTileLanes) {
      std::memcpy(lane, from, kTileLanes * sizeof *lane);
      return slow;
    }
    std::fill_n(lane, kTileLanes, 0u);
    if (!rule_.emulated) std::copy_n(from, count, lane);
    for (size_t c = 0; rule_.emulated && c < count; ++c)
      slow |= static_cast<uint32_t>(!finite(*rule_.output, from[c])) << c;
    return slow;
  }
  // Stores them; those in `slow` as the definition has them.
  void close(size_t row, size_t first, size_t count, const uint32_t* lane, uint32_t slow) const {
    uint32_t* to = &d_[row * pitch_ + first];
    if (slow == 0 && !rule_.emulated) {
      if (count == kTileLanes)
        std::memcpy(to, lane, kTileLanes * sizeof *lane);
      else
        std::copy_n(lane, count, to);
      return;
    }
    for (size_t c = 0; c < count; ++c) {
      if ((slow >> c & 1) != 0)
        to[c] = dot(rule_, vector_of(rule_, a_, row, b_.k),
                    vector_of(rule_, {b_.format, b_.codes, b_.scales}, first + c, b_.k), to[c]);
      else if (rule_.emulated)
        to[c] = static_cast<uint32_t>(add(*rule_.output, lane[c], to[c], {}));
      else
        to[c] = lane[c];
    }
  }

  void products() {
    const std::vector<size_t> order = order_of(rule_, b_.k);
    // Chunks end where the emulation's first half does.
    const size_t first_half = rule_.emulated
                                  ? static_cast<size_t>(std::count_if(order.begin(), order.end(),
                                                                      [](size_t i) { return i % 4 < 2; }))
                                  : b_.k;
    const size_t stride = padded(b_.columns);
    std::vector<float> value;
    std::vector<int16_t> exponent;
    ordered_products(a_, order, loops_.values, value, exponent);
    each_strip([&](size_t row, size_t first, size_t count, uint32_t* lane) {
      uint32_t slow = 0;
      for (size_t i = 0; i < b_.k;) {
        const size_t end =
            std::min(i + static_cast<size_t>(rule_.length), i < first_half ? first_half : b_.k);
        const size_t scale = rule_.scale == nullptr ? 0 : i / static_cast<size_t>(rule_.scale_vector);
        const PlainStep step{&b_.value[i * stride + first],
                             &b_.exponent[i * stride + first],
                             &b_.scale_exponent[scale * stride + first],
                             stride,
                             static_cast<int>(end - i),
                             narrow(*b_.format),
                             a_.format->fraction_bits + b_.format->fraction_bits,
                             rule_.fraction_bits,
                             rule_.zero_exponent,
                             rule_.rounding};
        const int scale_exponent =
            rule_.scale == nullptr ? 0
                                   : scales_of(rule_)[a_.scales[row * rule_.scales(b_.k) + scale]].exponent;
        slow |= loops_.tile.plain({&value[row * b_.k + i], &exponent[row * b_.k + i], scale_exponent}, step,
                                  lane);
        // An fp16 sum may have become infinite: the next chunk would read it as a number.
        if (rule_.output == &f16)
          for (size_t c = 0; c < count; ++c) slow |= static_cast<uint32_t>((lane[c] & 0x7C00) == 0x7C00) << c;
        i = end;
      }
      return slow;
    });
  }

  void groups() {
    const size_t stride = padded(b_.columns);
    const Groups of(rule_, a_, rows_, b_.k, loops_.values);
    const size_t k = of.k;
    std::vector<RowGroup> all(of.scale.size());
    for (size_t g = 0; g < all.size(); ++g) {
      int32_t sum = 0;
      for (size_t i = 0; i < kGroup; ++i) sum += of.twice[g * kGroup + i];
      all[g] = {of.occupied[g], of.scale[g].exponent * 65536, -kRaise * sum, of.scale[g].value / 4};
    }
    each_strip([&](size_t row, size_t first, size_t, uint32_t* lane) {
      uint32_t slow = 0;
      for (size_t i = 0; i < k; i += kChunk) {
        const size_t g = i / kGroup;
        const ScaledStep step{&b_.raised[i * stride + 4 * first],
                              &b_.group[g * stride + first],
                              &b_.scale[g * stride + first],
                              stride,
                              rule_.fraction_bits,
                              2 + 2 * rule_.scale->fraction_bits,
                              rule_.zero_exponent};
        slow |= loops_.tile.scaled({&of.twice[row * k + i], &all[row * k / kGroup + g]}, step, lane);
      }
      return slow;
    });
  }

 private:
  // Calls compute(row, first column, columns, their codes) for every row of every 32 columns.
  template <class Compute>
  void each_strip(Compute compute) const {
    for (size_t first = 0; first < b_.columns; first += kTileLanes) {
      const size_t count = std::min(kTileLanes, b_.columns - first);
      uint32_t special_columns = 0;
      for (size_t c = 0; c < count; ++c) special_columns |= static_cast<uint32_t>(b_.special[first + c]) << c;
      for (size_t row = 0; row < rows_; ++row) {
        alignas(64) uint32_t lane[kTileLanes];
        uint32_t slow = open(row, first, count, special_columns, lane);
        slow |= compute(row, first, count, lane);
        close(row, first, count, lane, slow);
      }
    }
  }

  const DotRule& rule_;
  const DotOperand& a_;
  size_t rows_;
  const DotColumns& b_;
  std::span<uint32_t> d_;
  size_t pitch_;
  const Loops& loops_;
  std::vector<uint8_t> special_;  // a row with NaN or infinity
};

}  // namespace

namespace {

void open_products(DotColumns& out, const DotOperand& b, const ValueLanes& lanes) {
  const size_t stride = padded(out.columns);
  std::vector<float> value;
  std::vector<int16_t> exponent;
  ordered_products(b, order_of(*out.rule, out.k), lanes, value, exponent);
  out.value.resize(out.k * stride);
  out.exponent.resize(out.k * stride);
  for (size_t i = 0; i < out.k; ++i)
    for (size_t c = 0; c < out.columns; ++c) {
      out.value[i * stride + c] = value[c * out.k + i];
      out.exponent[i * stride + c] = exponent[c * out.k + i];
    }
  const size_t scales = out.rule->scales(out.k);
  out.scale_exponent.resize(std::max<size_t>(scales, 1) * stride);
  for (size_t c = 0; c < out.columns; ++c)
    for (size_t i = 0; i < scales; ++i)
      out.scale_exponent[i * stride + c] =
          static_cast<int16_t>(scales_of(*out.rule)[b.scales[c * scales + i]].exponent);
}

void open_groups(DotColumns& out, const DotOperand& b, const ValueLanes& lanes) {
  const size_t stride = padded(out.columns);
  const Groups of(*out.rule, b, out.columns, out.k, lanes);
  const size_t groups = of.k / kGroup;
  out.raised.resize(of.k * stride, kRaise);
  out.group.resize(groups * stride);
  out.scale.resize(groups * stride);
  for (size_t c = 0; c < out.columns; ++c)
    for (size_t i = 0; i < of.k; i += 4)
      for (size_t j = 0; j < 4; ++j)
        out.raised[i * stride + 4 * c + j] = static_cast<uint8_t>(of.twice[c * of.k + i + j] + kRaise);
  for (size_t c = 0; c < out.columns; ++c)
    for (size_t g = 0; g < groups; ++g) {
      const Scale& scale = of.scale[c * groups + g];
      out.group[g * stride + c] = scale.exponent * 65536 + of.occupied[c * groups + g];
      out.scale[g * stride + c] = scale.value;
    }
}

}  // namespace

DotColumns prepare_columns(const DotRule& rule, const DotOperand& b, size_t columns, size_t k,
                           std::string_view level) {
  check(rule, b, columns, k, "prepare_columns");
  const ValueLanes lanes = loops_of(level).values;
  DotColumns out;
  out.rule = &rule;
  out.format = b.format;
  out.columns = columns;
  out.k = k;
  out.codes.assign(b.codes.begin(), b.codes.end());
  out.scales.assign(b.scales.begin(), b.scales.end());
  out.special = special_ones(rule, b, columns, k, lanes);
  if (rule.group == 1)
    open_products(out, b, lanes);
  else
    open_groups(out, b, lanes);
  return out;
}

void dot_tile(const DotRule& rule, const DotOperand& a, size_t rows, const DotColumns& b,
              std::span<uint32_t> d, std::string_view level, size_t pitch) {
  check(rule, a, rows, b.k, "dot_tile");
  const bool alike = rule.emulated == b.rule->emulated && rule.group == b.rule->group &&
                     rule.scale == b.rule->scale && rule.scale_vector == b.rule->scale_vector;
  if (pitch == 0) pitch = b.columns;
  const size_t last = rows == 0 ? 0 : (rows - 1) * pitch + b.columns;
  if (!alike || !rule.takes(*a.format, *b.format) || pitch < b.columns || d.size() != last)
    throw std::invalid_argument("dot_tile: types or counts that the rule does not take");
  const Loops loops = loops_of(level);
  Tile tile(rule, a, rows, b, d, pitch, loops);
  if (rule.group == 1)
    tile.products();
  else
    tile.groups();
}

}  // namespace bitwell::number
