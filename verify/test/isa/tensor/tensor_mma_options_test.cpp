// What tcgen05.mma can be told besides its shape: weights that stay (.ws) with zero columns and shifts,
// integers, scale-input-d, lanes to leave, signs; and what is refused, by the name of its field
// (PTX ISA 9.0, 9.7.16.4 and 9.7.16.10). Manual, and for masks and lanes what B200 runs of others say; no
// B200 was asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "verify/probe/tensor_mma.h"

namespace bitwell::isa {
namespace {

probe::MmaCase stationary(const probe::MmaKindOf& kind, const probe::MmaSwizzle& swizzle, uint32_t m,
                          uint32_t n, uint64_t seed) {
  probe::MmaCase p;
  p.kind = &kind;
  p.swizzle = &swizzle;
  p.m = m;
  p.n = n;
  p.stationary = true;
  probe::fill(p, seed);
  return p;
}

// What a run, or what comes before it, says: "" or the message.
std::string refusal(const probe::MmaCase& p, const std::string& text = {}) {
  try {
    probe::run(p, {}, text);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::vector<const probe::MmaKindOf*> kinds_without_scales() {
  std::vector<const probe::MmaKindOf*> out;
  for (const probe::MmaKindOf& k : probe::kMmaKindsOf)
    if (k.scale == nullptr) out.push_back(&k);
  for (const probe::MmaKindOf& k : probe::kIntegerKinds) out.push_back(&k);
  return out;
}

TEST(TensorMmaOptions, WeightsThatStayInEveryShape) {
  uint64_t seed = 2000;
  for (const probe::MmaKindOf* kind : kinds_without_scales())
    for (const uint32_t m : {32u, 64u, 128u})
      for (const uint32_t n : {64u, 128u, 256u})
        for (const bool a_in_tensor : {false, true}) {
          ++seed;
          probe::MmaCase p = stationary(*kind, probe::kMmaSwizzles[seed % 4], m, n, seed);
          p.a_in_tensor = a_in_tensor;
          ASSERT_EQ(probe::difference(p, probe::run(p, {run::kPolicies[seed % 3].policy, seed})), "");
        }
}

uint64_t mask_of(std::array<uint64_t, 4> starts, uint64_t first_spans, uint64_t zeros, uint64_t used,
                 uint64_t shift) {
  uint64_t out = first_spans << 32 | uint64_t{1} << 39 | (zeros - 1) << 40 | (used - 1) << 48 | shift << 56;
  for (size_t i = 0; i < 4; ++i) out |= starts[i] << 8 * i;
  return out;
}

// The four examples of the manual, as it writes their masks: lowest column last.
TEST(TensorMmaOptions, TheManualsExamplesOfZeroColumns) {
  struct Example {
    uint32_t m;
    uint64_t mask;
    std::vector<std::string> low_columns;  // of each bank; '1' counts as zeros
    uint32_t shift;
  };
  const Example examples[] = {
      {128, mask_of({}, 0, 5, 4, 0) & ~(uint64_t{1} << 39), {"00000000000000"}, 0},
      {128, mask_of({}, 0, 3, 4, 0), {"11100001110000"}, 0},
      {64,
       mask_of({}, 1, 3, 4, 0),
       {"11100001110000111",
        "00001110000111"
        "0000"},
       0},
      {32,
       mask_of({0, 1, 2, 1}, 3, 3, 4, 2),
       {"00001110000111", "0000111000011", "111000011100", "1110000111000"},
       2},
  };
  for (const Example& e : examples) {
    probe::MmaCase p = stationary(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], e.m, 128, 5);
    p.mask = e.mask;
    p.max_shift = 1;
    for (size_t bank = 0; bank < e.low_columns.size(); ++bank) {
      const std::string& low = e.low_columns[bank];
      for (size_t c = 0; c < low.size(); ++c) {
        const auto column = static_cast<uint32_t>(bank * 128 / e.low_columns.size() + c);
        const std::optional<uint32_t> source = probe::source_column(p, column);
        ASSERT_EQ(source.has_value(), low[low.size() - 1 - c] == '0') << "M " << e.m << ", column " << column;
        if (source) {
          ASSERT_EQ(*source, column + e.shift);
        }
      }
    }
    EXPECT_EQ(probe::difference(p, probe::run(p)), "");
  }
}

// Zero columns count as zeros whatever stands there, NaN or nothing; shifts take what lies behind column N.
TEST(TensorMmaOptions, ZeroColumnsAndShifts) {
  std::mt19937_64 random(11);
  const std::vector<const probe::MmaKindOf*> kinds = kinds_without_scales();
  std::vector<uint64_t> masks = {
      mask_of({}, 0, 1, 1, 0),                    // every other one
      mask_of({}, 0xF, 256, 256, 0),              // all
      mask_of({}, 0, 256, 256, 0),                // none
      mask_of({255, 255, 255, 255}, 5, 3, 4, 0),  // a start beyond its span keeps one column
      mask_of({2, 3, 2, 3}, 5, 3, 4, 0),          // the last one of each span
  };
  for (const uint64_t shift : {1, 8, 9, 16, 17, 32}) masks.push_back(mask_of({}, 0, 7, 5, shift));
  for (int i = 0; i < 60; ++i)
    masks.push_back((random() & 0x00FFFF8FFFFFFFFF & ~(random() % 2 == 0 ? 0xF8F8000000000000 : 0)) |
                    random() % 33 << 56);
  for (const uint64_t mask : masks) {
    const uint32_t m = 32u << random() % 3;
    const uint32_t n = 64u << random() % 3;
    probe::MmaCase p =
        stationary(*kinds[random() % kinds.size()], probe::kMmaSwizzles[random() % 4], m, n, random());
    p.mask = mask;
    if (m == 32 && (mask >> 56) > 16) p.mask = (mask & ~(uint64_t{0x3F} << 56)) | uint64_t{16} << 56;
    const uint64_t shift = *p.mask >> 56;
    p.max_shift = shift == 0 ? random() % 4 : shift <= 8 ? 1 : shift <= 16 ? 2 : 3;
    // Columns that none takes hold the largest code, which is NaN where the type has one.
    std::vector<bool> taken(n + 32);
    for (uint32_t c = 0; c < n; ++c)
      if (const auto from = probe::source_column(p, c)) taken[*from] = true;
    for (uint32_t c = 0; c < n + 32; ++c)
      if (!taken[c])
        std::fill_n(p.b.begin() + c * p.kind->k, p.kind->k, (1u << (p.kind->b->container - 1)) - 1);
    ASSERT_EQ(probe::difference(p, probe::run(p)), "") << std::hex << *p.mask;
  }
}

// The same of a transposed B, of which 8 or 16 columns stand in 16 bytes: the last of these may be taken in
// part.
TEST(TensorMmaOptions, ShiftsOfATransposedB) {
  for (const size_t kind : {0u, 4u})
    for (const size_t swizzle : {0u, 3u})
      for (const uint64_t shift : {1, 5, 8, 11, 16}) {
        probe::MmaCase p;
        p.kind = &probe::kMmaKindsOf[kind];
        p.swizzle = &probe::kMmaSwizzles[swizzle];
        p.m = 64;
        p.n = 64;
        p.stationary = p.transpose_b = true;
        probe::fill(p, 7 + shift);
        p.mask = mask_of({}, 0, 7, 5, shift);
        p.max_shift = shift <= 8 ? 1 : 2;
        ASSERT_EQ(probe::difference(p, probe::run(p)), "") << kind << " " << swizzle << " " << shift;
      }
}

// Scales of a row that do not end in their word (PTX ISA 9.0, 9.7.16.10.7.2).
TEST(TensorMmaOptions, ScalesThatDoNotStandInOneWordAreNamed) {
  for (const size_t kind : {7u, 8u, 10u}) {
    probe::MmaCase p = probe::draw(probe::kMmaKindsOf[kind], probe::kMmaSwizzles[0], 128, 64, 5);
    for (p.scale_id = 0; p.scale_id < 4; ++p.scale_id) {
      const std::string what = refusal(p);
      const std::string says = kind != 7 && p.scale_id % 2 != 0 ? "this kind has 0 or 2"
                               : p.scale_id + p.scales() > 4    ? "is 2, with 4 scales of a row in a word"
                                                                : "";
      EXPECT_EQ(what.empty(), says.empty()) << kind << " " << p.scale_id << what;
      EXPECT_NE(what.find(says), std::string::npos) << kind << " " << p.scale_id << what;
    }
  }
}

// .block32 is .scale_vec::2X of kind::mxf4nvf4, which has no other default.
TEST(TensorMmaOptions, BlocksOf32OfMxf4nvf4) {
  const probe::MmaCase p = probe::draw(probe::kMmaKindsOf[9], probe::kMmaSwizzles[1], 128, 64, 21);
  const std::string text = probe::kernel(p);
  EXPECT_EQ(probe::difference(p, probe::run(p, {}, with(text, ".scale_vec::2X", ".block32"))), "");
  EXPECT_NE(refusal(p, with(text, ".scale_vec::2X", "")).find("needs .scale_vec::2X, .scale_vec::4X"),
            std::string::npos);
  EXPECT_NE(refusal(p, with(text, ".scale_vec::2X", ".scale_vec::1X")), "");
}

TEST(TensorMmaOptions, MasksThatAreNoneAreNamed) {
  const auto what = [](uint32_t m, uint64_t mask, uint32_t max_shift) {
    probe::MmaCase p = stationary(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], m, 64, 3);
    p.mask = mask;
    p.max_shift = max_shift;
    return refusal(p);
  };
  EXPECT_EQ(what(32, mask_of({}, 0, 1, 1, 16), 3), "");
  EXPECT_EQ(what(64, mask_of({}, 0, 1, 1, 32), 3), "");
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(what(32, mask_of({}, 0, 1, 1, 17), 3), "17 in bits 56 to 61 (column shift): it must be at most 16");
  has(what(64, mask_of({}, 0, 1, 1, 33), 3), "33 in bits 56 to 61 (column shift): it must be at most 32");
  has(what(64, mask_of({}, 0, 1, 1, 9), 1), "9 in bits 56 to 61 (column shift): it must be at most 8");
  has(what(128, mask_of({}, 0, 1, 1, 1), 0), "1 in bits 56 to 61 (column shift): it must be at most 0");
  has(what(128, uint64_t{4} << 36, 0), "4 in bits 36 to 38 (reserved): it must be 0");
  has(what(128, uint64_t{1} << 62, 0), "1 in bits 62 to 63 (reserved): it must be 0");
}

TEST(TensorMmaOptions, IntegersInEveryShape) {
  uint64_t seed = 4000;
  size_t shapes = 0;
  for (const probe::MmaKindOf& kind : probe::kIntegerKinds)
    for (const uint32_t m : {64u, 128u, 256u})
      for (const uint32_t ctas : {1u, 2u})
        for (uint32_t n = 8; n <= 256; n += 8) {
          const bool fits =
              ctas == 2 ? m >= 128 && n % 32 == 0 : m <= 128 && (n == 8 || n == 24 || n % 16 == 0);
          if (!fits) continue;
          ++seed;
          probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[seed % 4], m, n, seed, ctas);
          p.saturate = seed % 2 != 0;
          p.a_in_tensor = seed % 3 == 0;
          ASSERT_EQ(probe::difference(p, probe::run(p)), "");
          ++shapes;
        }
  EXPECT_EQ(shapes, 4u * (2 * 18 + 2 * 8));
}

// The largest products of each pair of types, on sums at the ends of their range: they wrap, or stay there.
TEST(TensorMmaOptions, IntegersAtTheEndsOfTheirRange) {
  for (const probe::MmaKindOf& kind : probe::kIntegerKinds)
    for (const bool saturate : {false, true}) {
      probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[3], 128, 16, 1);
      p.accumulate = true;
      p.saturate = saturate;
      constexpr uint32_t ends[] = {0x7FFFFFFF, 0x80000000, 0, 1, 0xFFFFFFFF, 0x7FE00000};
      constexpr uint32_t bytes[] = {0x80, 0x7F, 0xFF, 0};
      for (uint32_t row = 0; row < 128; ++row) {
        std::fill_n(p.a.begin() + row * 32, 32, bytes[row % 4]);
        for (uint32_t column = 0; column < 16; ++column) {
          std::fill_n(p.b.begin() + column * 32, 32, bytes[column % 4]);
          p.c[row * 16 + column] = ends[(row / 4 + column / 4) % std::size(ends)];
        }
      }
      const std::vector<uint32_t> d = probe::run(p);
      EXPECT_EQ(probe::difference(p, d), "");
      if (kind.a == &probe::kS8 && kind.b == &probe::kS8) {  // 32 * 128 * 128 on 2^31 - 1
        EXPECT_EQ(d[0], saturate ? 0x7FFFFFFFu : 0x8007FFFFu);
      }
    }
}

