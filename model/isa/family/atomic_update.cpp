#include "model/isa/family/atomic_update.h"

#include <bit>
#include <optional>

#include "model/number/arithmetic.h"

namespace bitwell::isa {
namespace {

template <class T>
uint64_t integer_update(AtomicOperation operation, uint64_t old_bits, uint64_t b_bits, uint64_t c_bits) {
  const T old = static_cast<T>(old_bits);
  const T b = static_cast<T>(b_bits);
  switch (operation) {
    case AtomicOperation::band: return static_cast<uint64_t>(old & b);
    case AtomicOperation::bor: return static_cast<uint64_t>(old | b);
    case AtomicOperation::bxor: return static_cast<uint64_t>(old ^ b);
    case AtomicOperation::exch: return b_bits;
    case AtomicOperation::cas: return old == b ? c_bits : old_bits;
    case AtomicOperation::add: return old_bits + b_bits;
    case AtomicOperation::inc: return old >= b ? 0 : old_bits + 1;
    case AtomicOperation::dec: return old == 0 || old > b ? b_bits : old_bits - 1;
    case AtomicOperation::min: return static_cast<uint64_t>(old < b ? old : b);
    case AtomicOperation::max: return static_cast<uint64_t>(old > b ? old : b);
  }
  return 0;
}

// The lesser (`greater`: greater) of two floating-point codes; a NaN loses, two NaNs are canonical, -0 is
// less than +0.
uint64_t choose(const number::Format& f, bool greater, uint64_t x, uint64_t y) {
  const auto is_nan = [&](uint64_t v) { return (v & f.magnitude_mask()) > f.max_code() + 1; };
  if (is_nan(x) && is_nan(y)) return f.canonical_nan();
  if (is_nan(x)) return y;
  if (is_nan(y)) return x;
  const auto key = [&](uint64_t v) {
    const auto magnitude = static_cast<int64_t>(v & f.magnitude_mask());
    return (v & f.sign_mask()) != 0 ? -magnitude - 1 : magnitude;
  };
  return (key(x) < key(y)) != greater ? x : y;
}

// A sum by the host's own, where it is a number: what NaN become is model/number's matter.
template <class T, class Bits>
std::optional<uint64_t> host_sum(uint64_t a, uint64_t b, bool ftz) {
  constexpr Bits exponent = sizeof(T) == 4 ? Bits{0x7F800000} : static_cast<Bits>(0x7FF0000000000000);
  const auto number = [&](uint64_t v) {
    const auto bits = static_cast<Bits>(v);
    return std::bit_cast<T>(ftz && (bits & exponent) == 0 ? bits & ~(~Bits{0} >> 1) : bits);
  };
  const T sum = number(a) + number(b);
  if (sum != sum) return std::nullopt;
  return std::bit_cast<Bits>(number(std::bit_cast<Bits>(sum)));
}

}  // namespace

bool commutes(AtomicOperation operation, ElementType type) {
  const bool integer = type == ElementType::u32 || type == ElementType::s32 || type == ElementType::u64 ||
                       type == ElementType::s64;
  switch (operation) {
    case AtomicOperation::band:
    case AtomicOperation::bor:
    case AtomicOperation::bxor: return type != ElementType::b128;
    case AtomicOperation::add:
    case AtomicOperation::min:
    case AtomicOperation::max: return integer;
    default: return false;
  }
}

uint64_t atomic_update(AtomicOperation operation, ElementType type, AtomicPlace place, uint64_t old,
                       uint64_t b, uint64_t c) {
  const auto add = [&](const number::Format& f, uint64_t x, uint64_t y) {
    if (operation != AtomicOperation::add) return choose(f, operation == AtomicOperation::max, x, y);
    const bool ftz = place == AtomicPlace::global && f.bits == 32;
    std::optional<uint64_t> sum;
    if (f.bits == 32) sum = host_sum<float, uint32_t>(x, y, ftz);
    if (f.bits == 64) sum = host_sum<double, uint64_t>(x, y, false);
    return sum ? *sum : number::add(f, x, y, {.ftz = ftz});
  };
  const auto pair = [&](const number::Format& f) {
    return add(f, old & 0xFFFF, b & 0xFFFF) | add(f, old >> 16 & 0xFFFF, b >> 16 & 0xFFFF) << 16;
  };
  switch (type) {
    case ElementType::f32: return add(number::f32, old, b);
    case ElementType::f64:
      if (place == AtomicPlace::bulk)
        for (const uint64_t v : {b, old})
          if ((v & number::f64.magnitude_mask()) > number::f64.max_code() + 1) return v;
      return add(number::f64, old, b);
    case ElementType::f16: return add(number::f16, old, b);
    case ElementType::bf16: return add(number::bf16, old, b);
    case ElementType::f16x2: return pair(number::f16);
    case ElementType::bf16x2: return pair(number::bf16);
    case ElementType::s32: return integer_update<int32_t>(operation, old, b, c);
    case ElementType::s64: return integer_update<int64_t>(operation, old, b, c);
    case ElementType::u64: return integer_update<uint64_t>(operation, old, b, c);
    case ElementType::b16: return integer_update<uint16_t>(operation, old, b, c);
    default: return integer_update<uint32_t>(operation, old, b, c);
  }
}

size_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::b16: return 2;
    case ElementType::u64:
    case ElementType::s64:
    case ElementType::f64: return 8;
    case ElementType::b128: return 16;
    default: return 4;
  }
}

}  // namespace bitwell::isa
