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

u32 prmt_byte(u64 bytes, u32 selector) {
  const u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 0xFF;
  return (selector & 8) != 0 ? ((byte & 0x80) != 0 ? 0xFFu : 0u) : byte;
}

u64 both(u32 low, u32 high) { return static_cast<u64>(high) << 32 | low; }

void prmt(Catalog& c) {
  c["prmt.b32"] = ternary<u32>([](u32 a, u32 b, u32 s) {
    u32 r = 0;
    for (int i = 0; i < 4; ++i) r |= prmt_byte(both(a, b), s >> (4 * i) & 15) << (8 * i);
    return r;
  });
  const auto pick = [](auto select) {
    return ternary<u32>([](u32 a, u32 b, u32 s) {
      u32 r = 0;
      for (u32 i = 0; i < 4; ++i) r |= prmt_byte(both(a, b), decltype(select){}(s & 3, i)) << (8 * i);
      return r;
    });
  };
  c["prmt.b32.f4e"] = pick([](u32 s, u32 i) { return s + i; });
  c["prmt.b32.b4e"] = pick([](u32 s, u32 i) { return (s - i) & 7; });
  c["prmt.b32.rc8"] = pick([](u32 s, u32) { return s; });
  c["prmt.b32.ecl"] = pick([](u32 s, u32 i) { return i > s ? i : s; });
  c["prmt.b32.ecr"] = pick([](u32 s, u32 i) { return i < s ? i : s; });
  c["prmt.b32.rc16"] = pick([](u32 s, u32 i) { return (s & 1) * 2 + (i & 1); });
}

void funnel_shifts(Catalog& c) {
  c["shf.l.clamp.b32"] = ternary<u32>([](u32 a, u32 b, u32 n) {
    n = n < 32 ? n : 32;
    return static_cast<u32>((both(a, b) << n) >> 32);
  });
  c["shf.l.wrap.b32"] =
      ternary<u32>([](u32 a, u32 b, u32 n) { return static_cast<u32>((both(a, b) << (n & 31)) >> 32); });
  c["shf.r.clamp.b32"] =
      ternary<u32>([](u32 a, u32 b, u32 n) { return static_cast<u32>(both(a, b) >> (n < 32 ? n : 32)); });
  c["shf.r.wrap.b32"] =
      ternary<u32>([](u32 a, u32 b, u32 n) { return static_cast<u32>(both(a, b) >> (n & 31)); });
}

void odds(Catalog& c) {
  c["add.sat.s32"] = binary<s32>([](s32 a, s32 b) { return saturate(static_cast<s64>(a) + b); });
  c["sub.sat.s32"] = binary<s32>([](s32 a, s32 b) { return saturate(static_cast<s64>(a) - b); });
  c["mad.hi.sat.s32"] =
      ternary<s32>([](s32 a, s32 b, s32 d) { return saturate(static_cast<s64>(mul_hi(a, b)) + d); });
  const auto low24s = [](s32 a) { return static_cast<s64>(static_cast<s32>(static_cast<u32>(a) << 8) >> 8); };
  c["mul24.lo.s32"] = binary<s32>(
      [](s32 a, s32 b) { return static_cast<s32>(decltype(low24s){}(a) * decltype(low24s){}(b)); });
  c["mul24.lo.u32"] = binary<u32>([](u32 a, u32 b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); });
  c["mul24.hi.s32"] = binary<s32>(
      [](s32 a, s32 b) { return static_cast<s32>((decltype(low24s){}(a) * decltype(low24s){}(b)) >> 16); });
  c["mul24.hi.u32"] = binary<u32>(
      [](u32 a, u32 b) { return static_cast<u32>((static_cast<u64>(a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16); });
  c["lop3.b32"] = ternary_imm<u32>([](u32 a, u32 b, u32 d, u64 table) {
    u32 r = 0;
    for (u32 i = 0; i < 8; ++i)
      if ((table >> i & 1) != 0)
        r |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? d : ~d);
    return r;
  });
  c["bmsk.clamp.b32"] = binary<u32>([](u32 start, u32 length) {
    const u64 ones = length < 32 ? (u64{1} << length) - 1 : 0xFFFFFFFFu;
    return start < 32 ? static_cast<u32>(ones << start) : 0u;
  });
  c["bmsk.wrap.b32"] = binary<u32>([](u32 start, u32 length) {
    return static_cast<u32>(((u64{1} << (length & 31)) - 1) << (start & 31));
  });
  c["szext.clamp.u32"] =
      binary<u32>([](u32 a, u32 n) { return n >= 32 ? a : a & static_cast<u32>((u64{1} << n) - 1); });
  c["szext.wrap.u32"] =
      binary<u32>([](u32 a, u32 n) { return a & static_cast<u32>((u64{1} << (n & 31)) - 1); });
  c["szext.clamp.s32"] = binary<s32, s32, u32>([](s32 a, u32 n) {
    if (n >= 32) return a;
    return n == 0 ? 0 : static_cast<s32>(static_cast<u32>(a) << (32 - n)) >> (32 - n);
  });
  c["szext.wrap.s32"] = binary<s32, s32, u32>([](s32 a, u32 n) {
    n &= 31;
    return n == 0 ? 0 : static_cast<s32>(static_cast<u32>(a) << (32 - n)) >> (32 - n);
  });
}

