#include "verify/oracle/scaled_rows.h"

#include <algorithm>
#include <bit>

namespace bitwell::oracle {
namespace {

constexpr size_t kStep = 64, kGroup = 16;
constexpr uint32_t kCanonicalNaN = 0x7FFFFFFFu;
constexpr int kKept = 35;       // bits below the largest exponent
constexpr int kNothing = -139;  // exponent of a zero term
constexpr int16_t kTwiceSigned[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// A term of a step: digits * 2^(exponent - below), with what it counts as.
struct Term {
  int64_t digits;
  int exponent, below;
};

// Towards zero in units of 2^unit.
int64_t cut(const Term& t, int unit) {
  const int by = t.exponent - t.below - unit;
  if (by >= 0) return t.digits * (int64_t{1} << by);
  if (by <= -63) return 0;
  return t.digits < 0 ? -(-t.digits >> -by) : t.digits >> -by;
}

Term addend(uint32_t c) {
  const int field = static_cast<int>(c >> 23 & 0xFF);
  const auto fraction = static_cast<int64_t>(c & 0x7FFFFF);
  const int64_t digits = field == 0 ? fraction : fraction | 1 << 23;
  return {c >> 31 != 0 ? -digits : digits, digits == 0 ? kNothing : std::max(field, 1) - 127, 23};
}

// total * 2^unit in fp32, towards zero; 0 has no sign.
uint32_t packed(int64_t total, int unit) {
  if (total == 0) return 0;
  const uint32_t sign = total < 0 ? 0x80000000u : 0;
  const auto size = static_cast<uint64_t>(total < 0 ? -total : total);
  const int top = 63 - std::countl_zero(size);
  const int exponent = std::max(top + unit, -126);
  const int away = exponent - 23 - unit;  // bits below the fraction
  const uint64_t digits = away >= 64 ? 0 : away >= 0 ? size >> away : size << -away;
  if (digits == 0) return 0;
  if (exponent > 127) return sign | 0x7F800000u;
  const uint32_t field = digits >> 23 != 0 ? static_cast<uint32_t>(exponent + 127) << 23 : 0;
  return sign | field | (static_cast<uint32_t>(digits) & 0x7FFFFF);
}

}  // namespace

ScaledRow::ScaledRow(std::span<const uint8_t> codes, std::span<const uint8_t> scales) {
  const size_t steps = (codes.size() + kStep - 1) / kStep;
  twice_.resize(steps * kStep);
  scales_.resize(steps * kStep / kGroup);
  nan_.resize(steps);
  for (size_t i = 0; i < codes.size(); ++i) twice_[i] = kTwiceSigned[codes[i] & 15];
  for (size_t g = 0; g < scales.size(); ++g) {
    const int field = scales[g] >> 3 & 15, fraction = scales[g] & 7;
    scales_[g] = {static_cast<int16_t>(field == 0 ? fraction : 8 + fraction),
                  static_cast<int16_t>(std::max(field, 1) - 7)};
    if ((scales[g] & 0x7F) == 0x7F) nan_[g / 4] = 1;
  }
}

uint32_t scaled_sum(const ScaledRow& a, const ScaledRow& b, uint32_t c, size_t from, size_t to) {
  for (size_t step = from / kStep; step * kStep < to; ++step) {
    if (a.nan_[step] != 0 || b.nan_[step] != 0 || (c & 0x7FFFFFFF) > 0x7F800000) return kCanonicalNaN;
    if ((c & 0x7FFFFFFF) == 0x7F800000) continue;
    std::array<Term, 5> terms;
    terms[4] = addend(c);
    int largest = terms[4].exponent;
    for (size_t g = 0; g < 4; ++g) {
      const int16_t* const x = &a.twice_[step * kStep + g * kGroup];
      const int16_t* const y = &b.twice_[step * kStep + g * kGroup];
      int32_t sum = 0, any = 0;
      for (size_t i = 0; i < kGroup; ++i) {
        sum += x[i] * y[i];
        any |= x[i] * y[i];
      }
      const ScaledRow::Scale s = a.scales_[step * 4 + g], t = b.scales_[step * 4 + g];
      const int scale = s.digits * t.digits;
      // The product of the scales alone makes the exponent, unless every product of the group is zero.
      terms[g] = {int64_t{sum} * scale, any == 0 || scale == 0 ? kNothing : s.exponent + t.exponent, 8};
      largest = std::max(largest, terms[g].exponent);
    }
    int64_t total = 0;
    for (const Term& t : terms) total += cut(t, largest - kKept);
    c = packed(total, largest - kKept);
  }
  return c;
}

}  // namespace bitwell::oracle
