// setp, selp, slct and predicate logic (PTX ISA 9.0, 9.7.6). A predicate row holds one 32-bit mask.
#include "model/isa/lanes/lanes.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace bitwell::isa::BITWELL_LEVEL {
namespace {

// Bit i set where bytes[i] is 0xFF.
inline uint32_t gather_mask(const uint8_t* bytes) {
#if defined(__AVX2__)
  return static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(bytes))));
#else
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= static_cast<uint32_t>(bytes[i] & 1) << i;
  return mask;
#endif
}

void put(std::byte* rows, uint32_t offset, uint32_t value, uint32_t mask) {
  uint32_t* d = row<uint32_t>(rows, offset);
  *d = (*d & ~mask) | (value & mask);
}

// How the comparison joins predicate op.c (imm bits 0..1: none, and, or, xor) and whether op.c is negated
// (bit 2).
uint32_t join(const Op& op, std::byte* rows, uint32_t compared) {
  uint32_t other = *row<uint32_t>(rows, op.c);
  if ((op.imm & 4) != 0) other = ~other;
  switch (op.imm & 3) {
    case 1: return compared & other;
    case 2: return compared | other;
    case 3: return compared ^ other;
    default: return compared;
  }
}

// The lanes whose elements compare so. By itself: setp and set have it in common.
template <class T, class F>
[[gnu::noinline]] uint32_t compared(const Op& op, std::byte* rows) {
  const T* a = row<T>(rows, op.a);
  const T* b = row<T>(rows, op.b);
  alignas(32) uint8_t bytes[kLanes];
  for (int i = 0; i < kLanes; ++i) bytes[i] = F{}(a[i], b[i]) ? 0xFF : 0;
  return gather_mask(bytes);
}

// setp: d = cmp op c, d2 = !cmp op c.
void put_predicates(const Op& op, std::byte* rows, uint32_t mask, uint32_t compared) {
  const uint32_t first = join(op, rows, compared);
  const uint32_t second = join(op, rows, ~compared);
  put(rows, op.d, first, mask);
  put(rows, op.d2, second, mask);
}
template <class T, class F>
void setp(const Op& op, std::byte* rows, uint32_t mask) {
  put_predicates(op, rows, mask, compared<T, F>(op, rows));
}

// `set` writes 1.0 or all ones instead of a predicate; imm bit 3: floating result.
void put_words(const Op& op, std::byte* rows, uint32_t mask, uint32_t compared) {
  uint32_t* d = row<uint32_t>(rows, op.d);
  const uint32_t result = join(op, rows, compared);
  const uint32_t yes = (op.imm & 8) != 0 ? 0x3F800000u : ~0u;
  for (int i = 0; i < kLanes; ++i)
    if ((mask >> i & 1) != 0) d[i] = (result >> i & 1) != 0 ? yes : 0;
}
template <class T, class F>
void set32(const Op& op, std::byte* rows, uint32_t mask) {
  put_words(op, rows, mask, compared<T, F>(op, rows));
}

template <class T, class F>
void both(Catalog& c, const std::string& name, F) {
  c["setp." + name] = setp<T, F>;
  c["set." + name] = set32<T, F>;
}

template <class T>
void equality(Catalog& c, const std::string& t) {
  both<T>(c, "eq." + t, [](T a, T b) { return a == b; });
  both<T>(c, "ne." + t, [](T a, T b) { return a != b; });
}

template <class T>
void order(Catalog& c, const std::string& t, const std::string& lt = "lt", const std::string& le = "le",
           const std::string& gt = "gt", const std::string& ge = "ge") {
  both<T>(c, lt + "." + t, [](T a, T b) { return a < b; });
  both<T>(c, le + "." + t, [](T a, T b) { return a <= b; });
  both<T>(c, gt + "." + t, [](T a, T b) { return a > b; });
  both<T>(c, ge + "." + t, [](T a, T b) { return a >= b; });
}

float flush(float v) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(v) & 0x7F800000) == 0
                                  ? std::bit_cast<uint32_t>(v) & 0x80000000
                                  : std::bit_cast<uint32_t>(v));
}

