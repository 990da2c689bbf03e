#include "model/number/tile/dot_tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "model/number/aligned_sum.h"
#include "model/number/arithmetic.h"
#include "model/number/simd_level.h"
#include "model/number/tile/aligned_tile_lanes.h"
#include "model/number/tile/dot_tile_lanes.h"
#include "model/number/tile/dot_values_lanes.h"

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

namespace {

constexpr size_t kGroup = 16;
constexpr size_t kChunk = 64;  // of a rule of groups

struct Loops {
  TileLanes tile;
  ValueLanes values;
  ExactLanes exact;
  AlignedLanes aligned;
};
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

size_t padded(size_t columns) { return (columns + kTileLanes - 1) / kTileLanes * kTileLanes; }

bool finite(const Format& f, uint32_t code) {
  return (code >> f.ignored_low & f.magnitude_mask()) <= f.max_code();
}

// The emulation of fp8 takes the products with k % 4 in {0, 1} first: the place of each k. Empty where they
// are taken one after the other.
std::vector<size_t> order_of(const DotRule& rule, size_t k) {
  std::vector<size_t> out;
  for (size_t half = 0; half < 2 && rule.emulated; ++half)
    for (size_t i = 0; i < k; ++i)
      if (i % 4 / 2 == half) out.push_back(i);
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
bool is_nan(const Format& f, uint32_t code) {
  return (code >> f.ignored_low & f.magnitude_mask()) > f.max_code() + (f.has_infinity() ? 1 : 0);
}

// Whether a code or a scale is NaN: every sum with it is, as the addend of what comes behind stays so.
bool has_nan(const DotRule& rule, const DotOperand& v) {
  return (v.format->has_nan() &&
          std::any_of(v.codes.begin(), v.codes.end(), [&](uint32_t c) { return is_nan(*v.format, c); })) ||
         !std::all_of(v.scales.begin(), v.scales.end(), [&](uint8_t c) { return finite(*rule.scale, c); });
}
constexpr uint8_t kInfinite = 1, kNaN = 2;
// By row or column, 0 for those that are finite. Most often all are.
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

// Elements [vector][k] at their places in `order`.
template <class T>
void reorder(std::span<const size_t> order, std::vector<T>& all) {
  if (order.empty()) return;
  const std::vector<T> given = all;
  const size_t k = order.size();
  for (size_t first = 0; first < all.size(); first += k)
    for (size_t i = 0; i < k; ++i) all[first + i] = given[first + order[i]];
}

// Products' values and exponents, as PlainStep wants them, at their places in `order`.
void ordered_products(const DotOperand& o, std::span<const size_t> order, const ValueLanes& lanes,
                      std::vector<float>& value, std::vector<int16_t>& exponent) {
  value.resize(o.codes.size());
  exponent.resize(o.codes.size());
  lanes.products(*o.format, narrow(*o.format), o.codes.data(), o.codes.size(), value.data(), exponent.data());
  reorder(order, value);
  reorder(order, exponent);
}

// Exponents [vector][k]: one of the two, as aligned_tile_lanes.h says.
struct Exponents {
  std::vector<int16_t> exponent;
  std::vector<int8_t> byte_exponent;

  Exponents(const DotOperand& o, const AlignedLanes& lanes) {
    if (narrow(*o.format)) {
      byte_exponent.resize(o.codes.size());
      lanes.byte_exponents(*o.format, o.codes.data(), o.codes.size(), byte_exponent.data());
    } else {
      exponent.resize(o.codes.size());
      lanes.exponents(*o.format, o.codes.data(), o.codes.size(), exponent.data());
    }
  }
};

// Whether sums of its products, where nothing is cut off, are those of fp32.
bool may_be_exact(const DotRule& rule) { return rule.group == 1 && !rule.emulated && rule.output == &f32; }

// Whether aligned_tile_lanes.h knows it.
bool may_be_aligned(const DotRule& rule) {
  return may_be_exact(rule) && rule.scale == nullptr && rule.fraction_bits <= kAlignedFraction &&
         static_cast<size_t>(rule.length) <= kAlignedLength;
}

// Codes [vector][k] as numbers, with their scales; bounds of the exponents as they are encoded.
struct Numbers {
  std::vector<float> value;
  ExactBounds bounds;

  Numbers(const DotRule& rule, const DotOperand& o, size_t count, size_t k, const ExactLanes& lanes)
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
};

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

// [column][k] as [k][padded column].
template <class T>
void transpose(const T* from, size_t columns, size_t k, size_t stride, T* to) {
  for (size_t first = 0; first < columns; first += kTileLanes) {
    const size_t end = std::min(first + kTileLanes, columns);
    for (size_t i = 0; i < k; ++i)
      for (size_t c = first; c < end; ++c) to[i * stride + c] = from[c * k + i];
  }
}

// Of rules of single products: exponents alone, or all.
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
        special_(special_ones(rule, a, rows, b.k, loops.values)),
        finite_(b.finite && std::all_of(special_.begin(), special_.end(), [](uint8_t s) { return s == 0; })) {
  }

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
      // The sum is NaN where a number is, or C.
      const bool nan = special_[row] == kNaN || b_.special[first + c] == kNaN || is_nan(*rule_.output, to[c]);
      if (nan && !rule_.emulated)
        to[c] = static_cast<uint32_t>(rule_.output->canonical_nan());
      else if ((slow >> c & 1) != 0)
        to[c] = dot(rule_, vector_of(rule_, a_, row, b_.k),
                    vector_of(rule_, {b_.format, b_.codes, b_.scales}, first + c, b_.k), to[c]);
      else if (rule_.emulated)
        to[c] = static_cast<uint32_t>(add(*rule_.output, lane[c], to[c], {}));
      else
        to[c] = lane[c];
    }
  }

  void products() {
    const std::optional<ExactStep> exact = exact_step();
    const bool may_align = finite_ && may_be_aligned(rule_);
    std::optional<RowExponents> exponents;  // once some row needs them
    std::optional<RowProducts> opened;
    each_strip(
        [&](size_t row, size_t first, size_t count, uint32_t* lane) {
          if (!opened) opened.emplace(*this);
          return opened->add(row, first, count, lane);
        },
        [&](size_t row, size_t rows, size_t first, size_t count) {
          uint32_t left = exact ? add_exactly(*exact, row, rows, first, count) : (1u << rows) - 1;
          if (left != 0 && may_align) {
            if (!exponents) exponents.emplace(*this);
            left = add_aligned(*exponents, left, row, rows, first, count);
          }
          return left;
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
    each_strip(
        [&](size_t row, size_t first, size_t count, uint32_t* lane) {
          uint32_t slow = 0;
          for (size_t i = 0; i < k; i += kChunk) {
            const size_t g = i / kGroup;
            const ScaledStep step{&b_.raised[i * stride + 4 * first],
                                  &b_.group[g * stride + first],
                                  &b_.scale[g * stride + first],
                                  stride,
                                  rule_.fraction_bits,
                                  2 + 2 * rule_.scale->fraction_bits,
                                  rule_.zero_exponent,
                                  count};
            slow |= loops_.tile.scaled({&of.twice[row * k + i], &all[row * k / kGroup + g]}, step, lane);
          }
          return slow;
        },
        [](size_t, size_t, size_t, size_t) { return ~0u; });
  }

 private:
  // Rows as PlainStep wants them, and what it takes of them.
  class RowProducts {
   public:
    explicit RowProducts(const Tile& tile)
        : tile_(tile),
          b_(opened(tile.b_, tile.loops_.values, tile.loops_.aligned)),
          order_(order_of(tile.rule_, tile.b_.k)) {
      ordered_products(tile.a_, order_, tile.loops_.values, value_, exponent_);
      if (narrow(*tile.b_.format)) {
        byte_exponent_ = Exponents(tile.a_, tile.loops_.aligned).byte_exponent;
        reorder(order_, byte_exponent_);
      }
      b_value_ = b_.value.empty() ? tile.b_.number.data() : b_.value.data();
      // Chunks end where the emulation's first half does.
      first_half_ = tile.rule_.emulated
                        ? static_cast<size_t>(
                              std::count_if(order_.begin(), order_.end(), [](size_t i) { return i % 4 < 2; }))
                        : tile.b_.k;
    }

    uint32_t add(size_t row, size_t first, size_t count, uint32_t* lane) const {
      const DotRule& rule = tile_.rule_;
      const size_t k = tile_.b_.k;
      const size_t stride = padded(tile_.b_.columns);
      uint32_t slow = 0;
      for (size_t i = 0; i < k;) {
        const size_t end = std::min(i + static_cast<size_t>(rule.length), i < first_half_ ? first_half_ : k);
        const size_t scale = rule.scale == nullptr ? 0 : i / static_cast<size_t>(rule.scale_vector);
        const bool bytes = narrow(*tile_.b_.format);
        const PlainStep step{b_value_ + i * stride + first,
                             bytes ? nullptr : &b_.exponent[i * stride + first],
                             bytes ? &b_.byte_exponent[i * stride + first] : nullptr,
                             &b_.scale_exponent[scale * stride + first],
                             stride,
                             static_cast<int>(end - i),
                             bytes,
                             tile_.a_.format->fraction_bits + tile_.b_.format->fraction_bits,
                             rule.fraction_bits,
                             rule.zero_exponent,
                             rule.rounding,
                             count};
        const int scale_exponent =
            rule.scale == nullptr ? 0
                                  : scales_of(rule)[tile_.a_.scales[row * rule.scales(k) + scale]].exponent;
        slow |= tile_.loops_.tile.plain({&value_[row * k + i], &exponent_[row * k + i],
                                         bytes ? &byte_exponent_[row * k + i] : nullptr, scale_exponent},
                                        step, lane);
        // An fp16 sum may have become infinite: the next chunk would read it as a number.
        if (rule.output == &f16)
          for (size_t c = 0; c < count; ++c) slow |= static_cast<uint32_t>((lane[c] & 0x7C00) == 0x7C00) << c;
        i = end;
      }
      return slow;
    }

   private:
    const Tile& tile_;
    const DotColumns::Products& b_;
    std::vector<size_t> order_;
    std::vector<float> value_;
    std::vector<int16_t> exponent_;
    std::vector<int8_t> byte_exponent_;
    const float* b_value_ = nullptr;
    size_t first_half_ = 0;
  };

  // The rows' exponents as AlignedStep wants them.
  class RowExponents {
   public:
    explicit RowExponents(const Tile& tile)
        : tile_(tile), b_(opened_exponents(tile.b_, tile.loops_.aligned)), a_(tile.a_, tile.loops_.aligned) {}

    AlignedStep step(const std::vector<float>& a, size_t row, size_t first, size_t count) const {
      const DotRule& rule = tile_.rule_;
      const size_t k = tile_.b_.k;
      AlignedStep out{};
      out.a = &a[row * k];
      out.b = &tile_.b_.number[first];
      if (narrow(*tile_.b_.format)) {
        out.a_byte_exponent = &a_.byte_exponent[row * k];
        out.b_byte_exponent = &b_.byte_exponent[first];
      } else {
        out.a_exponent = &a_.exponent[row * k];
        out.b_exponent = &b_.exponent[first];
      }
      out.stride = padded(tile_.b_.columns);
      out.k = k;
      out.length = static_cast<size_t>(rule.length);
      out.columns = count;
      out.fraction_bits = rule.fraction_bits;
      out.result_bits = rule.rounding == DotRounding::rz_e8m13 ? 0x7FFFFC00 : INT32_MAX;
      return out;
    }

   private:
    const Tile& tile_;
    const DotColumns::Products& b_;
    Exponents a_;
  };

  // What add_exactly needs, where the operands allow it: for all products and their sums to be held, and none
  // to be cut off, which counts from the largest exponent on.
  std::optional<ExactStep> exact_step() {
    if (!may_be_exact(rule_) || !finite_) return std::nullopt;
    ExactStep out{};
    const int result_bits = rule_.rounding == DotRounding::rz_e8m13 ? 14 : 24;
    // No exponent is above that of a sum's bound less 2.
    out.precision = std::min(result_bits, rule_.fraction_bits + 2);
    if (b_.bounds.highest - b_.bounds.lowest > out.precision) return std::nullopt;
    const Numbers& a = numbers();
    const int products = std::bit_width(b_.k - 1);  // so many bits more than one
    out.sum = a.bounds.highest + b_.bounds.highest + 2 + products;
    out.sum = std::max(out.sum, out.precision - 127);  // no bit of a subnormal number
    out.lowest = a.bounds.lowest + b_.bounds.lowest;
    if (out.sum + 1 - out.precision > out.lowest || out.sum + 1 > 127) return std::nullopt;
    out.k = b_.k;
    out.stride = padded(b_.columns);
    return out;
  }
  const Numbers& numbers() {
    if (!numbers_) numbers_.emplace(rule_, a_, rows_, b_.k, loops_.exact);
    return *numbers_;
  }
  // Each returns a mask of rows that are left as they were.
  uint32_t add_exactly(ExactStep step, size_t row, size_t rows, size_t first, size_t count) {
    step.a = &numbers().value[row * step.k];
    step.b = &b_.number[first];
    return in_lanes(row, rows, first, count,
                    [&](uint32_t* d, size_t pitch) { return loops_.exact.add(step, rows, d, pitch); });
  }
  uint32_t add_aligned(const RowExponents& exponents, uint32_t which, size_t row, size_t rows, size_t first,
                       size_t count) {
    const AlignedStep step = exponents.step(numbers().value, row, first, count);
    return in_lanes(row, rows, first, count,
                    [&](uint32_t* d, size_t pitch) { return loops_.aligned.add(step, which, d, pitch); });
  }
  // Calls add(codes, pitch), which says which rows it left, with room for kTileLanes columns in each.
  template <class Add>
  uint32_t in_lanes(size_t row, size_t rows, size_t first, size_t count, Add add) const {
    uint32_t* const d = &d_[row * pitch_ + first];
    if (count == kTileLanes) return add(d, pitch_);
    alignas(64) uint32_t lanes[kExactRows * kTileLanes] = {};
    for (size_t r = 0; r < rows; ++r) std::copy_n(d + r * pitch_, count, lanes + r * kTileLanes);
    const uint32_t left = add(lanes, kTileLanes);
    for (size_t r = 0; r < rows; ++r)
      if ((left >> r & 1) == 0) std::copy_n(lanes + r * kTileLanes, count, d + r * pitch_);
    return left;
  }

  // For every 32 columns and some rows calls exact(first row, rows, first column, columns), which returns a
  // mask of those that are left, and compute(row, first column, columns, their codes) for each of these.
  template <class Compute, class Exact>
  void each_strip(Compute compute, Exact exact) const {
    for (size_t first = 0; first < b_.columns; first += kTileLanes) {
      const size_t count = std::min(kTileLanes, b_.columns - first);
      uint32_t special_columns = 0;
      for (size_t c = 0; c < count; ++c)
        special_columns |= static_cast<uint32_t>(b_.special[first + c] != 0) << c;
      for (size_t some = 0; some < rows_; some += kExactRows) {
        const size_t rows = std::min(kExactRows, rows_ - some);
        const uint32_t left = exact(some, rows, first, count);
        for (size_t r = 0; r < rows; ++r) {
          if ((left >> r & 1) == 0) continue;
          const size_t row = some + r;
          alignas(64) uint32_t lane[kTileLanes];
          uint32_t slow = open(row, first, count, special_columns, lane);
          if (special_[row] == 0) slow |= compute(row, first, count, lane);
          close(row, first, count, lane, slow);
        }
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
  std::vector<uint8_t> special_;    // a row with NaN or infinity
  bool finite_;                     // no row and no column has
  std::optional<Numbers> numbers_;  // A's, once they are asked for
};

}  // namespace

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
