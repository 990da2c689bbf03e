// Integer arithmetic, logic, shifts and bit fields (PTX ISA 9.0, 9.7.1, 9.7.2, 9.7.8).
#include <type_traits>

#include "model/isa/lanes/lanes.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

template <class T>
struct Wide;
template <>
struct Wide<u16> {
  using type = u32;
};
template <>
struct Wide<s16> {
  using type = s32;
};
template <>
struct Wide<u32> {
  using type = u64;
};
template <>
struct Wide<s32> {
  using type = s64;
};
template <>
struct Wide<u64> {
  using type = u128;
};
template <>
struct Wide<s64> {
  using type = s128;
};
template <class T>
using wide = typename Wide<T>::type;

template <class T>
constexpr int kBits = 8 * sizeof(T);

s32 saturate(s64 v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : static_cast<s32>(v); }

// Multiplication modulo 2^bits without signed overflow.
template <class T>
T mul_lo(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
}
template <class T>
T mul_hi(T a, T b) {
  return static_cast<T>((static_cast<wide<T>>(a) * static_cast<wide<T>>(b)) >> kBits<T>);
}

// Division by zero has no defined result in PTX; hardware gives all ones (quotient) and the dividend
// (remainder), as the probes on the H200 show.
template <class T>
T divide(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (T(-1) < T(0)) {
    if (b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<u64>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (T(-1) < T(0)) {
    if (b == static_cast<T>(-1)) return 0;
  }
  return static_cast<T>(a % b);
}

template <class T>
void arithmetic(Catalog& c, const std::string& t) {
  c["add." + t] =
      binary<T>([](T a, T b) { return static_cast<T>(static_cast<u64>(a) + static_cast<u64>(b)); });
  c["sub." + t] =
      binary<T>([](T a, T b) { return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(b)); });
  c["mul.lo." + t] = binary<T>([](T a, T b) { return mul_lo<T>(a, b); });
  c["mul.hi." + t] = binary<T>([](T a, T b) { return mul_hi<T>(a, b); });
  c["mad.lo." + t] = ternary<T>(
      [](T a, T b, T d) { return static_cast<T>(static_cast<u64>(mul_lo<T>(a, b)) + static_cast<u64>(d)); });
  c["mad.hi." + t] = ternary<T>(
      [](T a, T b, T d) { return static_cast<T>(static_cast<u64>(mul_hi<T>(a, b)) + static_cast<u64>(d)); });
  c["div." + t] = binary<T>([](T a, T b) { return divide<T>(a, b); });
  c["rem." + t] = binary<T>([](T a, T b) { return remainder<T>(a, b); });
  c["min." + t] = binary<T>([](T a, T b) { return a < b ? a : b; });
  c["max." + t] = binary<T>([](T a, T b) { return a > b ? a : b; });
  if constexpr (sizeof(T) < 8) {
    using W = wide<T>;
    c["mul.wide." + t] =
        binary<W, T, T>([](T a, T b) { return static_cast<W>(static_cast<W>(a) * static_cast<W>(b)); });
    c["mad.wide." + t] = ternary<W, T, T, W>([](T a, T b, W d) {
      return static_cast<W>(static_cast<u64>(static_cast<W>(a) * static_cast<W>(b)) + static_cast<u64>(d));
    });
  }
  c["sad." + t] = ternary<T>([](T a, T b, T d) {
    const u64 difference =
        a < b ? static_cast<u64>(b) - static_cast<u64>(a) : static_cast<u64>(a) - static_cast<u64>(b);
    return static_cast<T>(static_cast<u64>(d) + difference);
  });
  if constexpr (T(-1) < T(0)) {
    c["abs." + t] = unary<T>([](T a) { return a < 0 ? static_cast<T>(0 - static_cast<u64>(a)) : a; });
    c["neg." + t] = unary<T>([](T a) { return static_cast<T>(0 - static_cast<u64>(a)); });
  }
  c["shr." + t] = binary<T, T, u32>([](T a, u32 n) {
    const u32 limit = kBits<T> - 1;
    if constexpr (T(-1) < T(0)) return static_cast<T>(a >> (n < limit ? n : limit));
    return n > limit ? T(0) : static_cast<T>(a >> (n & limit));
  });
}

template <class T>
void logic(Catalog& c, const std::string& t) {
  c["and." + t] = binary<T>([](T a, T b) { return static_cast<T>(a & b); });
  c["or." + t] = binary<T>([](T a, T b) { return static_cast<T>(a | b); });
  c["xor." + t] = binary<T>([](T a, T b) { return static_cast<T>(a ^ b); });
  c["not." + t] = unary<T>([](T a) { return static_cast<T>(~a); });
  c["cnot." + t] = unary<T>([](T a) { return static_cast<T>(a == 0 ? 1 : 0); });
  c["mov." + t] = unary<T>([](T a) { return a; });
  c["shr." + t] = binary<T, T, u32>(
      [](T a, u32 n) { return n >= kBits<T> ? T(0) : static_cast<T>(a >> (n & (kBits<T> - 1))); });
  c["shl." + t] = binary<T, T, u32>([](T a, u32 n) {
    return n >= kBits<T> ? T(0) : static_cast<T>(static_cast<u64>(a) << (n & (kBits<T> - 1)));
  });
}

template <class T>
void bit_counts(Catalog& c, const std::string& t) {
  c["popc." + t] = unary<u32, T>([](T a) { return static_cast<u32>(__builtin_popcountll(a)); });
  c["clz." + t] = unary<u32, T>(
      [](T a) { return a == 0 ? u32{kBits<T>} : static_cast<u32>(__builtin_clzll(a)) - (64 - kBits<T>); });
  c["brev." + t] = unary<T>([](T a) {
    T r = 0;
    for (int i = 0; i < kBits<T>; ++i) r = static_cast<T>(r << 1) | (a >> i & 1);
    return r;
  });
}

// Start and length of a bit field: the 32-bit forms use the low 8 bits of the operand, the 64-bit forms all
// of it (H200).
template <class T>
u64 field(u32 operand) {
  return sizeof(T) == 4 ? operand & 0xFF : operand;
}

// bfind: position of the highest bit that differs from the sign; .shiftamt: how far to shift it to the top.
template <class T>
void bit_find(Catalog& c, const std::string& t) {
  const auto find = [](T a) {
    u64 v = static_cast<u64>(static_cast<std::make_unsigned_t<T>>(a));
    if constexpr (T(-1) < T(0)) {
      if (a < 0) v = static_cast<u64>(static_cast<std::make_unsigned_t<T>>(~a));
    }
    return v == 0 ? ~0u : 63u - static_cast<u32>(__builtin_clzll(v));
  };
  c["bfind." + t] = unary<u32, T>(find);
  c["bfind.shiftamt." + t] = unary<u32, T>([](T a) {
    const u32 at = decltype(find){}(a);
    return at == ~0u ? at : kBits<T> - 1 - at;
  });
  // bfe: positions beyond the top read the sign bit (signed) or zero.
  c["bfe." + t] = ternary<T, T, u32, u32>([](T a, u32 start32, u32 length32) {
    const u64 start = field<T>(start32);
    const u64 length = field<T>(length32);
    constexpr u64 msb = kBits<T> - 1;
    const bool is_signed = T(-1) < T(0);
    u64 sign = 0;
    if (is_signed && length != 0) {
      const u64 top = start + length - 1 < msb ? start + length - 1 : msb;
      sign = static_cast<u64>(a) >> top & 1;
    }
    u64 r = 0;
    for (u64 i = 0; i <= msb; ++i) {
      const u64 bit = i < length && start + i <= msb ? static_cast<u64>(a) >> (start + i) & 1 : sign;
      r |= bit << i;
    }
    return static_cast<T>(r);
  });
}

template <class T>
T bit_insert(T a, T b, u32 start32, u32 length32) {
  const u64 start = field<T>(start32);
  const u64 length = field<T>(length32);
  if (start >= kBits<T> || length == 0) return b;
  const T field = length >= kBits<T> ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << length) - 1);
  const T mask = static_cast<T>(field << start);
  return static_cast<T>((b & ~mask) | ((a << start) & mask));
}