TEST(TensorMmaOptions, DIsScaledByAPowerOfTwo) {
  for (const size_t kind : {0, 1, 2, 3})
    for (const int scale : {0, 1, 9, 10, 15})
      for (const uint32_t ctas : {1u, 2u}) {
        if (probe::kMmaKindsOf[kind].d == &probe::kF16 && scale == 15) continue;
        probe::MmaCase p = probe::draw(probe::kMmaKindsOf[kind], probe::kMmaSwizzles[2], 128, 32,
                                       60 + static_cast<uint64_t>(scale), ctas);
        p.accumulate = true;
        p.scale_d = scale;
        const bool half = p.kind->d == &probe::kF16;
        for (uint32_t& c : p.c)  // what stays a normal number
          if (half ? (c >> 10 & 31) <= 10 : (c >> 23 & 255) <= 15) c = half ? 0x3C00 : 0x3F800000;
        // Zeros, infinities and NaN stay; the largest and the least that can be halved so often.
        const uint32_t corners[] = {0,
                                    half ? 0x8000u : 0x80000000u,
                                    half ? 0x7C00u : 0x7F800000u,
                                    half ? 0xFC00u : 0xFF800000u,
                                    half ? 0x7E00u : 0x7FC00000u,
                                    half ? 0x7BFFu : 0x7F7FFFFFu,
                                    static_cast<uint32_t>(1 + scale) << (half ? 10 : 23)};
        std::copy(std::begin(corners), std::end(corners), p.c.begin());
        ASSERT_EQ(probe::difference(p, probe::run(p)), "");
      }
}

