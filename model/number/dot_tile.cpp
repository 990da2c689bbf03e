#include "model/number/dot_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "model/number/aligned_sum.h"
#include "model/number/arithmetic.h"
#include "model/number/dot_tile_lanes.h"
#include "model/number/simd_level.h"

namespace bitwell::number {

namespace scalar {
TileLanes make_tile_lanes();
}
namespace avx2 {
TileLanes make_tile_lanes();
}
namespace avx512 {
TileLanes make_tile_lanes();
}

namespace {

constexpr size_t kGroup = 16;
constexpr size_t kChunk = 64;  // of a rule of groups

TileLanes lanes_of(std::string_view level) {
  if (level.empty()) level = has_level("avx512") ? "avx512" : has_level("avx2") ? "avx2" : "scalar";
  if (level == "avx512") return avx512::make_tile_lanes();
  return level == "avx2" ? avx2::make_tile_lanes() : scalar::make_tile_lanes();
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

// Twice the value of each E2M1 code.
constexpr int8_t kTwice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Codes along K and their scales: of one column, or of one row.
DotOperand vector_of(const DotRule& rule, const DotOperand& o, size_t i, size_t k) {
  return {o.format, o.codes.subspan(i * k, k), o.scales.subspan(i * rule.scales(k), rule.scales(k))};
}

bool special(const DotRule& rule, const DotOperand& v) {
  return !std::all_of(v.codes.begin(), v.codes.end(), [&](uint32_t c) { return finite(*v.format, c); }) ||
         !std::all_of(v.scales.begin(), v.scales.end(), [&](uint8_t c) { return finite(*rule.scale, c); });
}

struct Scale {
  double value;
  int exponent;  // of the scale as encoded
};
Scale scale_at(const DotRule& rule, const DotOperand& v, size_t k) {
  if (rule.scale == nullptr) return {1, 0};
  const Operand o = operand(*rule.scale, v.scales[k / static_cast<size_t>(rule.scale_vector)]);
  return {std::ldexp(static_cast<double>(o.significand), o.exponent - rule.scale->fraction_bits), o.exponent};
}

// Calls visit(place in `order`, value, exponent) for a rule of single products, as PlainStep wants them.
template <class Visit>
void each_product(const DotOperand& v, std::span<const size_t> order, Visit visit) {
  for (size_t i = 0; i < order.size(); ++i) {
    const Operand o = operand(*v.format, v.codes[order[i]]);
    const float unit =
        narrow(*v.format)
            ? std::bit_cast<float>(static_cast<uint32_t>(127 + o.exponent - v.format->fraction_bits) << 23)
            : 1.0F;
    const float value = static_cast<float>(o.significand) * unit;
    visit(i, o.negative ? -value : value,
          o.significand == 0 ? kNoExponent : static_cast<int16_t>(o.exponent));
  }
}

// Calls visit(group, twice its values, occupied, scale) for a rule of groups. Bit i of `occupied`: value i
// and the scale are not zero.
template <class Visit>
void each_group(const DotRule& rule, const DotOperand& v, Visit visit) {
  for (size_t first = 0; first < v.codes.size(); first += kGroup) {
    int8_t values[kGroup] = {};
    const size_t count = std::min(kGroup, v.codes.size() - first);
    for (size_t i = 0; i < count; ++i) values[i] = kTwice[v.codes[first + i] & 15];
    uint32_t occupied = 0;
    for (size_t i = 0; i < kGroup; ++i) occupied |= static_cast<uint32_t>(values[i] != 0) << i;
    const Scale scale = scale_at(rule, v, first);
    visit(first / kGroup, values, scale.value == 0 ? 0 : occupied, scale);
  }
}

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
       const TileLanes& lanes)
      : rule_(rule), a_(a), rows_(rows), b_(b), d_(d), lanes_(lanes), special_(rows) {
    for (size_t row = 0; row < rows; ++row)
      special_[row] = special(rule_, vector_of(rule_, a, row, b.k)) ? 1 : 0;
  }