// Exact: every fp16 value times a power of two is a float; NaN stays NaN.
float half_value(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  const uint32_t magnitude = h & 0x7FFF;
  if (magnitude >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  return std::bit_cast<float>(
      sign |
      std::bit_cast<uint32_t>(
          static_cast<float>(static_cast<int>(magnitude < 0x400 ? magnitude : (magnitude & 0x3FF) | 0x400)) *
          std::bit_cast<float>((103 + (magnitude < 0x400 ? 0 : (magnitude >> 10) - 1)) << 23)));
}
float bf16_value(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

// Floating comparisons: the plain ones are false on NaN (but ne: PTX's ne is ordered, false on NaN), the *u
// ones true.
template <class T, class V, class F>
void floating(Catalog& c, const std::string& t, V, F) {
  const auto add = [&](const std::string& name, auto f) {
    both<T>(c, name + "." + t, [](T a, T b) { return decltype(f){}(V{}(a), V{}(b)); });
  };
  const auto pair = [&](const std::string& name, auto f) {
    add(name, f);
    add(name + "u", [](F a, F b) { return decltype(f){}(a, b) || a != a || b != b; });
  };
  pair("eq", [](F a, F b) { return a == b; });
  pair("ne", [](F a, F b) { return a < b || a > b; });
  pair("lt", [](F a, F b) { return a < b; });
  pair("le", [](F a, F b) { return a <= b; });
  pair("gt", [](F a, F b) { return a > b; });
  pair("ge", [](F a, F b) { return a >= b; });
  add("num", [](F a, F b) { return a == a && b == b; });
  add("nan", [](F a, F b) { return a != a || b != b; });
}

// selp: d = c ? a : b.
template <class T>
void selp(const Op& op, std::byte* rows, uint32_t mask) {
  T* d = row<T>(rows, op.d);
  const T* a = row<T>(rows, op.a);
  const T* b = row<T>(rows, op.b);
  uint32_t choose = *row<uint32_t>(rows, op.c);
  if ((op.imm & 4) != 0) choose = ~choose;
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = (choose >> i & 1) != 0 ? a[i] : b[i];
  } else {
    for (int i = 0; i < kLanes; ++i)
      if ((mask >> i & 1) != 0) d[i] = (choose >> i & 1) != 0 ? a[i] : b[i];
  }
}

template <class F>
Lanes predicates(F) {
  return [](const Op& op, std::byte* rows, uint32_t mask) {
    put(rows, op.d, F{}(*row<uint32_t>(rows, op.a), *row<uint32_t>(rows, op.b)), mask);
  };
}

template <class T>
void slct(Catalog& c, const std::string& t) {
  c["slct." + t + ".s32"] = ternary<T, T, T, int32_t>([](T a, T b, int32_t s) { return s >= 0 ? a : b; });
  c["slct." + t + ".f32"] = ternary<T, T, T, float>([](T a, T b, float s) { return s >= 0 ? a : b; });
  c["slct.ftz." + t + ".f32"] =
      ternary<T, T, T, float>([](T a, T b, float s) { return flush(s) >= 0 ? a : b; });
}

}  // namespace

void add_compare(Catalog& c) {
  equality<uint16_t>(c, "b16");
  equality<uint32_t>(c, "b32");
  equality<uint64_t>(c, "b64");
  equality<uint16_t>(c, "u16");
  equality<int16_t>(c, "s16");
  equality<uint32_t>(c, "u32");
  equality<int32_t>(c, "s32");
  equality<uint64_t>(c, "u64");
  equality<int64_t>(c, "s64");
  order<uint16_t>(c, "u16");
  order<int16_t>(c, "s16");
  order<uint32_t>(c, "u32");
  order<int32_t>(c, "s32");
  order<uint64_t>(c, "u64");
  order<int64_t>(c, "s64");
  order<uint16_t>(c, "u16", "lo", "ls", "hi", "hs");
  order<uint32_t>(c, "u32", "lo", "ls", "hi", "hs");
  order<uint64_t>(c, "u64", "lo", "ls", "hi", "hs");
  floating<float>(
      c, "f32", [](float v) { return v; }, float{});
  floating<float>(
      c, "ftz.f32", [](float v) { return flush(v); }, float{});
  floating<double>(
      c, "f64", [](double v) { return v; }, double{});
  floating<uint16_t>(
      c, "f16", [](uint16_t v) { return half_value(v); }, float{});
  floating<uint16_t>(
      c, "ftz.f16",
      [](uint16_t v) { return half_value((v & 0x7C00) == 0 ? static_cast<uint16_t>(v & 0x8000) : v); },
      float{});
  floating<uint16_t>(
      c, "bf16", [](uint16_t v) { return bf16_value(v); }, float{});
  c["selp.16"] = selp<uint16_t>;
  c["selp.32"] = selp<uint32_t>;
  c["selp.64"] = selp<uint64_t>;
  slct<uint16_t>(c, "16");
  slct<uint32_t>(c, "32");
  slct<uint64_t>(c, "64");
  c["and.pred"] = predicates([](uint32_t a, uint32_t b) { return a & b; });
  c["or.pred"] = predicates([](uint32_t a, uint32_t b) { return a | b; });
  c["xor.pred"] = predicates([](uint32_t a, uint32_t b) { return a ^ b; });
  c["not.pred"] = predicates([](uint32_t a, uint32_t) { return ~a; });
  c["mov.pred"] = predicates([](uint32_t a, uint32_t) { return a; });
}

}  // namespace bitwell::isa::BITWELL_LEVEL
