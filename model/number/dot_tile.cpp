#include "model/number/dot_tile.h"

#include <algorithm>
#include <stdexcept>

#include "model/number/aligned_sum.h"
#include "model/number/arithmetic.h"
#include "model/number/block_dot.h"
#include "model/number/decode.h"
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

TileLanes lanes_of(std::string_view level) {
  if (level.empty()) level = has_level("avx512") ? "avx512" : has_level("avx2") ? "avx2" : "scalar";
  if (level == "avx512") return avx512::make_tile_lanes();
  return level == "avx2" ? avx2::make_tile_lanes() : scalar::make_tile_lanes();
}

size_t padded(size_t columns) { return (columns + kTileLanes - 1) / kTileLanes * kTileLanes; }

bool finite(const Format& f, uint32_t code) {
  const Exact v = decode(f, code);
  return !v.is_nan() && !v.is_infinity();
}

// The emulation of fp8 takes the products with k % 4 in {0, 1} first: the place of each k.
std::vector<size_t> order_of(const DotRule& rule, size_t k) {
  std::vector<size_t> out;
  for (size_t half = 0; half < (rule.emulated ? 2 : 1); ++half)
    for (size_t i = 0; i < k; ++i)
      if (!rule.emulated || i % 4 / 2 == half) out.push_back(i);
  return out;
}

int32_t signed_significand(const Operand& o) {
  const auto magnitude = static_cast<int32_t>(o.significand);
  return o.negative ? -magnitude : magnitude;
}

// Twice the value of an E2M1 code.
int16_t twice(uint8_t code) {
  static constexpr int16_t magnitudes[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  return static_cast<int16_t>((code & 8) != 0 ? -magnitudes[code & 7] : magnitudes[code & 7]);
}

struct Scale {
  int32_t significand, exponent;
};
Scale scale_of(const Format& f, uint8_t code) {
  if (f.special == Special::scale) return {1, code - f.bias};
  const Operand o = operand(f, code);
  return {static_cast<int32_t>(o.significand), o.exponent};
}

}  // namespace

PlainColumns prepare_columns(const Format& format, std::span<const uint32_t> codes, size_t columns,
                             size_t k) {
  if (codes.size() != columns * k) throw std::invalid_argument("prepare_columns: columns * k codes");
  PlainColumns out{columns, k, &format, {codes.begin(), codes.end()}, {}, {}, {}};
  const size_t stride = padded(columns);
  out.significand.resize(k * stride);
  out.exponent.resize(k * stride);
  out.special.resize(columns);
  for (size_t c = 0; c < columns; ++c)
    for (size_t i = 0; i < k; ++i) {
      const uint32_t code = codes[c * k + i];
      if (!finite(format, code)) out.special[c] = 1;
      const Operand o = operand(format, code);
      out.significand[i * stride + c] = signed_significand(o);
      out.exponent[i * stride + c] = o.exponent;
    }
  return out;
}

void dot_tile(const DotRule& rule, std::span<const uint32_t> a, size_t rows, const PlainColumns& b,
              std::span<uint32_t> d, std::string_view level) {
  if (a.size() != rows * b.k || d.size() != rows * b.columns) throw std::invalid_argument("dot_tile: sizes");
  const TileLanes lanes = lanes_of(level);
  const size_t stride = padded(b.columns);
  const std::vector<size_t> order = order_of(rule, b.k);
  // The emulation's columns in the order that it takes them; chunks end where its first half does.
  std::vector<int32_t> moved_significand;
  std::vector<int32_t> moved_exponent;
  size_t first_half = b.k;
  if (rule.emulated) {
    first_half =
        static_cast<size_t>(std::count_if(order.begin(), order.end(), [](size_t i) { return i % 4 < 2; }));
    for (const size_t i : order) {
      const auto at = static_cast<std::ptrdiff_t>(i * stride);
      const auto end = static_cast<std::ptrdiff_t>((i + 1) * stride);
      moved_significand.insert(moved_significand.end(), b.significand.begin() + at,
                               b.significand.begin() + end);
      moved_exponent.insert(moved_exponent.end(), b.exponent.begin() + at, b.exponent.begin() + end);
    }
  }
  const std::vector<int32_t>& column_significand = rule.emulated ? moved_significand : b.significand;
  const std::vector<int32_t>& column_exponent = rule.emulated ? moved_exponent : b.exponent;
  std::vector<int32_t> significand(b.k);
  std::vector<int32_t> exponent(b.k);
  for (size_t row = 0; row < rows; ++row) {
    bool special = false;
    for (size_t i = 0; i < b.k; ++i) {
      const uint32_t code = a[row * b.k + order[i]];
      special = special || !finite(*b.format, code);
      const Operand o = operand(*b.format, code);
      significand[i] = signed_significand(o);
      exponent[i] = o.exponent;
    }
    for (size_t first = 0; first < b.columns; first += kTileLanes) {
      const size_t count = std::min(kTileLanes, b.columns - first);
      uint32_t slow = 0;  // columns that the definition computes from the start
      alignas(64) uint32_t lane[kTileLanes] = {};
      for (size_t c = 0; c < count; ++c) {
        const uint32_t addend = d[row * b.columns + first + c];
        const bool odd = special || b.special[first + c] != 0 || !finite(*rule.output, addend);
        slow |= static_cast<uint32_t>(odd) << c;
        lane[c] = odd || rule.emulated ? 0 : addend;
      }
      for (size_t i = 0; i < b.k;) {
        const size_t end = std::min(i + static_cast<size_t>(rule.length), i < first_half ? first_half : b.k);
        const PlainStep step{&column_significand[i * stride + first],
                             &column_exponent[i * stride + first],
                             stride,
                             static_cast<int>(end - i),
                             2 * b.format->fraction_bits,
                             rule.fraction_bits,
                             rule.zero_exponent,
                             rule.rounding};
        slow |= lanes.plain({&significand[i], &exponent[i]}, step, lane);
        // An fp16 sum may have become infinite: the next chunk would read it as a number.
        if (rule.output == &f16)
          for (size_t c = 0; c < count; ++c) slow |= static_cast<uint32_t>((lane[c] & 0x7C00) == 0x7C00) << c;
        i = end;
      }
      for (size_t c = 0; c < count; ++c) {
        uint32_t& out = d[row * b.columns + first + c];
        if ((slow >> c & 1) != 0)
          out = dot(rule, *b.format, a.subspan(row * b.k, b.k),
                    std::span(b.codes).subspan((first + c) * b.k, b.k), out);
        else if (rule.emulated)
          out = static_cast<uint32_t>(add(*rule.output, lane[c], out, {}));
        else
          out = lane[c];
      }
    }
  }
}