// Where D * 2^-s needs more bits than its type has, no source says how it is rounded.
TEST(TensorMmaOptions, AScaledDThatIsNoNumberOfItsTypeIsRefused) {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[1], probe::kMmaSwizzles[0], 128, 16, 9);
  p.accumulate = true;
  p.scale_d = 15;
  std::fill(p.c.begin(), p.c.end(), 0x3C00);  // 1: 2^-15 is subnormal and exact
  EXPECT_EQ(refusal(p), "");
  p.c[5] = 0x3C01;
  const std::string what = refusal(p);
  EXPECT_NE(what.find("scale-input-d of 15 and a D whose product with 2^-15 is no f16"), std::string::npos)
      << what;
  p.accumulate = false;  // D is not read
  EXPECT_EQ(refusal(p), "");
}

TEST(TensorMmaOptions, LanesToLeaveAreLeft) {
  std::mt19937 random(3);
  for (const uint32_t ctas : {1u, 2u})
    for (const uint32_t m : {64 * ctas, 128 * ctas})
      for (const probe::MmaKindOf* kind :
           {&probe::kMmaKindsOf[0], &probe::kMmaKindsOf[4], &probe::kIntegerKinds[0]}) {
        probe::MmaCase p = probe::draw(*kind, probe::kMmaSwizzles[3], m, 32, m, ctas);
        for (uint32_t i = 0; i < 4 * ctas; ++i) p.keep.push_back(static_cast<uint32_t>(random()));
        ASSERT_EQ(probe::difference(p, probe::run(p)), "");
      }
}