  // The codes of `count` columns from `first` on, for the loops; returns the mask of those that they cannot
  // take, which are 0 then.
  uint32_t open(size_t row, size_t first, size_t count, uint32_t* lane) const {
    const uint32_t* from = &d_[row * b_.columns + first];
    const auto most = static_cast<uint32_t>(rule_.output->max_code());
    const auto magnitude = static_cast<uint32_t>(rule_.output->magnitude_mask());
    bool odd = special_[row] != 0;
    for (size_t c = 0; c < count; ++c) odd |= (from[c] & magnitude) > most || b_.special[first + c] != 0;
    if (!rule_.emulated) std::copy_n(from, count, lane);
    if (!odd) return 0;
    uint32_t slow = 0;
    for (size_t c = 0; c < count; ++c)
      if (special_[row] != 0 || b_.special[first + c] != 0 || !finite(*rule_.output, from[c])) {
        slow |= 1u << c;
        lane[c] = 0;
      }
    return slow;
  }
  // Stores them; those in `slow` as the definition has them.
  void close(size_t row, size_t first, size_t count, const uint32_t* lane, uint32_t slow) const {
    uint32_t* to = &d_[row * b_.columns + first];
    if (slow == 0 && !rule_.emulated) {
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
    std::vector<float> value(rows_ * b_.k);
    std::vector<int16_t> exponent(rows_ * b_.k);
    for (size_t row = 0; row < rows_; ++row)
      each_product(vector_of(rule_, a_, row, b_.k), order, [&](size_t i, float v, int16_t e) {
        value[row * b_.k + i] = v;
        exponent[row * b_.k + i] = e;
      });
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
        const int scale_exponent = scale_at(rule_, vector_of(rule_, a_, row, b_.k), i).exponent;
        slow |= lanes_.plain({&value[row * b_.k + i], &exponent[row * b_.k + i], scale_exponent}, step, lane);
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
    const size_t k = (b_.k + kChunk - 1) / kChunk * kChunk;
    std::vector<int8_t> values(rows_ * k);
    std::vector<RowGroup> all(rows_ * k / kGroup);
    for (size_t row = 0; row < rows_; ++row) {
      const DotOperand v = vector_of(rule_, a_, row, b_.k);
      each_group(rule_, v, [&](size_t g, std::span<const int8_t, kGroup> of, uint32_t occupied, Scale scale) {
        std::copy(of.begin(), of.end(), &values[row * k + g * kGroup]);
        all[row * k / kGroup + g] = {static_cast<int32_t>(occupied), scale.exponent * 65536,
                                     -kRaise * std::accumulate(of.begin(), of.end(), 0), scale.value / 4};
      });
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
        slow |= lanes_.scaled({&values[row * k + i], &all[row * k / kGroup + g]}, step, lane);
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
      for (size_t row = 0; row < rows_; ++row) {
        alignas(64) uint32_t lane[kTileLanes] = {};
        uint32_t slow = open(row, first, count, lane);
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
  const TileLanes& lanes_;
  std::vector<uint8_t> special_;  // a row with NaN or infinity
};

}  // namespace

DotColumns prepare_columns(const DotRule& rule, const DotOperand& b, size_t columns, size_t k) {
  check(rule, b, columns, k, "prepare_columns");
  DotColumns out;
  out.rule = &rule;
  out.format = b.format;
  out.columns = columns;
  out.k = k;
  out.codes.assign(b.codes.begin(), b.codes.end());
  out.scales.assign(b.scales.begin(), b.scales.end());
  const size_t stride = padded(columns);
  const std::vector<size_t> order = order_of(rule, k);
  out.special.resize(columns);
  if (rule.group == 1) {
    out.value.resize(k * stride);
    out.exponent.resize(k * stride);
    out.scale_exponent.resize(std::max<size_t>(rule.scales(k), 1) * stride);
  } else {
    const size_t whole = (k + kChunk - 1) / kChunk * kChunk;
    out.raised.resize(whole * stride, kRaise);
    out.group.resize(whole / kGroup * stride);
    out.scale.resize(whole / kGroup * stride);
  }
  for (size_t c = 0; c < columns; ++c) {
    const DotOperand v = vector_of(rule, b, c, k);
    out.special[c] = special(rule, v) ? 1 : 0;
    if (rule.group == 1) {
      each_product(v, order, [&](size_t i, float value, int16_t exponent) {
        out.value[i * stride + c] = value;
        out.exponent[i * stride + c] = exponent;
      });
      for (size_t i = 0; i < v.scales.size(); ++i)
        out.scale_exponent[i * stride + c] =
            static_cast<int16_t>(scale_at(rule, v, i * static_cast<size_t>(rule.scale_vector)).exponent);
      continue;
    }
    each_group(rule, v, [&](size_t g, std::span<const int8_t, kGroup> of, uint32_t occupied, Scale scale) {
      for (size_t i = 0; i < kGroup; ++i)
        out.raised[(g * kGroup + i) / 4 * 4 * stride + 4 * c + i % 4] = static_cast<uint8_t>(of[i] + kRaise);
      out.group[g * stride + c] = scale.exponent * 65536 + static_cast<int32_t>(occupied);
      out.scale[g * stride + c] = scale.value;
    });
  }
  return out;
}

void dot_tile(const DotRule& rule, const DotOperand& a, size_t rows, const DotColumns& b,
              std::span<uint32_t> d, std::string_view level) {
  check(rule, a, rows, b.k, "dot_tile");
  const bool alike = rule.emulated == b.rule->emulated && rule.group == b.rule->group &&
                     rule.scale == b.rule->scale && rule.scale_vector == b.rule->scale_vector;
  if (!alike || !rule.takes(*a.format, *b.format) || d.size() != rows * b.columns)
    throw std::invalid_argument("dot_tile: types or counts that the rule does not take");
  const TileLanes lanes = lanes_of(level);
  Tile tile(rule, a, rows, b, d, lanes);
  if (rule.group == 1)
    tile.products();
  else
    tile.groups();
}

}  // namespace bitwell::number