// d = bfi(a, b, c, e): the only four-operand lane operations use op.e.
template <class T>
void bfi(const Op& op, std::byte* rows, uint32_t mask) {
  T* d = row<T>(rows, op.d);
  const T* a = row<T>(rows, op.a);
  const T* b = row<T>(rows, op.b);
  const u32* start = row<u32>(rows, op.c);
  const u32* length = row<u32>(rows, op.e);
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) d[i] = bit_insert<T>(a[i], b[i], start[i], length[i]);
}

// The low 24 bits of an operand, by its sign.
inline s64 low24(s32 a) { return static_cast<s32>(static_cast<u32>(a) << 8) >> 8; }
inline u64 low24(u32 a) { return a & 0xFFFFFF; }

// mul24 and mad24: the low or the high 32 bits of a product of 48.
template <class T>
void products24(Catalog& c, const std::string& t) {
  c["mul24.lo." + t] = binary<T>([](T a, T b) { return static_cast<T>(low24(a) * low24(b)); });
  c["mul24.hi." + t] = binary<T>([](T a, T b) { return static_cast<T>(low24(a) * low24(b) >> 16); });
  c["mad24.lo." + t] = ternary<T>([](T a, T b, T d) {
    return static_cast<T>(static_cast<u32>(low24(a) * low24(b)) + static_cast<u32>(d));
  });
  c["mad24.hi." + t] = ternary<T>([](T a, T b, T d) {
    return static_cast<T>(static_cast<u32>(low24(a) * low24(b) >> 16) + static_cast<u32>(d));
  });
}

