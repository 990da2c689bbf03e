// What works on parts of a 32-bit word: prmt, shf, lop3, bmsk, szext, dp4a, dp2a, pairs of 16 bits (PTX
// ISA 9.0, 9.7.1, 9.7.8).
#include <type_traits>

#include "model/isa/lanes/lanes.h"

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

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

// The place of the n-th set bit from `base` upwards (n > 0) or downwards (n < 0), counting from 1; n = 0:
// `base` itself if it is set. All ones if there is none (PTX ISA 9.0, 9.7.1.18).
inline u32 find_nth_set(u32 mask, u32 base, s32 n) {
  if (n == INT32_MIN) return 0;  // an H200 does, whatever the mask: what ptxas makes of it negates n
  const s64 step = n < 0 ? -1 : 1;
  u64 left = n == 0 ? 0 : static_cast<u64>(n < 0 ? -static_cast<s64>(n) : n) - 1;
  for (s64 at = static_cast<s32>(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1) != 0 && left-- == 0) return static_cast<u32>(at);
    if (n == 0) break;
  }
  return ~0u;
}

void bits(Catalog& c) {
  c["fns.b32"] =
      ternary<u32, u32, u32, s32>([](u32 mask, u32 base, s32 n) { return find_nth_set(mask, base, n); });
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

void add_words(Catalog& c) {
  prmt(c);
  funnel_shifts(c);
  bits(c);
  dot_products<uint8_t, uint8_t>(c, "u32.u32");
  dot_products<uint8_t, int8_t>(c, "u32.s32");
  dot_products<int8_t, uint8_t>(c, "s32.u32");
  dot_products<int8_t, int8_t>(c, "s32.s32");
  packed<u16>(c, "u16x2");
  packed<s16>(c, "s16x2");
}

}  // namespace bitwell::isa::BITWELL_LEVEL