TEST(TensorMmaOptions, SignsAreTurned) {
  for (const probe::MmaKindOf& kind : probe::kMmaKindsOf)
    for (const int which : {1, 2, 3}) {
      probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[3], 128, 24, 70);
      p.negate_a = (which & 1) != 0;
      p.negate_b = (which & 2) != 0;
      p.a_in_tensor = which == 1;
      ASSERT_EQ(probe::difference(p, probe::run(p)), "");
    }
}

// What has no model says so by its name, and is no fault of the kernel.
TEST(TensorMmaOptions, WhatIsNotModelledIsRefusedByName) {
  const probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 16, 3);
  probe::MmaCase in_tensor = p;
  in_tensor.a_in_tensor = true;
  const std::string kind = ".kind::f16 ";
  const std::pair<std::string, const char*> refused[] = {
      {with(probe::kernel(in_tensor), kind, ".kind::f16.ashift "),
       "tcgen05.mma.cta_group::1.kind::f16.ashift': whether A is multiplied before or after its rows move"},
      {with(probe::kernel(p), "tcgen05.mma.cta_group", "tcgen05.mma.sp.cta_group"), "modifier '.sp'"},
      {with(probe::kernel(probe::draw(probe::kIntegerKinds[0], probe::kMmaSwizzles[0], 128, 16, 3)),
            "%r10, %p3;", "%r10, %p3, 1;"),
       "kind::i8' with scale-input-d"},
      {with(with(probe::kernel(p), "sm_100a", "sm_103a"),
            "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}, [%r9];",
            "tcgen05.ld.red.sync.aligned.16x32bx2.x8.min.u32 {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}, %r16, [%r9], "
            "8;"),
       "whether both halves of a lane are reduced together is not known"},
  };
  for (const auto& [text, says] : refused) {
    try {
      isa::compile(ptx::parse(text), "k");
      ADD_FAILURE() << "taken: " << says;
    } catch (const machine::Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  }
}