void odds(Catalog& c) {
  c["add.sat.s32"] = binary<s32>([](s32 a, s32 b) { return saturate(static_cast<s64>(a) + b); });
  c["sub.sat.s32"] = binary<s32>([](s32 a, s32 b) { return saturate(static_cast<s64>(a) - b); });
  c["mad.hi.sat.s32"] =
      ternary<s32>([](s32 a, s32 b, s32 d) { return saturate(static_cast<s64>(mul_hi(a, b)) + d); });
  products24<u32>(c, "u32");
  products24<s32>(c, "s32");
  c["mad24.hi.sat.s32"] =
      ternary<s32>([](s32 a, s32 b, s32 d) { return saturate((low24(a) * low24(b) >> 16) + d); });
}

}  // namespace

void add_integer(Catalog& c) {
  logic<u16>(c, "b16");
  logic<u32>(c, "b32");
  logic<u64>(c, "b64");
  arithmetic<u16>(c, "u16");
  arithmetic<s16>(c, "s16");
  arithmetic<u32>(c, "u32");
  arithmetic<s32>(c, "s32");
  arithmetic<u64>(c, "u64");
  arithmetic<s64>(c, "s64");
  bit_counts<u32>(c, "b32");
  bit_counts<u64>(c, "b64");
  bit_find<u32>(c, "u32");
  bit_find<s32>(c, "s32");
  bit_find<u64>(c, "u64");
  bit_find<s64>(c, "s64");
  c["bfi.b32"] = bfi<u32>;
  c["bfi.b64"] = bfi<u64>;
  c["min.relu.s32"] = binary<s32>([](s32 a, s32 b) {
    const s32 r = a < b ? a : b;
    return r < 0 ? 0 : r;
  });
  c["max.relu.s32"] = binary<s32>([](s32 a, s32 b) {
    const s32 r = a > b ? a : b;
    return r < 0 ? 0 : r;
  });
  odds(c);
}

}  // namespace bitwell::isa::BITWELL_LEVEL
