// The fields of tcgen05.mma's instruction descriptor (PTX ISA 9.0, tables of 9.7.16.4.2): each value that a
// kind has, and each that it has not, refused by the field's name and bits.
#include "model/machine/tensor/instruction_descriptor.h"

#include <gtest/gtest.h>

#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

constexpr uint32_t kShape = 64 >> 3 << 17 | 128 >> 4 << 24;  // N = 64, M = 128

std::string refusal(MmaKind kind, uint32_t bits, bool stationary = false, int cta_group = 1) {
  try {
    decode_instruction_descriptor(kind, cta_group, bits, stationary);
  } catch (const Fault& e) {
    return e.what();
  } catch (const Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  }
  return "";
}

// Bits of a kind that holds, with the types of A, B and D.
uint32_t types(uint32_t a, uint32_t b, uint32_t d = 1) { return kShape | d << 4 | a << 7 | b << 10; }

TEST(InstructionDescriptor, EachKindHasItsTypes) {
  struct Kind {
    MmaKind kind;
    std::vector<std::string> names;  // by the code; "" for none
    bool scaled;
  };
  const Kind kinds[] = {
      {MmaKind::f16, {"f16", "bf16", "", "", "", "", "", ""}, false},
      {MmaKind::tf32, {"", "", "tf32", "", "", "", "", ""}, false},
      {MmaKind::f8f6f4, {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1", "", ""}, false},
      {MmaKind::mxf8f6f4, {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1", "", ""}, true},
      {MmaKind::mxf4, {"", "e2m1", "", "", "", "", "", ""}, true},
      {MmaKind::mxf4nvf4, {"", "e2m1", "", "", "", "", "", ""}, true},
  };
  for (const Kind& k : kinds) {
    uint32_t good = 0;
    while (k.names[good].empty()) ++good;
    for (uint32_t code = 0; code < 8; ++code)
      for (const bool of_a : {true, false}) {
        // D of fp32; kinds with scales have none there, but scales of UE8M0.
        const uint32_t a = of_a ? code : k.kind == MmaKind::f16 && !k.names[code].empty() ? code : good;
        const uint32_t b = of_a ? (k.kind == MmaKind::f16 && !k.names[code].empty() ? code : good) : code;
        const uint32_t bits = types(a, b, k.scaled ? 0 : 1) | (k.scaled ? 1u << 23 : 0);
        const std::string why = refusal(k.kind, bits);
        if (k.names[code].empty()) {
          const std::string field = of_a ? "bits 7 to 9 (type of A)" : "bits 10 to 12 (type of B)";
          EXPECT_NE(why.find(std::to_string(code) + " in " + field + ": no type of this kind"),
                    std::string::npos)
              << why;
          continue;
        }
        ASSERT_EQ(why, "");
        const InstructionDescriptor d = decode_instruction_descriptor(k.kind, 1, bits, false);
        EXPECT_EQ((of_a ? d.a : d.b)->name, k.names[code]);
        EXPECT_EQ(d.m, 128u);
        EXPECT_EQ(d.n, 64u);
      }
  }
}

TEST(InstructionDescriptor, TypesGoTogether) {
  EXPECT_EQ(refusal(MmaKind::f16, types(0, 0, 0)), "");
  EXPECT_EQ(refusal(MmaKind::f16, types(0, 0, 1)), "");
  EXPECT_EQ(refusal(MmaKind::f16, types(1, 1, 1)), "");
  EXPECT_NE(refusal(MmaKind::f16, types(1, 1, 0)).find("0 in bits 4 to 5 (type of D): bf16 has D of fp32"),
            std::string::npos);
  EXPECT_NE(refusal(MmaKind::f16, types(0, 1))
                .find("1 in bits 10 to 12 (type of B): A and B of this kind have one type"),
            std::string::npos);
  EXPECT_NE(refusal(MmaKind::f16, types(1, 0))
                .find("0 in bits 10 to 12 (type of B): A and B of this kind have one type"),
            std::string::npos);
  EXPECT_EQ(refusal(MmaKind::f8f6f4, types(0, 1, 0)), "");
  EXPECT_EQ(refusal(MmaKind::tf32, types(2, 2, 1)), "");
  for (const uint32_t d : {2u, 3u})
    for (const auto& [kind, type] : {std::pair{MmaKind::f16, 0u}, {MmaKind::tf32, 2u}, {MmaKind::f8f6f4, 0u}})
      EXPECT_NE(refusal(kind, types(type, type, d))
                    .find(std::to_string(d) + " in bits 4 to 5 (type of D): no type of this kind"),
                std::string::npos);
  EXPECT_NE(refusal(MmaKind::tf32, types(2, 2, 0)).find("0 in bits 4 to 5 (type of D): no type of this kind"),
            std::string::npos);
  EXPECT_EQ(refusal(MmaKind::i8, types(0, 1, 2)), "");
  for (const uint32_t d : {0u, 1u, 3u})
    EXPECT_NE(refusal(MmaKind::i8, types(0, 1, d)).find("(type of D): no type of this kind"),
              std::string::npos);
  for (const uint32_t type : {2u, 7u}) {
    EXPECT_NE(refusal(MmaKind::i8, types(type, 0, 2)).find("bits 7 to 9 (type of A): no type"),
              std::string::npos);
    EXPECT_NE(refusal(MmaKind::i8, types(0, type, 2)).find("bits 10 to 12 (type of B): no type"),
              std::string::npos);
  }
}

TEST(InstructionDescriptor, TypesBelowEightBitsAreNotTransposed) {
  for (const uint32_t transposed : {1u << 15, 1u << 16})
    for (const uint32_t type : {0u, 1u, 3u, 4u, 5u}) {
      const std::string why = refusal(MmaKind::f8f6f4, types(type, type) | transposed);
      EXPECT_EQ(why.empty(), type < 2) << type;
      if (type > 1) {
        EXPECT_NE(why.find("bits 15 to 16 (transposed): types below 8 bits are K-major"), std::string::npos);
      }
      EXPECT_EQ(refusal(MmaKind::f8f6f4, types(0, type) | 1u << 15), "");
      EXPECT_EQ(refusal(MmaKind::f8f6f4, types(type, 0) | 1u << 16), "");
    }
}

// What must be 0 where it has no meaning.
TEST(InstructionDescriptor, OtherBitsAreZero) {
  struct Bit {
    MmaKind kind;
    int bit;
    const char* says;
  };
  const Bit bits[] = {{MmaKind::f16, 0, "bits 0 to 1 (sparsity selector)"},
                      {MmaKind::f16, 1, "bits 0 to 1 (sparsity selector)"},
                      {MmaKind::f16, 2, "unsupported: tcgen05.mma with a sparse A"},
                      {MmaKind::f16, 3, "bit 3 (saturate)"},
                      {MmaKind::f16, 6, "bit 6 (reserved)"},
                      {MmaKind::f16, 23, "bit 23 (reserved)"},
                      {MmaKind::f16, 29, "bit 29 (reserved)"},
                      {MmaKind::f16, 30, "bits 30 to 31 (shift of .ws)"},
                      {MmaKind::f16, 31, "bits 30 to 31 (shift of .ws)"},
                      {MmaKind::i8, 3, ""},
                      {MmaKind::i8, 13, "bits 13 to 14 (negated, which integers cannot be)"},
                      {MmaKind::i8, 14, "bits 13 to 14 (negated, which integers cannot be)"},
                      {MmaKind::mxf8f6f4, 3, "bit 3 (reserved)"},
                      {MmaKind::mxf8f6f4, 31, "bit 31 (reserved)"},
                      {MmaKind::mxf8f6f4, 4, ""},
                      {MmaKind::mxf8f6f4, 5, ""},
                      {MmaKind::mxf8f6f4, 29, ""},
                      {MmaKind::mxf8f6f4, 30, ""},
                      {MmaKind::mxf4, 4, "bits 4 to 5 (scale-factor id of B): this kind has 0 or 2"},
                      {MmaKind::mxf4, 29, "bits 29 to 30 (scale-factor id of A): this kind has 0 or 2"},
                      {MmaKind::mxf4, 5, ""},
                      {MmaKind::mxf4, 30, ""},
                      {MmaKind::mxf4nvf4, 4, "bits 4 to 5 (scale-factor id of B): this kind has 0 or 2"},
                      {MmaKind::mxf4nvf4, 29, "bits 29 to 30 (scale-factor id of A): this kind has 0 or 2"},
                      {MmaKind::mxf4nvf4, 31, "unsupported: tcgen05.mma with K = 96"}};
  for (const Bit& b : bits) {
    const bool four = b.kind == MmaKind::mxf4 || b.kind == MmaKind::mxf4nvf4,
               scaled = four || b.kind == MmaKind::mxf8f6f4;
    const uint32_t type = four ? 1 : 0;
    const uint32_t good = types(type, type,
                                scaled                  ? 0
                                : b.kind == MmaKind::i8 ? 2
                                                        : 1) |
                          (scaled ? 1u << 23 : 0);
    EXPECT_EQ(refusal(b.kind, good), "");
    const std::string why = refusal(b.kind, good | 1u << b.bit);
    EXPECT_EQ(why.empty(), *b.says == 0) << b.bit << ": " << why;
    EXPECT_NE(why.find(b.says), std::string::npos) << b.bit << ": " << why;
  }
  EXPECT_NE(refusal(MmaKind::mxf8f6f4, types(0, 0, 0))
                .find("bit 23 (type of the scales): this kind has scales of UE8M0, 1"),
            std::string::npos);
  EXPECT_NE(refusal(MmaKind::mxf4, types(1, 1, 0)).find("bit 23 (type of the scales)"), std::string::npos);
  EXPECT_EQ(refusal(MmaKind::mxf4nvf4, types(1, 1, 0)), "");
}

TEST(InstructionDescriptor, TheFieldsAreWhereTheTableSays) {
  const auto decoded = [](MmaKind kind, uint32_t bits, bool stationary = false) {
    return decode_instruction_descriptor(kind, 1, bits, stationary);
  };
  const uint32_t f16 = types(0, 0);
  EXPECT_TRUE(decoded(MmaKind::f16, f16 | 1u << 13).negate_a);
  EXPECT_FALSE(decoded(MmaKind::f16, f16 | 1u << 13).negate_b);
  EXPECT_TRUE(decoded(MmaKind::f16, f16 | 1u << 14).negate_b);
  EXPECT_TRUE(decoded(MmaKind::f16, f16 | 1u << 15).transpose_a);
  EXPECT_FALSE(decoded(MmaKind::f16, f16 | 1u << 15).transpose_b);
  EXPECT_TRUE(decoded(MmaKind::f16, f16 | 1u << 16).transpose_b);
  for (uint32_t code = 0; code < 4; ++code)
    EXPECT_EQ(decoded(MmaKind::f16, f16 | code << 30, true).max_shift, code == 0 ? 0 : 4u << code);
  for (uint32_t id = 0; id < 4; ++id) {
    const uint32_t scaled = types(0, 0, 0) | 1u << 23;
    EXPECT_EQ(decoded(MmaKind::mxf8f6f4, scaled | id << 4).b_scale_id, id);
    EXPECT_EQ(decoded(MmaKind::mxf8f6f4, scaled | id << 4).a_scale_id, 0u);
    EXPECT_EQ(decoded(MmaKind::mxf8f6f4, scaled | id << 29).a_scale_id, id);
  }
  EXPECT_EQ(decoded(MmaKind::mxf4nvf4, types(1, 1, 0)).scale->name, "ue4m3");
  EXPECT_EQ(decoded(MmaKind::mxf4nvf4, types(1, 1, 0) | 1u << 23).scale->name, "ue8m0");
  EXPECT_EQ(decoded(MmaKind::f16, types(0, 0, 0)).d->name, "f16");
  EXPECT_EQ(decoded(MmaKind::f16, types(0, 0, 1)).d->name, "f32");
  const std::pair<MmaKind, uint32_t> k[] = {{MmaKind::f16, types(0, 0)},
                                            {MmaKind::tf32, types(2, 2)},
                                            {MmaKind::f8f6f4, types(0, 0)},
                                            {MmaKind::i8, types(0, 0, 2)},
                                            {MmaKind::mxf8f6f4, types(0, 0, 0) | 1u << 23},
                                            {MmaKind::mxf4, types(1, 1, 0) | 1u << 23},
                                            {MmaKind::mxf4nvf4, types(1, 1, 0)}};
  const uint32_t wanted[] = {16, 8, 32, 32, 32, 64, 64};
  for (size_t i = 0; i < std::size(k); ++i) EXPECT_EQ(decoded(k[i].first, k[i].second).k, wanted[i]) << i;
}

TEST(InstructionDescriptor, EachKindHasItsShapes) {
  const auto taken = [](MmaKind kind, uint32_t m, uint32_t n, bool stationary, int cta_group) {
    const bool four = kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4,
               scaled = four || kind == MmaKind::mxf8f6f4;
    const uint32_t type = kind == MmaKind::tf32 ? 2 : four ? 1 : 0;
    const uint32_t bits = (types(type, type,
                                 scaled                ? 0
                                 : kind == MmaKind::i8 ? 2
                                                       : 1) &
                           ~(0x3Fu << 17 | 0x1Fu << 24)) |
                          (scaled ? 1u << 23 : 0) | n >> 3 << 17 | m >> 4 << 24;
    return refusal(kind, bits, stationary, cta_group).empty();
  };
  for (const MmaKind kind :
       {MmaKind::f16, MmaKind::tf32, MmaKind::f8f6f4, MmaKind::i8, MmaKind::mxf8f6f4, MmaKind::mxf4}) {
    const bool scaled = kind == MmaKind::mxf8f6f4 || kind == MmaKind::mxf4, integers = kind == MmaKind::i8;
    for (uint32_t m = 0; m < 512; m += 16)
      for (uint32_t n = 0; n < 512; n += 8) {
        const bool fits = n != 0 && n <= 256;
        EXPECT_EQ(taken(kind, m, n, false, 1), (m == 128 || (m == 64 && !scaled)) && fits &&
                                                   (!integers || n % 16 == 0 || n == 8 || n == 24))
            << m << ' ' << n;
        EXPECT_EQ(taken(kind, m, n, false, 2),
                  (m == 128 || m == 256) && fits && n % (integers ? 32 : 16) == 0)
            << m << ' ' << n;
        if (!scaled) {
          EXPECT_EQ(taken(kind, m, n, true, 1),
                    (m == 32 || m == 64 || m == 128) && (n == 64 || n == 128 || n == 256))
              << m << ' ' << n;
        }
      }
  }
  // B of 8 bits, transposed: N in steps of 16, of 32 for two CTAs.
  const auto transposed = [](uint32_t n, int cta_group) {
    return refusal(MmaKind::f8f6f4, 1u << 4 | 1u << 16 | n >> 3 << 17 | 128 >> 4 << 24, false, cta_group);
  };
  EXPECT_EQ(transposed(48, 1), "");
  EXPECT_NE(
      transposed(40, 1).find("N must be a multiple of 16 where B of 8 bits is transposed with cta_group::1"),
      std::string::npos);
  EXPECT_EQ(transposed(64, 2), "");
  EXPECT_NE(
      transposed(48, 2).find("N must be a multiple of 32 where B of 8 bits is transposed with cta_group::2"),
      std::string::npos);
}

}  // namespace
}  // namespace bitwell::machine
