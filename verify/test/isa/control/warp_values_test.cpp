// mma.sync of bytes, of 4-bit integers and of fp64, movmatrix, bf16 as minimum, maximum and sign, fp32
// arithmetic on fp16 and bf16, and special registers of the launch (PTX ISA 9.0, 9.7.4, 9.7.5, 9.7.14,
// chapter 10). Expected values: the manual's figures of fragments written out, the host's own integers and
// fused multiply-adds.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// What one warp leaves: each thread reads `in` bytes of its own to [%a0], and writes `out` bytes to [%a1].
std::vector<std::byte> run(const std::string& body, const std::vector<std::byte>& in, size_t out,
                           const std::array<uint32_t, 32>& environment = {}) {
  const size_t each = in.size() / 32;
  const test::Left left =
      test::Kernel{
          .target = "sm_100a",
          .parameters = ".param .u64 in, .param .u64 out",
          .registers =
              ".reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %a<4>; .reg .b64 %d<8>; "
              ".reg .f64 %g<24>;",
          .start =
              "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\n"
              "mul.wide.u32 %a2, %r0, " +
              std::to_string(each) + ";\nadd.u64 %a0, %a0, %a2;\nmul.wide.u32 %a2, %r0, " +
              std::to_string(out) + ";\nadd.u64 %a1, %a1, %a2;\n",
          .body = body,
          .shape = {.block = {32, 1, 1}, .environment = environment},
          .buffers = {test::input(in), test::output(out * 32)}}
          .held();
  return left.buffers[1].bytes;
}

std::vector<std::byte> random_bytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> out(count);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}

template <class T>
T at(const std::vector<std::byte>& bytes, size_t n) {
  T out;
  std::memcpy(&out, bytes.data() + n * sizeof(T), sizeof(T));
  return out;
}

std::string list(const std::string& prefix, size_t first, size_t count) {
  std::string out = "{";
  for (size_t n = 0; n < count; ++n) out += (n == 0 ? "" : ", ") + prefix + std::to_string(first + n);
  return out + "}";
}

// The products of one warp: registers, 32 bits each, of A, B and C behind one another.
struct Product {
  size_t m, k, a, b, c;
  size_t words() const { return a + b + c; }
  // Random words, and sums at both ends of the range: `most`, or a lane less each.
  std::vector<std::byte> inputs(uint32_t seed, uint32_t most, bool less_by_lane) const {
    std::vector<std::byte> in = random_bytes(32 * 4 * words(), seed);
    for (size_t lane = 0; lane < 32; lane += 3)
      for (size_t n = 0; n < c; ++n) {
        const uint32_t end =
            (lane + n) % 2 == 0 ? most - (less_by_lane ? static_cast<uint32_t>(lane) : 0) : 0x80000001u;
        std::memcpy(&in[4 * (lane * words() + a + b + n)], &end, 4);
      }
    return in;
  }
  std::vector<std::byte> run_on(const std::vector<std::byte>& in, const std::string& satfinite,
                                const std::string& types) const {
    std::string body;
    for (size_t n = 0; n < words(); ++n)
      body += "ld.global.b32 %r" + std::to_string(n + 1) + ", [%a0+" + std::to_string(4 * n) + "];\n";
    const std::string sums = list("%r", 1 + a + b, c);
    body += "mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) + ".row.col" + satfinite +
            ".s32" + types + ".s32 " + sums + ", " + list("%r", 1, a) + ", " + list("%r", 1 + a, b) + ", " +
            sums + ";\n";
    for (size_t n = 0; n < c; ++n)
      body += "st.global.b32 [%a1+" + std::to_string(4 * n) + "], %r" + std::to_string(1 + a + b + n) + ";\n";
    return run(body, in, 4 * c);
  }
  // C's elements, of which a thread has two of a row beside one another: product(row, column) added.
  template <class Exact>
  void expect(const std::vector<std::byte>& in, const std::vector<std::byte>& out, bool stays,
              const std::string& what, const Exact& product) const {
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t i = 0; i < c; ++i) {
        const size_t row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + (i & 1);
        int64_t sum = at<int32_t>(in, lane * words() + a + b + i) + product(row, column);
        if (stays) sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
        EXPECT_EQ(static_cast<uint32_t>(at<int32_t>(out, lane * c + i)), static_cast<uint32_t>(sum))
            << "m" << m << "k" << k << what << ", row " << row << ", column " << column;
      }
  }
};

struct ByteShape {
  size_t m, k;
};