template <class A, class B>
void dot_products(Catalog& c, const std::string& t) {
  c["dp4a." + t] = ternary<u32>([](u32 a, u32 b, u32 d) {
    for (int i = 0; i < 4; ++i)
      d += static_cast<u32>(static_cast<A>(a >> (8 * i)) * static_cast<B>(b >> (8 * i)));
    return d;
  });
  const auto dp2a = [](auto high) {
    return ternary<u32>([](u32 a, u32 b, u32 d) {
      using A16 = std::conditional_t<(A(-1) < A(0)), s16, u16>;
      if (decltype(high)::value) b >>= 16;
      for (int i = 0; i < 2; ++i)
        d += static_cast<u32>(static_cast<s32>(static_cast<A16>(a >> (16 * i))) *
                              static_cast<B>(b >> (8 * i)));
      return d;
    });
  };
  c["dp2a.lo." + t] = dp2a(std::false_type{});
  c["dp2a.hi." + t] = dp2a(std::true_type{});
}

// Two 16-bit values in a register.
template <class T>
void packed(Catalog& c, const std::string& t) {
  const auto each = [](auto f) {
    return binary<u32>([](u32 a, u32 b) {
      const T low = decltype(f){}(static_cast<T>(a), static_cast<T>(b));
      const T high = decltype(f){}(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
      return static_cast<u32>(static_cast<u16>(low)) | static_cast<u32>(static_cast<u16>(high)) << 16;
    });
  };
  c["add." + t] = each([](T a, T b) { return static_cast<T>(a + b); });
  c["min." + t] = each([](T a, T b) { return a < b ? a : b; });
  c["max." + t] = each([](T a, T b) { return a > b ? a : b; });
  if constexpr (T(-1) < T(0)) {
    c["min.relu." + t] = each([](T a, T b) {
      const T r = a < b ? a : b;
      return r < 0 ? T(0) : r;
    });
    c["max.relu." + t] = each([](T a, T b) {
      const T r = a > b ? a : b;
      return r < 0 ? T(0) : r;
    });
  }
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
  prmt(c);
  funnel_shifts(c);
  odds(c);
  dot_products<uint8_t, uint8_t>(c, "u32.u32");
  dot_products<uint8_t, int8_t>(c, "u32.s32");
  dot_products<int8_t, uint8_t>(c, "s32.u32");
  dot_products<int8_t, int8_t>(c, "s32.s32");
  packed<u16>(c, "u16x2");
  packed<s16>(c, "s16x2");
}

}  // namespace bitwell::isa::BITWELL_LEVEL
