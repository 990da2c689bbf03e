// Which bits of a result are known where some of the operands' are not, against all values that the unknown
// ones could have: a bit that is said to be known is one and the same for all of them, and of instructions
// that only move bits the others are not.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <ostream>
#include <random>

#include "../known_lanes.h"

namespace bitwell::isa {
namespace {

using Operands = std::array<uint32_t, 3>;

struct BitsCase {
  const char* name;
  const char* instruction;  // %r13 of %r10, %r11 and %r12
  uint32_t (*value)(const Operands&);
  bool exact = true;    // every bit that is one and the same is known
  bool small = false;   // the second and the third operand are below 32
  bool halves = false;  // what is unknown reaches no other half
};
void PrintTo(const BitsCase& c, std::ostream* out) { *out << c.name; }

// Lane i stores bit i of the result, where `skipped` has not that bit; the first that is not known is told.
std::string module_of(const BitsCase& c) {
  std::string t =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout) "
      "{\n"
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<24>; .reg .b64 %q<8>;\n.shared .align 16 .b8 "
      "nothing[16];\n"
      "ld.param.u64 %q0, [pin]; ld.param.u64 %q1, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 4;\n"
      "add.u64 %q1, %q1, %q2; ld.shared.u32 %r1, [nothing]; mov.u32 %r2, 1; shl.b32 %r2, %r2, %r0;\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(10 + i), at = std::to_string(8 * i);
    t += "ld.global.u32 %r" + n + ", [%q0+" + at + "]; ld.global.u32 %r3, [%q0+" + std::to_string(8 * i + 4) +
         "]; and.b32 %r3, %r1, %r3; or.b32 %r" + n + ", %r" + n + ", %r3;\n";
  }
  return t + c.instruction +
         "\nld.global.u32 %r3, [%q0+24]; and.b32 %r3, %r3, %r2; setp.ne.u32 %p0, %r3, 0; and.b32 %r4, %r13, "
         "%r2; "
         "selp.b32 %r4, 0, %r4, %p0;\nst.global.u32 [%q1], %r4;\nret;\n}\n";
}

struct Seen {
  uint32_t unknown = 0, value = 0;  // bits, and those that are known
  std::string wrong;
};

Seen run_bits(const test::Module& module, const Operands& known, const Operands& unknown) {
  const KnownLanes lanes =
      known_lanes(module, {known[0], unknown[0], known[1], unknown[1], known[2], unknown[2]});
  Seen out{lanes.unknown, 0, lanes.wrong};
  for (const uint32_t word : lanes.values) out.value |= word;
  return out;
}

// Bits that differ among the results of all values of the unknown ones, and the first result.
std::pair<uint32_t, uint32_t> all_values(const BitsCase& c, const Operands& known, const Operands& unknown) {
  uint32_t differ = 0, first = 0;
  bool any = false;
  Operands more{};
  for (more[0] = 0;;) {
    for (more[1] = 0;;) {
      for (more[2] = 0;;) {
        const uint32_t v = c.value({known[0] | more[0], known[1] | more[1], known[2] | more[2]});
        if (!any) first = v, any = true;
        differ |= v ^ first;
        if ((more[2] = (more[2] - unknown[2]) & unknown[2]) == 0) break;
      }
      if ((more[1] = (more[1] - unknown[1]) & unknown[1]) == 0) break;
    }
    if ((more[0] = (more[0] - unknown[0]) & unknown[0]) == 0) break;
  }
  return {differ, first};
}

template <class F>
uint32_t of_halves(uint32_t word, F f) {
  return (f(word & 0xFFFF) & 0xFFFF) | f(word >> 16) << 16;
}
// Times one: NaN becomes the canonical one.
uint32_t same(uint32_t half, uint32_t infinity) { return (half & 0x7FFF) > infinity ? 0x7FFF : half; }

class KnownBits : public testing::TestWithParam<BitsCase> {};