// Rows and columns of a thread's bytes as the manual gives them for each shape.
size_t a_row(ByteShape s, size_t group, size_t i) {
  if (s.m == 8) return group;
  return s.k == 16 ? (i < 4 ? group : group + 8) : (i < 4 || (i >= 8 && i < 12) ? group : group + 8);
}
size_t a_column(ByteShape s, size_t t, size_t i) { return t * 4 + (i & 3) + (s.k == 32 && i >= 8 ? 16 : 0); }

TEST(WarpValues, ProductsOfBytesAreExactAndWrapOrStay) {
  for (const ByteShape s : {ByteShape{8, 16}, {16, 16}, {16, 32}})
    for (const char* types : {".u8.u8", ".u8.s8", ".s8.u8", ".s8.s8"})
      for (const char* satfinite : {"", ".satfinite"}) {
        const Product p{s.m, s.k, s.m * s.k / 128, s.k / 16, s.m / 4};
        const std::vector<std::byte> in = p.inputs(3, 0x7FFFFFFFu, true);
        const std::vector<std::byte> out = p.run_on(in, satfinite, types);
        int64_t a[16][32], b[32][8];
        const auto number = [](std::byte v, bool is_signed) {
          return is_signed ? int64_t{static_cast<int8_t>(v)} : int64_t{static_cast<uint8_t>(v)};
        };
        for (size_t lane = 0; lane < 32; ++lane) {
          const std::byte* own = &in[4 * p.words() * lane];
          for (size_t i = 0; i < 4 * p.a; ++i)
            a[a_row(s, lane / 4, i)][a_column(s, lane % 4, i)] = number(own[i], types[1] == 's');
          for (size_t i = 0; i < 4 * p.b; ++i)
            b[lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0)][lane / 4] =
                number(own[4 * p.a + i], types[4] == 's');
        }
        p.expect(in, out, *satfinite != '\0', std::string(types) + satfinite, [&](size_t row, size_t column) {
          int64_t sum = 0;
          for (size_t k = 0; k < s.k; ++k) sum += a[row][k] * b[k][column];
          return sum;
        });
      }
}

// Where the manual has the i-th element of four bits that a thread holds (PTX ISA 9.0, 9.7.14.5.4, .10, .11).
struct NibblePlaces {
  size_t m, k;
  size_t a_row(size_t group, size_t i) const {
    return m == 8 || (k == 32 ? i < 8 : i < 8 || (16 <= i && i < 24)) ? group : group + 8;
  }
  size_t a_column(size_t t, size_t i) const { return t * 8 + (i & 7) + (k == 64 && i >= 16 ? 32 : 0); }
  size_t b_row(size_t t, size_t i) const { return t * 8 + (i & 7) + (i >= 8 ? 32 : 0); }
};

TEST(WarpValues, ProductsOfFourBitIntegersAreExactAndWrapOrStay) {
  for (const NibblePlaces s : {NibblePlaces{8, 32}, {16, 32}, {16, 64}})
    for (const char* types : {".u4.u4", ".u4.s4", ".s4.u4", ".s4.s4"})
      for (const char* satfinite : {"", ".satfinite"}) {
        const Product p{s.m, s.k, s.m * s.k / 256, s.k / 32, s.m / 4};
        const std::vector<std::byte> in = p.inputs(4, 0x7FFFFFF0u, false);
        const std::vector<std::byte> out = p.run_on(in, satfinite, types);
        int a[16][64], b[64][8];
        const auto number = [&](size_t lane, size_t word, size_t i, char type) {
          const int v = at<uint32_t>(in, lane * p.words() + word + i / 8) >> 4 * (i % 8) & 0xF;
          return type == 's' && v >= 8 ? v - 16 : v;
        };
        for (size_t lane = 0; lane < 32; ++lane) {
          for (size_t i = 0; i < 8 * p.a; ++i)
            a[s.a_row(lane / 4, i)][s.a_column(lane % 4, i)] = number(lane, 0, i, types[1]);
          for (size_t i = 0; i < 8 * p.b; ++i)
            b[s.b_row(lane % 4, i)][lane / 4] = number(lane, p.a, i, types[4]);
        }
        p.expect(in, out, *satfinite != '\0', std::string(types) + satfinite, [&](size_t row, size_t column) {
          int64_t sum = 0;
          for (size_t k = 0; k < s.k; ++k) sum += a[row][k] * b[k][column];
          return sum;
        });
      }
}

