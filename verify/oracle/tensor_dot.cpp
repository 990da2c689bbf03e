#include "verify/oracle/tensor_dot.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

namespace bitwell::oracle {
namespace {

// Wide enough for every sum here: a product of two words has 48 digits, 33 of them six more, and none is
// shifted up by more than the fraction bits of its rule. shifted_up() sees to that.
__extension__ typedef __int128 Integer;
constexpr int kWidth = 127;

int msb(Integer positive) {
  const auto high = static_cast<uint64_t>(positive >> 64);
  return high != 0 ? 63 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(positive)) - 1;
}
// Of what is not negative.
Integer shifted_up(Integer digits, int by) {
  if (digits == 0) return 0;
  if (msb(digits) + by >= kWidth) throw std::logic_error("a sum of the oracle is wider than its integers");
  return digits << by;
}
Integer shifted_down(Integer digits, int by) { return by < kWidth ? digits >> by : 0; }

constexpr uint32_t kNaN32 = 0x7FFFFFFFu;
constexpr uint32_t kNaN16 = 0x7FFFu;
constexpr FieldFormat kSingle{8, 23, 127, 1, 0};
constexpr FieldFormat kHalf{5, 10, 15, 1, 0};

enum class Class { number, infinite, nan };
struct Word {
  Class kind = Class::number;
  bool minus = false;
  Integer digits = 0;  // value = digits * 2^scale
  int scale = 0;
  int exponent = 0;  // as encoded
};

Word open(const FieldFormat& f, uint32_t word) {
  word >>= f.dropped;
  const uint32_t fraction = word & ((1u << f.fraction_bits) - 1);
  const uint32_t top = (1u << f.exponent_bits) - 1;
  const uint32_t field = word >> f.fraction_bits & top;
  Word w;
  w.minus = (word >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
  if (f.specials == 1 && field == top) w.kind = fraction == 0 ? Class::infinite : Class::nan;
  if (f.specials == 2 && field == top && fraction + 1 == 1u << f.fraction_bits) w.kind = Class::nan;
  w.exponent = (field == 0 ? 1 : static_cast<int>(field)) - f.bias;
  w.digits = field == 0 ? fraction : fraction + (1u << f.fraction_bits);
  w.scale = w.exponent - f.fraction_bits;
  return w;
}

struct Addend {
  bool minus;
  Integer digits;
  int scale;
  int exponent;
};

// Towards zero at 2^unit, with its sign.
Integer cut(const Addend& t, int unit) {
  const Integer d =
      t.scale >= unit ? shifted_up(t.digits, t.scale - unit) : shifted_down(t.digits, unit - t.scale);
  return t.minus ? -d : d;
}

// total * 2^unit as a float of `fraction` fraction bits and least exponent `least`.
uint32_t pack(Integer total, int unit, int fraction, int least, int greatest, bool nearest, int bias,
              int width) {
  const bool minus = total < 0;
  const uint32_t sign = minus ? 1u << (width - 1) : 0;
  if (total == 0) return 0;
  if (minus) total = -total;
  const int top = msb(total) + unit;
  const int grid = std::max(top, least) - fraction;
  Integer digits = total;
  if (unit >= grid) {
    digits = shifted_up(total, unit - grid);
  } else {
    const int away = grid - unit;
    if (away >= kWidth) return 0;  // all of it is less than half of the least number
    const Integer rest = total & ((Integer(1) << away) - 1);
    digits = total >> away;
    const Integer half = Integer(1) << (away - 1);
    if (nearest && (rest > half || (rest == half && (digits & 1) == 1))) ++digits;
  }
  int exponent = std::max(top, least);
  if ((digits >> (fraction + 1)) != 0) {
    digits >>= 1;
    ++exponent;
  }
  if (digits == 0) return 0;  // never -0
  if (exponent > greatest) return sign | static_cast<uint32_t>(greatest + bias + 1) << fraction;
  const bool normal = (digits >> fraction) != 0;
  const auto low = static_cast<uint32_t>(digits & ((Integer(1) << fraction) - 1));
  return sign | (normal ? static_cast<uint32_t>(exponent + bias) << fraction : 0) | low;
}

uint32_t total_of(const std::vector<Addend>& terms, int fraction_bits, int result) {
  int largest = terms[0].exponent;
  for (const Addend& t : terms) largest = std::max(largest, t.exponent);
  Integer total = 0;
  for (const Addend& t : terms) total += cut(t, largest - fraction_bits);
  const int unit = largest - fraction_bits;
  if (result == 2) return pack(total, unit, 10, -14, 15, true, 15, 16);
  const uint32_t word = pack(total, unit, 23, -126, 127, false, 127, 32);
  const uint32_t shorter = result == 1 ? word & ~0x3FFu : word;
  return (shorter & 0x7FFFFFFFu) == 0 ? 0 : shorter;
}

Addend from_c(const Word& c, int zero_exponent) {
  return {c.minus, c.digits, c.scale, c.digits == 0 ? zero_exponent : c.exponent};
}

}  // namespace

uint32_t fused_dot(const FusedDot& rule, const FieldFormat& of_a, std::span<const uint32_t> a,
                   const FieldFormat& of_b, std::span<const uint32_t> b, uint32_t c, int scale) {
  const bool half = rule.result == 2;
  const uint32_t nan = half ? kNaN16 : kNaN32;
  for (size_t first = 0; first < a.size(); first += static_cast<size_t>(rule.length)) {
    const size_t last = std::min(a.size(), first + static_cast<size_t>(rule.length));
    const Word addend = open(half ? kHalf : kSingle, c);
    bool plus_infinity = addend.kind == Class::infinite && !addend.minus;
    bool minus_infinity = addend.kind == Class::infinite && addend.minus;
    bool broken = addend.kind == Class::nan;
    std::vector<Addend> terms;
    terms.reserve(1 + last - first);
    terms.push_back(from_c(addend, rule.zero_exponent));
    for (size_t i = first; i < last; ++i) {
      const Word x = open(of_a, a[i]);
      const Word y = open(of_b, b[i]);
      const bool minus = x.minus != y.minus;
      if (x.kind == Class::nan || y.kind == Class::nan) {
        broken = true;
      } else if (x.kind == Class::infinite || y.kind == Class::infinite) {
        const bool zero =
            (x.kind == Class::number && x.digits == 0) || (y.kind == Class::number && y.digits == 0);
        broken = broken || zero;
        (minus ? minus_infinity : plus_infinity) = true;
      } else {
        const Integer digits = x.digits * y.digits;
        terms.push_back({minus, digits, x.scale + y.scale + scale,
                         digits == 0 ? rule.zero_exponent : x.exponent + y.exponent + scale});
      }
    }
    if (broken || (plus_infinity && minus_infinity))
      c = nan;
    else if (plus_infinity || minus_infinity)
      c = (half ? 0x7C00u : 0x7F800000u) | (minus_infinity ? (half ? 0x8000u : 0x80000000u) : 0);
    else
      c = total_of(terms, rule.fraction_bits, rule.result);
  }
  return c;
}

uint32_t scaled_fp4_dot(std::span<const uint32_t> a, std::span<const uint32_t> b, uint32_t c, bool ue8m0,
                        std::span<const uint8_t> scale_a, std::span<const uint8_t> scale_b) {
  // Twice the value of each E2M1 magnitude.
  static constexpr int kTwice[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  constexpr int zero_exponent = -139;
  const Word addend = open(kSingle, c);
  for (size_t i = 0; i < scale_a.size(); ++i)
    for (const uint8_t s : {scale_a[i], scale_b[i]})
      if (ue8m0 ? s == 0xFF : (s & 0x7F) == 0x7F) return kNaN32;
  if (addend.kind == Class::nan) return kNaN32;
  if (addend.kind == Class::infinite) return c;
  std::vector<Addend> terms{from_c(addend, zero_exponent)};
  for (size_t g = 0; g < 4; ++g) {
    int quadruple = 0;
    bool empty = true;
    for (size_t i = 16 * g; i < 16 * g + 16; ++i) {
      const int p = kTwice[a[i] & 7] * kTwice[b[i] & 7];
      empty = empty && p == 0;
      quadruple += ((a[i] ^ b[i]) & 8) != 0 ? -p : p;
    }
    Integer digits = quadruple < 0 ? -quadruple : quadruple;
    int scale = -2;
    int exponent = 0;
    for (const uint8_t s : {scale_a[g * scale_a.size() / 4], scale_b[g * scale_b.size() / 4]}) {
      if (ue8m0) {
        exponent += static_cast<int>(s) - 127;
        scale += static_cast<int>(s) - 127;
        continue;
      }
      const Word w = open({4, 3, 7, 2, 0}, s & 0x7Fu);
      digits *= w.digits;
      empty = empty || w.digits == 0;
      exponent += w.exponent;
      scale += w.scale;
    }
    terms.push_back({quadruple < 0, digits, scale, empty ? zero_exponent : exponent});
  }
  return total_of(terms, 35, 0);
}

uint32_t integer_dot(bool signed_a, std::span<const uint32_t> a, bool signed_b, std::span<const uint32_t> b,
                     uint32_t c, bool saturate) {
  const Integer range = Integer(1) << 32;
  const auto number = [](uint32_t bits, int width, bool with_sign) {
    return with_sign && (bits >> (width - 1) & 1) != 0 ? Integer(bits) - (Integer(1) << width)
                                                       : Integer(bits);
  };
  Integer total = number(c, 32, true);
  for (size_t i = 0; i < a.size(); ++i) total += number(a[i], 8, signed_a) * number(b[i], 8, signed_b);
  if (saturate && total >= range / 2) return 0x7FFFFFFFu;
  if (saturate && total < -range / 2) return 0x80000000u;
  total %= range;
  if (total < 0) total += range;
  return static_cast<uint32_t>(total);
}

}  // namespace bitwell::oracle