// As ptxas has it: only A in tensor memory has rows to move, and no collector keeps them.
TEST(TensorMmaOptions, AShiftNeedsAInTensorMemoryAndNoCollector) {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 16, 3);
  const auto what = [&](const std::string& modifiers) {
    return refusal(p, with(probe::kernel(p), ".kind::f16 ", ".kind::f16" + modifiers + " "));
  };
  EXPECT_NE(what(".ashift").find("ashift' needs A in tensor memory"), std::string::npos) << what(".ashift");
  p.a_in_tensor = true;
  for (const char* use : {".ashift.collector::a::fill", ".ashift.collector::a::use"})
    EXPECT_EQ(what(use).find("is not known"), std::string::npos) << what(use);
  for (const char* use : {".ashift", ".collector::a::lastuse.ashift", ".ashift.collector::a::discard"})
    EXPECT_NE(what(use).find("is not known"), std::string::npos) << what(use);
}

struct Refused {
  const char* name;
  const probe::MmaKindOf* kind;
  uint32_t m, n, ctas;
  bool stationary;
  uint32_t bits;  // changed in the instruction descriptor
  const char* says;
};

TEST(TensorMmaOptions, InstructionDescriptorsThatAreNoneAreNamed) {
  const probe::MmaKindOf* f16 = &probe::kMmaKindsOf[0];
  const probe::MmaKindOf* i8 = &probe::kIntegerKinds[0];
  const probe::MmaKindOf* fp8 = &probe::kMmaKindsOf[4];
  const probe::MmaKindOf* mxf8 = &probe::kMmaKindsOf[7];
  const probe::MmaKindOf* mxf4 = &probe::kMmaKindsOf[8];
  const Refused table[] = {
      {"M of .ws", f16, 128, 64, 1, true, (8 ^ 1) << 24,
       "1 in bits 24 to 28 (M >> 4): M must be 32, 64 or 128"},
      {"N of .ws", f16, 128, 64, 1, true, (8 ^ 12) << 17,
       "12 in bits 17 to 22 (N >> 3): N must be 64, 128 or 256"},
      {"M 32", f16, 128, 64, 1, false, (8 ^ 2) << 24, "2 in bits 24 to 28 (M >> 4): M must be 64 or 128"},
      {"M 64 of a pair", f16, 128, 64, 2, false, (8 ^ 4) << 24, "(M >> 4): M must be 128 or 256"},
      {"M 256 of one", f16, 128, 64, 1, false, (8 ^ 16) << 24, "(M >> 4): M must be 64 or 128"},
      {"M 64 with scales", mxf4, 128, 64, 1, false, (8 ^ 4) << 24, "(M >> 4): M must be 128"},
      {"N 8 of a pair", f16, 128, 64, 2, false, (8 ^ 1) << 17, "N must be a multiple of 16 up to 256"},
      {"N 0", f16, 128, 64, 1, false, 8 << 17, "0 in bits 17 to 22 (N >> 3)"},
      {"N 264", f16, 128, 64, 1, false, (8 ^ 33) << 17, "33 in bits 17 to 22 (N >> 3)"},
      {"N 40 of i8", i8, 128, 64, 1, false, (8 ^ 5) << 17, "N must be 8, 24 or a multiple of 16"},
      {"N 48 of i8 and a pair", i8, 128, 64, 2, false, (8 ^ 6) << 17, "N must be a multiple of 32"},
      {"negated integers", i8, 128, 64, 1, false, 1 << 13, "1 in bits 13 to 14 (negated"},
      {"type of i8", i8, 128, 64, 1, false, 2 << 7, "3 in bits 7 to 9 (type of A)"},
      {"D of i8", i8, 128, 64, 1, false, 3 << 4, "1 in bits 4 to 5 (type of D)"},
      {"D of f16", f16, 128, 64, 1, false, 3 << 4, "2 in bits 4 to 5 (type of D)"},
      {"saturated f16", f16, 128, 64, 1, false, 1 << 3, "1 in bit 3 (saturate)"},
      {"a shift without .ws", f16, 128, 64, 1, false, 1u << 30, "1 in bits 30 to 31 (shift of .ws)"},
      {"scale id of mxf4", mxf4, 128, 64, 1, false, 1 << 4,
       "in bits 4 to 5 (scale-factor id of B): this kind has 0 or 2"},
      {"scale type of mxf8f6f4", mxf8, 128, 64, 1, false, 1 << 23, "0 in bit 23 (type of the scales)"},
      {"transposed B of bytes", fp8, 128, 24, 1, false, 1 << 16,
       "3 in bits 17 to 22 (N >> 3): N must be a multiple of 16 where B of 8 bits is transposed"},
      {"transposed E2M1", mxf4, 128, 64, 1, false, 1 << 15, "in bits 15 to 16 (transposed)"},
      {"transposed tf32", &probe::kMmaKindsOf[3], 128, 64, 1, false, 1 << 16,
       "0 in bits 61 to 63 of its matrix descriptor (swizzle): it must be 1, 128 bytes in atoms of 32"},
      {"K = 96", mxf4, 128, 64, 1, false, 1u << 31,
       "K = 96 (bit 31 of the instruction descriptor): how its 96 products are summed"},
      {"sparse", f16, 128, 64, 1, false, 1 << 2, "sparse A (bit 2"},
  };
  for (const Refused& r : table) {
    probe::MmaCase p;
    p.kind = r.kind;
    p.m = r.m;
    p.n = r.n;
    p.ctas = r.ctas;
    p.stationary = r.stationary;
    probe::fill(p, 12);
    p.scale_id = 0;
    const std::string text = probe::kernel(p);
    EXPECT_EQ(refusal(p), "") << r.name;
    const size_t at = text.find("mov.u32 %r10, ") + 14;
    const std::string was = text.substr(at, text.find(';', at) - at);
    const std::string changed = std::to_string(static_cast<uint32_t>(std::stoul(was)) ^ r.bits);
    const std::string what = refusal(p, with(text, "mov.u32 %r10, " + was, "mov.u32 %r10, " + changed));
    EXPECT_NE(what.find(r.says), std::string::npos) << r.name << ": " << what;
  }
}