ScaledColumns prepare_scaled_columns(const Format& scale, std::span<const uint8_t> codes,
                                     std::span<const uint8_t> scales, size_t columns, size_t k) {
  if (k % 64 != 0 || codes.size() != columns * k || scales.size() != columns * k / 16)
    throw std::invalid_argument("prepare_scaled_columns: sizes");
  ScaledColumns out;
  out.columns = columns;
  out.k = k;
  out.scale = &scale;
  out.codes.assign(codes.begin(), codes.end());
  out.scales.assign(scales.begin(), scales.end());
  const size_t stride = padded(columns);
  out.twice.resize(k * stride);
  out.occupied.resize(k / 16 * stride);
  out.scale_significand.resize(k / 16 * stride);
  out.scale_exponent.resize(k / 16 * stride);
  out.special.resize(columns);
  for (size_t c = 0; c < columns; ++c) {
    for (size_t i = 0; i < k; ++i) {
      const int16_t v = twice(codes[c * k + i]);
      out.twice[i * stride + c] = v;
      if (v != 0) out.occupied[i / 16 * stride + c] |= static_cast<uint16_t>(1u << i % 16);
    }
    for (size_t g = 0; g < k / 16; ++g) {
      const uint8_t code = scales[c * k / 16 + g];
      if (decode(scale, code).is_nan()) out.special[c] = 1;
      const Scale s = scale_of(scale, code);
      out.scale_significand[g * stride + c] = s.significand;
      out.scale_exponent[g * stride + c] = s.exponent;
    }
  }
  return out;
}

void mxf4nvf4_tile(std::span<const uint8_t> a, std::span<const uint8_t> scales, size_t rows,
                   const ScaledColumns& b, std::span<uint32_t> d, std::string_view level) {
  if (a.size() != rows * b.k || scales.size() != rows * b.k / 16 || d.size() != rows * b.columns)
    throw std::invalid_argument("mxf4nvf4_tile: sizes");
  const TileLanes lanes = lanes_of(level);
  const size_t stride = padded(b.columns);
  const auto definition = [&](size_t row, size_t column) {
    uint32_t out = d[row * b.columns + column];
    for (size_t i = 0; i < b.k; i += 64) {
      uint32_t x[64];
      uint32_t y[64];
      for (size_t j = 0; j < 64; ++j) {
        x[j] = a[row * b.k + i + j];
        y[j] = b.codes[column * b.k + i + j];
      }
      out = mxf4nvf4_dot(x, y, out, *b.scale, scales.subspan((row * b.k + i) / 16, 4),
                         std::span(b.scales).subspan((column * b.k + i) / 16, 4));
    }
    d[row * b.columns + column] = out;
  };
  std::vector<int16_t> values(b.k);
  std::vector<uint16_t> occupied(b.k / 16);
  std::vector<int32_t> significand(b.k / 16);
  std::vector<int32_t> exponent(b.k / 16);
  for (size_t row = 0; row < rows; ++row) {
    bool special = false;
    std::fill(occupied.begin(), occupied.end(), uint16_t{0});
    for (size_t i = 0; i < b.k; ++i) {
      values[i] = twice(a[row * b.k + i]);
      if (values[i] != 0) occupied[i / 16] |= static_cast<uint16_t>(1u << i % 16);
    }
    for (size_t g = 0; g < b.k / 16; ++g) {
      const uint8_t code = scales[row * b.k / 16 + g];
      special = special || decode(*b.scale, code).is_nan();
      const Scale s = scale_of(*b.scale, code);
      significand[g] = s.significand;
      exponent[g] = s.exponent;
    }
    for (size_t first = 0; first < b.columns; first += kTileLanes) {
      const size_t count = std::min(kTileLanes, b.columns - first);
      uint32_t slow = 0;
      alignas(64) uint32_t lane[kTileLanes] = {};
      for (size_t c = 0; c < count; ++c) {
        lane[c] = d[row * b.columns + first + c];
        if (special || b.special[first + c] != 0 || !finite(f32, lane[c])) {
          slow |= 1u << c;
          lane[c] = 0;
        }
      }
      for (size_t i = 0; i < b.k; i += 64) {
        const size_t g = i / 16;
        const ScaledStep step{&b.twice[i * stride + first],
                              &b.occupied[g * stride + first],
                              &b.scale_significand[g * stride + first],
                              &b.scale_exponent[g * stride + first],
                              stride,
                              2 * b.scale->fraction_bits};
        slow |= lanes.scaled({&values[i], &occupied[g], &significand[g], &exponent[g]}, step, lane);
      }
      for (size_t c = 0; c < count; ++c) {
        if ((slow >> c & 1) != 0)
          definition(row, first + c);
        else
          d[row * b.columns + first + c] = lane[c];
      }
    }
  }
}

}  // namespace bitwell::number