TEST(WarpValues, ProductsOfDoublesAreAChainOfFusedMultiplyAddsInTheOrderOfK) {
  for (const auto& [m, k] : {std::pair<size_t, size_t>{8, 4}, {16, 4}, {16, 8}, {16, 16}}) {
    const size_t a_count = m * k / 32, b_count = k / 4, c_count = m / 4;
    const size_t words = a_count + b_count + c_count;
    std::mt19937_64 random(5);
    std::vector<double> values(32 * words);
    for (double& v : values)
      v = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 104);
    for (size_t n = 0; n < values.size(); n += 7) values[n] = -values[n];
    std::vector<std::byte> in(8 * values.size());
    std::memcpy(in.data(), values.data(), in.size());
    std::string body;
    for (size_t n = 0; n < words; ++n)
      body += "ld.global.f64 %g" + std::to_string(n) + ", [%a0+" + std::to_string(8 * n) + "];\n";
    const std::string c = list("%g", a_count + b_count, c_count);
    body += "mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) +
            ".row.col.f64.f64.f64.f64 " + c + ", " + list("%g", 0, a_count) + ", " +
            list("%g", a_count, b_count) + ", " + c + ";\n";
    for (size_t n = 0; n < c_count; ++n)
      body += "st.global.f64 [%a1+" + std::to_string(8 * n) + "], %g" +
              std::to_string(a_count + b_count + n) + ";\n";
    const std::vector<std::byte> out = run(body, in, 8 * c_count);
    double a[16][16], b[16][8];
    for (size_t lane = 0; lane < 32; ++lane) {
      for (size_t i = 0; i < a_count; ++i) {
        const bool lower = m == 16 && i % 2 == 1;
        const size_t column = m == 8 ? lane % 4 : lane % 4 + i / 2 * 4;
        a[lane / 4 + (lower ? 8 : 0)][column] = values[words * lane + i];
      }
      for (size_t i = 0; i < b_count; ++i) b[lane % 4 + 4 * i][lane / 4] = values[words * lane + a_count + i];
    }
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t i = 0; i < c_count; ++i) {
        double sum = values[words * lane + a_count + b_count + i];
        for (size_t n = 0; n < k; ++n)
          sum = std::fma(a[lane / 4 + (i < 2 ? 0 : 8)][n], b[n][lane % 4 * 2 + (i & 1)], sum);
        EXPECT_EQ(at<uint64_t>(out, lane * c_count + i), std::bit_cast<uint64_t>(sum))
            << "m" << m << "k" << k;
      }
  }
}

TEST(WarpValues, MovmatrixTransposesEightByEight) {
  const std::vector<std::byte> in = random_bytes(128, 9);
  const std::vector<std::byte> out =
      run("ld.global.b32 %r1, [%a0];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.b32 [%a1], "
          "%r2;\n",
          in, 4);
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 8; ++column)
      EXPECT_EQ(at<uint16_t>(out, 8 * row + column), at<uint16_t>(in, 8 * column + row));
}

// bf16 is the upper half of fp32: what fp32 says of two values, it says of their halves.
TEST(WarpValues, Bf16ComparesAsItsFp32Does) {
  const std::vector<uint16_t> codes{0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x3F80, 0xBF80,
                                    0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F81, 0x4049};
  for (const char* opcode : {"min", "max"})
    for (const char* modifiers : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"}) {
      const bool xors = std::string(modifiers).find("xorsign") != std::string::npos;
      const bool propagates = std::string(modifiers).find(".NaN") != std::string::npos;
      for (const uint16_t b : codes) {
        std::vector<std::byte> in(32 * 4);
        for (size_t lane = 0; lane < 32; ++lane) {
          const uint32_t word = codes[lane % codes.size()] | uint32_t{b} << 16;
          std::memcpy(&in[4 * lane], &word, 4);
        }
        const std::string name = std::string(opcode) + modifiers;
        const std::vector<std::byte> out = run(
            "ld.global.b32 %r1, [%a0];\nmov.b32 {%h1, %h2}, %r1;\n" + name + ".bf16 %h3, %h1, %h2;\n" +
                "mov.b32 %r2, {%h1, %h2};\nmov.b32 %r3, {%h2, %h1};\n" + name + ".bf16x2 %r4, %r2, %r3;\n" +
                "st.global.b16 [%a1], %h3;\nst.global.b16 [%a1+2], %h3;\nst.global.b32 [%a1+4], %r4;\n",
            in, 8);
        for (size_t lane = 0; lane < 32; ++lane) {
          const auto expected = [&](uint16_t x, uint16_t y) -> uint16_t {
            const uint16_t sign = xors ? (x ^ y) & 0x8000 : 0;
            if (xors) x &= 0x7FFF, y &= 0x7FFF;
            const float u = std::bit_cast<float>(uint32_t{x} << 16),
                        v = std::bit_cast<float>(uint32_t{y} << 16);
            if (std::isnan(u) && (std::isnan(v) || propagates)) return 0x7FFF;
            if (std::isnan(v)) return propagates ? 0x7FFF : x | sign;
            if (std::isnan(u)) return y | sign;
            const bool less = u < v || (u == v && std::signbit(u) && !std::signbit(v));
            return (less == (opcode[1] == 'i') ? x : y) | sign;
          };
          const uint16_t a = codes[lane % codes.size()];
          EXPECT_EQ(at<uint16_t>(out, 4 * lane), expected(a, b)) << name << std::hex << " " << a << " " << b;
          EXPECT_EQ(at<uint16_t>(out, 4 * lane + 2), expected(a, b)) << name << "x2";
          EXPECT_EQ(at<uint16_t>(out, 4 * lane + 3), expected(b, a)) << name << "x2";
        }
      }
    }
}