// CUTLASS hands over the scale's id twice: in the instruction descriptor, and in bits 30 and 31 of the
// addresses, as its typed pointers have it. What stands there is ignored.
TEST(TensorMmaOptions, TheTopBitsOfTheAddressesOfScalesAreIgnored) {
  uint64_t seed = 4000;
  for (const probe::MmaKindOf& kind : probe::kMmaKindsOf)
    for (const uint32_t ctas : {1u, 2u})
      for (const auto& [of_a, of_b] : {std::pair{0u, 0u}, {1u, 1u}, {0u, 3u}, {2u, 0u}}) {
        if (kind.scale == nullptr) continue;
        const probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[3], 128 * ctas, 32, ++seed, ctas);
        const auto id = [](const char* address, uint32_t bits) {
          const std::string r = address;
          return "or.b32 " + r + ", " + r + ", " + std::to_string(bits << 30) + ";\n";
        };
        const std::string text = with(probe::kernel(p), "\ntcgen05.mma",
                                      "\n" + id("%r11", of_a) + id("%r12", of_b) + "tcgen05.mma");
        ASSERT_EQ(probe::difference(p, probe::run(p, {}, text)), "");
        std::string strict;
        try {
          probe::run(p, {}, text, true);
        } catch (const machine::Fault& e) {
          strict = e.what();
        }
        EXPECT_EQ(strict.find("with bits 30 and 31 of the address of scales not 0") != std::string::npos,
                  of_a + of_b != 0)
            << strict;
      }
}

}  // namespace
}  // namespace bitwell::isa
