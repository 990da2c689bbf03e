#include "model/number/special_function.h"

#include <lzma.h>

#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

// The tables, inside the library: differences of a byte, compressed with xz.
#define BITWELL_TABLE(name)                                                                 \
  asm(".section .rodata\n.balign 16\n.global bitwell_table_" #name "\nbitwell_table_" #name \
      ":\n.incbin \"" BITWELL_TABLES "/" #name ".xz\"\n.global bitwell_table_" #name        \
      "_end\nbitwell_table_" #name "_end:\n.byte 0\n.previous\n");                          \
  extern "C" const uint8_t bitwell_table_##name[];                                          \
  extern "C" const uint8_t bitwell_table_##name##_end[]
BITWELL_TABLE(rcp);
BITWELL_TABLE(rsqrt);
BITWELL_TABLE(sqrt);
BITWELL_TABLE(ex2);

namespace bitwell::number {
namespace {

constexpr uint32_t kNaN = 0x7FFFFFFF;
constexpr uint32_t kInfinity = 0x7F800000;

std::vector<int8_t> unpacked(const uint8_t* first, const uint8_t* last, size_t size) {
  std::vector<int8_t> out(size);
  uint64_t memory = UINT64_MAX;
  size_t in = 0;
  size_t at = 0;
  const lzma_ret r =
      lzma_stream_buffer_decode(&memory, 0, nullptr, first, &in, static_cast<size_t>(last - first),
                                reinterpret_cast<uint8_t*>(out.data()), &at, size);
  if (r != LZMA_OK || at != size) throw std::runtime_error("a table of the special-function unit is damaged");
  return out;
}

// Unpacked on first use.
template <SpecialFunction function>
const int8_t* table(const uint8_t* first, const uint8_t* last) {
  static const std::vector<int8_t> all = unpacked(first, last, table_shape(function).size);
  return all.data();
}

uint32_t entry(SpecialFunction function, uint32_t index) {
  using enum SpecialFunction;
  const int8_t* differences = nullptr;
  switch (function) {
    case rcp: differences = table<rcp>(bitwell_table_rcp, bitwell_table_rcp_end); break;
    case rsqrt: differences = table<rsqrt>(bitwell_table_rsqrt, bitwell_table_rsqrt_end); break;
    case sqrt: differences = table<sqrt>(bitwell_table_sqrt, bitwell_table_sqrt_end); break;
    case ex2: differences = table<ex2>(bitwell_table_ex2, bitwell_table_ex2_end); break;
  }
  return table_base(function, index) + static_cast<uint32_t>(differences[index]);
}

// An entry with its exponent moved by `exponent`; tiny ones are zero, huge ones infinite.
uint32_t scaled(uint32_t value, int exponent) {
  const int e = static_cast<int>(value >> 23) + exponent;
  if (e <= 0) return 0;
  if (e >= 255) return kInfinity;
  return static_cast<uint32_t>(e) << 23 | (value & 0x7FFFFF);
}

// 2^x: the unit reads |x| as a fixed-point number of 23 fraction bits, the rest cut off. It negates that by
// complementing the fraction and the integer; a fraction of zero stays zero.
uint32_t exp2(uint32_t x) {
  const bool negative = x >> 31 != 0;
  const int e = static_cast<int>(x >> 23 & 255) - 127;
  if (e >= 8) return negative ? 0 : kInfinity;
  const uint64_t significand = (x & 0x7FFFFF) | 0x800000;
  const uint64_t fixed = e >= 0 ? significand << e : e < -24 ? 0 : significand >> -e;
  auto fraction = static_cast<uint32_t>(fixed & 0x7FFFFF);
  auto integer = static_cast<int>(fixed >> 23);
  if (negative) {
    integer = fraction == 0 ? -integer : ~integer;
    fraction = fraction == 0 ? 0 : 0x7FFFFF - fraction;
  }
  // The table's entries are those of [1, 2), whose results have exponent 1.
  return scaled(entry(SpecialFunction::ex2, fraction), integer - 1);
}

}  // namespace

TableShape table_shape(SpecialFunction function) {
  const bool two_binades = function == SpecialFunction::rsqrt || function == SpecialFunction::sqrt;
  return {0x3F800000, size_t{1} << (two_binades ? 24 : 23)};
}

uint32_t table_base(SpecialFunction function, uint32_t index) {
  const auto x = static_cast<double>(std::bit_cast<float>(0x3F800000 + index));
  double y = 0;
  switch (function) {
    case SpecialFunction::rcp: y = 1 / x; break;
    case SpecialFunction::rsqrt: y = 1 / std::sqrt(x); break;
    case SpecialFunction::sqrt: y = std::sqrt(x); break;
    case SpecialFunction::ex2: {
      // The exponential series by Horner's rule, for host libraries differ: 2^x = 2 e^(ln 2 (x - 1)).
      const double t = (x - 1) * 0.693147180559945309;
      y = 1;
      for (int k = 16; k > 0; --k) y = 1 + y * t / k;
      y *= 2;
      break;
    }
  }
  return std::bit_cast<uint32_t>(static_cast<float>(y));
}

uint32_t special_function(SpecialFunction function, uint32_t x) {
  using enum SpecialFunction;
  const uint32_t sign = x & 0x80000000;
  const int e = static_cast<int>(x >> 23 & 255);
  const uint32_t fraction = x & 0x7FFFFF;
  if (e == 255 && fraction != 0) return kNaN;
  if (function == ex2) return e == 0 ? 0x3F800000 : exp2(x);
  if (e == 0) return function == sqrt ? sign : sign | kInfinity;
  if (function == rcp) return e == 255 ? sign : sign | scaled(entry(rcp, fraction), 127 - e);
  if (sign != 0) return kNaN;
  if (e == 255) return function == sqrt ? kInfinity : 0;
  const int odd = (e - 127) & 1;
  const int half = (e - 127 - odd) / 2;
  return scaled(entry(function, static_cast<uint32_t>(odd) << 23 | fraction),
                function == sqrt ? half : -half);
}

}  // namespace bitwell::number