TEST(WarpValues, MixedArithmeticWidensFirst) {
  const std::vector<std::byte> in = random_bytes(32 * 8, 21);
  const std::vector<std::byte> out =
      run("ld.global.b16 %h1, [%a0];\nld.global.b16 %h2, [%a0+2];\nld.global.f32 %f1, [%a0+4];\n"
          "add.f32.bf16 %f2, %h1, %f1;\nsub.rn.f32.bf16 %f3, %h1, %f1;\nfma.rn.f32.bf16 %f4, %h1, %h2, %f1;\n"
          "neg.bf16 %h3, %h1;\nabs.bf16 %h4, %h1;\n"
          "st.global.f32 [%a1], %f2;\nst.global.f32 [%a1+4], %f3;\nst.global.f32 [%a1+8], %f4;\n"
          "st.global.b16 [%a1+12], %h3;\nst.global.b16 [%a1+14], %h4;\n",
          in, 16);
  const auto same = [](float got, float expected) {
    return std::bit_cast<uint32_t>(got) ==
           (std::isnan(expected) ? 0x7FFFFFFF : std::bit_cast<uint32_t>(expected));
  };
  for (size_t lane = 0; lane < 32; ++lane) {
    const uint16_t code = at<uint16_t>(in, 4 * lane);
    const float a = std::bit_cast<float>(uint32_t{code} << 16);
    const float b = std::bit_cast<float>(uint32_t{at<uint16_t>(in, 4 * lane + 1)} << 16);
    const float c = at<float>(in, 2 * lane + 1);
    EXPECT_TRUE(same(at<float>(out, 4 * lane), a + c)) << lane;
    EXPECT_TRUE(same(at<float>(out, 4 * lane + 1), a - c)) << lane;
    EXPECT_TRUE(same(at<float>(out, 4 * lane + 2), std::fma(a, b, c))) << lane;
    EXPECT_EQ(at<uint16_t>(out, 8 * lane + 6), std::isnan(a) ? 0x7FFF : code ^ 0x8000);
    EXPECT_EQ(at<uint16_t>(out, 8 * lane + 7), std::isnan(a) ? 0x7FFF : code & 0x7FFF);
  }
}

TEST(WarpValues, EnvironmentRegistersAreTheLaunchsAndTimeGoesOn) {
  std::array<uint32_t, 32> environment{};
  environment[1] = 0x1234;
  environment[31] = 7;
  const std::vector<std::byte> out =
      run("mov.u32 %r1, %envreg1;\nmov.b32 %r2, %envreg31;\nmov.u32 %r3, %envreg2;\nmov.u64 %d1, %clock64;\n"
          "mov.u64 %d2, %globaltimer;\nst.global.b32 [%a1], %r1;\nst.global.b32 [%a1+4], %r2;\n"
          "st.global.b32 [%a1+8], %r3;\nst.global.b64 [%a1+16], %d1;\nst.global.b64 [%a1+24], %d2;\n",
          std::vector<std::byte>(128), 32, environment);
  EXPECT_EQ(at<uint32_t>(out, 0), 0x1234u);
  EXPECT_EQ(at<uint32_t>(out, 1), 7u);
  EXPECT_EQ(at<uint32_t>(out, 2), 0u);
  EXPECT_LT(at<uint64_t>(out, 2), at<uint64_t>(out, 3));
}

}  // namespace
}  // namespace bitwell::isa
