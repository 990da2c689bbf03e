#include "model/number/tile/dot_tile.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "model/number/arithmetic.h"
#include "model/number/tile/dot_operands.h"

namespace bitwell::number {

namespace {

// Whether sums of its products, where nothing is cut off, are those of fp32.
bool may_be_exact(const DotRule& rule) { return rule.group == 1 && !rule.emulated && rule.output == &f32; }

// Whether aligned_tile_lanes.h knows it.
bool may_be_aligned(const DotRule& rule) {
  return may_be_exact(rule) && rule.scale == nullptr && rule.fraction_bits <= kAlignedFraction &&
         static_cast<size_t>(rule.length) <= kAlignedLength;
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
    for (size_t g = 0; g < all.size(); ++g)
      all[g] = {of.occupied[g], of.scale[g].exponent * 65536, -kRaise * of.sum[g], of.scale[g].value / 4};
    const auto step_of = [&](size_t i, size_t first, size_t count) {
      const size_t g = i / kGroup;
      return ScaledStep{&b_.raised[i * stride + 4 * first],
                        &b_.group[g * stride + first],
                        &b_.scale[g * stride + first],
                        &b_.reach[(g * stride + first) / kTileLanes],
                        stride,
                        rule_.fraction_bits,
                        2 + 2 * rule_.scale->fraction_bits,
                        rule_.zero_exponent,
                        count};
    };
    std::vector<uint32_t> odd(rows_);
    each_strip(
        [&](size_t row, size_t first, size_t count, uint32_t* lane) {
          uint32_t slow = 0;
          for (size_t i = 0; i < k; i += kChunk) {
            loops_.tile.scaled({&of.twice[row * k + i], &all[(row * k + i) / kGroup], 1, k},
                               step_of(i, first, count), lane, kTileLanes, odd.data());
            slow |= odd[0];
          }
          return slow;
        },
        // One chunk, where the rows lie.
        [&](size_t row, size_t rows, size_t first, size_t count) {
          const uint32_t every = (1u << rows) - 1;
          if (k != kChunk || count != kTileLanes || !finite_ || rule_.emulated) return every;
          loops_.tile.scaled({&of.twice[row * k], &all[row * k / kGroup], rows, k}, step_of(0, first, count),
                             &d_[row * pitch_ + first], pitch_, odd.data());
          for (size_t r = 0; r < rows; ++r) {
            if (odd[r] == 0) continue;
            alignas(64) uint32_t lane[kTileLanes];
            std::memcpy(lane, &d_[(row + r) * pitch_ + first], sizeof lane);
            close(row + r, first, count, lane, odd[r]);
          }
          return 0u;
        });
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