TEST_P(KnownBits, AreThoseThatNothingUnknownCanChange) {
  const BitsCase& c = GetParam();
  const test::Module module = test::module_of(module_of(c));
  std::mt19937 random(7);
  for (int draw = 0; draw < 24; ++draw) {
    Operands known{}, unknown{};
    for (size_t i = 0; i < 3; ++i) {
      known[i] = static_cast<uint32_t>(random()) >> (random() % 4 * 8);
      // A few bits, side by side or not, or none.
      const int bits = draw == 0 ? 0 : static_cast<int>(random() % 4);
      const uint32_t start = static_cast<uint32_t>(random() % 29);
      for (int b = 0; b < bits; ++b)
        unknown[i] |= draw % 2 == 0 ? 1u << (start + static_cast<uint32_t>(b)) : 1u << random() % 32;
      if (c.small && i > 0) known[i] %= 32, unknown[i] = draw % 6 == 5 ? unknown[i] % 16 : 0;
      known[i] &= ~unknown[i];
    }
    const auto [differ, value] = all_values(c, known, unknown);
    const Seen seen = run_bits(module, known, unknown);
    ASSERT_EQ(seen.wrong, "");
    SCOPED_TRACE(testing::Message() << std::hex << known[0] << "?" << unknown[0] << " " << known[1] << "?"
                                    << unknown[1] << " " << known[2] << "?" << unknown[2] << ": unknown are "
                                    << seen.unknown << ", differ " << differ);
    EXPECT_EQ(differ & ~seen.unknown, 0u) << "a bit is said to be known that is not";
    EXPECT_EQ(seen.value, value & ~seen.unknown);
    if (c.exact || (unknown[0] | unknown[1] | unknown[2]) == 0) {
      EXPECT_EQ(seen.unknown, differ);
    }
    if (c.halves) {
      const uint32_t any = unknown[0] | unknown[1] | unknown[2];
      EXPECT_EQ(seen.unknown & ~of_halves(any, [](uint32_t h) { return h != 0 ? 0xFFFFu : 0; }), 0u);
    }
  }
}

uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t all = uint64_t{b} << 32 | a;
  uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t s = selector >> 4 * i & 15;
    uint32_t byte = static_cast<uint32_t>(all >> 8 * (s & 7)) & 255;
    if ((s & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    out |= byte << 8 * i;
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    All, KnownBits,
    testing::Values(
        BitsCase{"mov", "mov.b32 %r13, %r10;", [](const Operands& x) { return x[0]; }},
        BitsCase{"not", "not.b32 %r13, %r10;", [](const Operands& x) { return ~x[0]; }},
        BitsCase{"and", "and.b32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] & x[1]; }},
        BitsCase{"or", "or.b32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] | x[1]; }},
        BitsCase{"xor", "xor.b32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] ^ x[1]; }},
        BitsCase{"lop3", "lop3.b32 %r13, %r10, %r11, %r12, 0xCA;",
                 [](const Operands& x) { return (x[0] & x[1]) | (~x[0] & x[2]); }},
        BitsCase{"shl", "shl.b32 %r13, %r10, 5;", [](const Operands& x) { return x[0] << 5; }},
        BitsCase{"shr_u", "shr.u32 %r13, %r10, 7;", [](const Operands& x) { return x[0] >> 7; }},
        BitsCase{"shr_s", "shr.s32 %r13, %r10, 7;",
                 [](const Operands& x) { return static_cast<uint32_t>(static_cast<int32_t>(x[0]) >> 7); }},
        BitsCase{"shl_by", "shl.b32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] << x[1]; }, true,
                 true},
        BitsCase{"shr_by", "shr.u32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] >> x[1]; }, true,
                 true},
        BitsCase{"bfe", "bfe.u32 %r13, %r10, 3, 9;", [](const Operands& x) { return x[0] >> 3 & 511; }},
        BitsCase{
            "bfe_s", "bfe.s32 %r13, %r10, 3, 9;",
            [](const Operands& x) { return static_cast<uint32_t>(static_cast<int32_t>(x[0] << 20) >> 23); }},
        BitsCase{"bfi", "bfi.b32 %r13, %r10, %r11, 6, 10;",
                 [](const Operands& x) { return (x[1] & ~(1023u << 6)) | (x[0] & 1023) << 6; }},
        BitsCase{"prmt", "prmt.b32 %r13, %r10, %r11, 0x7A10;",
                 [](const Operands& x) { return prmt(x[0], x[1], 0x7A10); }},
        BitsCase{"brev", "brev.b32 %r13, %r10;",
                 [](const Operands& x) {
                   uint32_t out = 0;
                   for (int i = 0; i < 32; ++i) out |= (x[0] >> i & 1) << (31 - i);
                   return out;
                 }},
        BitsCase{"shf", "shf.l.wrap.b32 %r13, %r10, %r11, 9;",
                 [](const Operands& x) { return x[1] << 9 | x[0] >> 23; }},
        BitsCase{"cvt_u8", "cvt.u32.u8 %r13, %r10;", [](const Operands& x) { return x[0] & 255; }},
        BitsCase{"cvt_s8", "cvt.s32.s8 %r13, %r10;",
                 [](const Operands& x) { return static_cast<uint32_t>(static_cast<int8_t>(x[0])); }},
        BitsCase{"cvt_s16", "cvt.s32.s16 %r13, %r10;",
                 [](const Operands& x) { return static_cast<uint32_t>(static_cast<int16_t>(x[0])); }},
        BitsCase{"halves", "mov.b32 {%h0, %h1}, %r10; mov.b32 %r13, {%h1, %h0};",
                 [](const Operands& x) { return x[0] << 16 | x[0] >> 16; }},
        BitsCase{"wide", "mov.b64 %q3, {%r10, %r11}; shr.u64 %q3, %q3, 12; cvt.u32.u64 %r13, %q3;",
                 [](const Operands& x) { return x[0] >> 12 | x[1] << 20; }},
        BitsCase{"shfl", "shfl.sync.idx.b32 %r13, %r10, 3, 31, -1;", [](const Operands& x) { return x[0]; }},
        BitsCase{"selp", "setp.lt.u32 %p1, %r0, 64; selp.b32 %r13, %r10, %r11, %p1;",
                 [](const Operands& x) { return x[0]; }},
        BitsCase{"selp_else", "setp.ge.u32 %p1, %r0, 64; selp.b32 %r13, %r10, %r11, %p1;",
                 [](const Operands& x) { return x[1]; }},
        BitsCase{"add", "add.u32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] + x[1]; }},
        BitsCase{"add_constant", "add.u32 %r13, %r10, 0x50000;",
                 [](const Operands& x) { return x[0] + 0x50000; }},
        BitsCase{"sub", "sub.u32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] - x[1]; }},
        BitsCase{"neg", "neg.s32 %r13, %r10;", [](const Operands& x) { return 0 - x[0]; }, false},
        BitsCase{"mul", "mul.lo.u32 %r13, %r10, %r11;", [](const Operands& x) { return x[0] * x[1]; }, false},
        BitsCase{"mad", "mad.lo.u32 %r13, %r10, %r11, %r12;",
                 [](const Operands& x) { return x[0] * x[1] + x[2]; }, false},
        BitsCase{"min", "min.u32 %r13, %r10, %r11;", [](const Operands& x) { return std::min(x[0], x[1]); },
                 false},
        BitsCase{"max_s", "max.s32 %r13, %r10, %r11;",
                 [](const Operands& x) {
                   return static_cast<uint32_t>(
                       std::max(static_cast<int32_t>(x[0]), static_cast<int32_t>(x[1])));
                 },
                 false},
        BitsCase{"popc", "popc.b32 %r13, %r10;",
                 [](const Operands& x) { return static_cast<uint32_t>(std::popcount(x[0])); }, false},
        BitsCase{"clz", "clz.b32 %r13, %r10;",
                 [](const Operands& x) { return static_cast<uint32_t>(std::countl_zero(x[0])); }, false},
        BitsCase{"set", "set.lt.u32.u32 %r13, %r10, %r11;",
                 [](const Operands& x) { return x[0] < x[1] ? ~0u : 0u; }, false},
        BitsCase{"setp_and", "setp.lt.u32 %p1, %r10, %r11; selp.b32 %r13, 5, 9, %p1;",
                 [](const Operands& x) { return x[0] < x[1] ? 5u : 9u; }, false},
        BitsCase{"add_u16x2", "add.u16x2 %r13, %r10, %r11;",
                 [](const Operands& x) {
                   return (x[0] & 0xFFFF0000) + (x[1] & 0xFFFF0000) + ((x[0] + x[1]) & 0xFFFF);
                 },
                 false, false, true},
        BitsCase{
            "mul_f16x2", "mov.b32 %r14, 0x3C003C00; mul.f16x2 %r13, %r10, %r14;",
            [](const Operands& x) { return of_halves(x[0], [](uint32_t h) { return same(h, 0x7C00); }); },
            false, false, true},
        BitsCase{
            "fma_f16x2",
            "mov.b32 %r14, 0x3C003C00; mov.b32 %r15, 0x80008000; fma.rn.f16x2 %r13, %r14, %r10, %r15;",
            [](const Operands& x) { return of_halves(x[0], [](uint32_t h) { return same(h, 0x7C00); }); },
            false, false, true},
        BitsCase{
            "mul_bf16x2", "mov.b32 %r14, 0x3F803F80; mul.bf16x2 %r13, %r10, %r14;",
            [](const Operands& x) { return of_halves(x[0], [](uint32_t h) { return same(h, 0x7F80); }); },
            false, false, true},
        BitsCase{"neg_f16x2", "neg.f16x2 %r13, %r10; xor.b32 %r13, %r13, 0x80008000;",
                 [](const Operands& x) {
                   return of_halves(x[0], [](uint32_t h) {
                     return same(h, 0x7C00) ^ (same(h, 0x7C00) == h ? 0 : 0x8000);
                   });
                 },
                 false, false, true}),
    [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace bitwell::isa
