// Additions, subtractions and products of 128 and of 64 bits that hand a carry on, in threads some of which
// are not there, beside the host's own numbers (PTX ISA 9.0, 9.7.2).
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

__extension__ typedef unsigned __int128 U128;

struct Chain {
  const char* name;
  bool wide;         // of words of 64 bits, else of 32
  const char* body;  // %w0, %w1: a; %w2, %w3: b; %w4, %w5: c; into %w6, %w7; W: their type
  U128 (*want)(U128 a, U128 b, U128 c, int bits);  // of two words
};

U128 low(U128 v, int bits) { return bits == 64 ? v & ~uint64_t{0} : v & 0xFFFFFFFF; }
U128 high(U128 v, int bits) { return v >> bits; }
// The signed product's upper word.
U128 signed_high(U128 a, U128 b, int bits) {
  __extension__ typedef __int128 S128;
  const auto extended = [&](U128 v) {
    return bits == 64 ? static_cast<S128>(static_cast<int64_t>(v))
                      : static_cast<S128>(static_cast<int32_t>(v));
  };
  return low(static_cast<U128>(extended(low(a, bits)) * extended(low(b, bits))) >> bits, bits);
}

const Chain kChains[] = {{"add", false, "add.cc.u32 %w6, %w0, %w2; addc.u32 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128, int) { return a + b; }},
                         {"add", true, "add.cc.u64 %w6, %w0, %w2; addc.u64 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128, int) { return a + b; }},
                         {"sub", false, "sub.cc.s32 %w6, %w0, %w2; subc.s32 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128, int) { return a - b; }},
                         {"sub", true, "sub.cc.u64 %w6, %w0, %w2; subc.u64 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128, int) { return a - b; }},
                         // The lower words' product and c.
                         {"mad", false, "mad.lo.cc.u32 %w6, %w0, %w2, %w4; madc.hi.u32 %w7, %w0, %w2, %w5;",
                          [](U128 a, U128 b, U128 c, int n) { return low(a, n) * low(b, n) + c; }},
                         {"mad", true, "mad.lo.cc.u64 %w6, %w0, %w2, %w4; madc.hi.u64 %w7, %w0, %w2, %w5;",
                          [](U128 a, U128 b, U128 c, int n) { return low(a, n) * low(b, n) + c; }},
                         // The upper word of a product first, whose carry the next addition takes.
                         {"mad.hi", false, "mad.hi.cc.u32 %w6, %w0, %w2, %w4; addc.u32 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128 c, int n) {
                            const U128 first = high(low(a, n) * low(b, n), n) + low(c, n);
                            return low(first, n) | low(high(a, n) + high(b, n) + high(first, n), n) << n;
                          }},
                         {"signed mad.hi", false, "mad.hi.cc.s32 %w6, %w0, %w2, %w4; addc.s32 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128 c, int n) {
                            const U128 first = signed_high(a, b, n) + low(c, n);
                            return low(first, n) | low(high(a, n) + high(b, n) + high(first, n), n) << n;
                          }},
                         {"signed mad.hi", true, "mad.hi.cc.s64 %w6, %w0, %w2, %w4; addc.s64 %w7, %w1, %w3;",
                          [](U128 a, U128 b, U128 c, int n) {
                            const U128 first = signed_high(a, b, n) + low(c, n);
                            return low(first, n) | low(high(a, n) + high(b, n) + high(first, n), n) << n;
                          }}};

TEST(Carry, ChainsAreTheHostsNumbers) {
  std::mt19937_64 random(5);
  for (const Chain& c : kChains)
    for (const uint32_t threads : {32u, 7u}) {
      const size_t size = c.wide ? 8 : 4;
      const std::string w = c.wide ? "64" : "32", bytes = std::to_string(2 * size),
                        word = std::to_string(size);
      // Words of zeros and ones carry furthest.
      std::array<std::vector<std::byte>, 3> in;
      for (auto& of : in)
        for (size_t i = 0; i < 64; ++i) {
          const uint64_t v = random() % 3 == 0   ? random() % 2 - 1
                             : random() % 2 == 0 ? random()
                                                 : random() % 3;
          of.resize(of.size() + size);
          std::memcpy(&of[of.size() - size], &v, size);
        }
      test::Kernel k{
          .parameters = ".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pout",
          .registers = ".reg .pred %p; .reg .b32 %t; .reg .b64 %d<6>; .reg .b" + w + " %w<8>;",
          .start =
              "mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, " + std::to_string(threads) +
              "; mul.wide.u32 %d5, %t, " + bytes +
              ";\nld.param.u64 %d0, [pa]; ld.param.u64 %d1, [pb]; ld.param.u64 %d2, [pc]; ld.param.u64 %d3, "
              "[pout];\n"
              "add.u64 %d0, %d0, %d5; add.u64 %d1, %d1, %d5; add.u64 %d2, %d2, %d5; add.u64 %d3, %d3, %d5;\n"
              "mov.b" +
              w + " %w6, 0; mov.b" + w + " %w7, 0; @!%p bra STORE;\n" + "ld.global.b" + w +
              " %w0, [%d0]; ld.global.b" + w + " %w1, [%d0+" + word + "]; ld.global.b" + w +
              " %w2, [%d1]; ld.global.b" + w + " %w3, [%d1+" + word + "]; ld.global.b" + w +
              " %w4, [%d2]; ld.global.b" + w + " %w5, [%d2+" + word + "];\n",
          .body = std::string(c.body) + "\nSTORE: st.global.b" + w + " [%d3], %w6; st.global.b" + w +
                  " [%d3+" + word + "], %w7;",
          .buffers = {test::input(in[0]), test::input(in[1]), test::input(in[2]), test::output(64 * size)}};
      const test::Left left = k.run();
      ASSERT_EQ(left.end(), "held") << c.name;
      const auto number = [&](const std::vector<std::byte>& of, size_t i) {
        uint64_t words[2] = {};
        for (size_t n = 0; n < 2; ++n) std::memcpy(&words[n], &of[(2 * i + n) * size], size);
        return static_cast<U128>(words[1]) << (8 * size) | words[0];
      };
      for (size_t i = 0; i < 32; ++i) {
        U128 want = c.want(number(in[0], i), number(in[1], i), number(in[2], i), static_cast<int>(8 * size));
        if (!c.wide) want = static_cast<uint64_t>(want);
        if (i >= threads) want = 0;
        EXPECT_TRUE(number(left.buffers[3].bytes, i) == want) << c.name << w << " of thread " << i;
      }
    }
}

}  // namespace
}  // namespace bitwell::isa
