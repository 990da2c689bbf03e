// Conversions to formats of 4, 6 and 8 bits that came with Blackwell: the words that a B200 gave, and what
// the manual says of the rest (PTX ISA 9.0, 9.7.9.21).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// The lists of b200_conversions.txt by name; nothing where a word was left out.
std::map<std::string, std::vector<std::optional<uint32_t>>> published() {
  std::map<std::string, std::vector<std::optional<uint32_t>>> out;
  std::ifstream file(BITWELL_B200_CONVERSIONS);
  std::string line, name;
  size_t digits = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.find(' ') != std::string::npos) {
      std::istringstream(line) >> name >> digits;
      continue;
    }
    for (size_t at = 0; at < line.size(); at += digits) {
      const std::string word = line.substr(at, digits);
      if (word[0] == '-')
        out[name].push_back(std::nullopt);
      else
        out[name].push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
    }
  }
  return out;
}

// What `body` leaves in %r10 of threads that have five words each, in %r1 to %r5 and %f1 to %f4.
std::vector<uint32_t> run(const std::string& body, const std::vector<std::array<uint32_t, 5>>& in) {
  std::vector<std::byte> bytes(20 * in.size());
  std::memcpy(bytes.data(), in.data(), bytes.size());
  const test::Left left =
      test::Kernel{
          .target = "sm_100a",
          .parameters = ".param .u64 in, .param .u64 out",
          .registers = ".reg .b8 %c<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %a<4>;",
          .start =
              "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\n"
              "mul.wide.u32 %a2, %r0, 20;\nadd.u64 %a0, %a0, %a2;\nmul.wide.u32 %a2, %r0, 4;\n"
              "add.u64 %a1, %a1, %a2;\nld.global.b32 %r1, [%a0];\nld.global.b32 %r2, [%a0+4];\n"
              "ld.global.b32 %r3, [%a0+8];\nld.global.b32 %r4, [%a0+12];\nld.global.b32 %r5, [%a0+16];\n"
              "mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\nmov.b32 %f4, %r4;\n"
              "mov.b32 %r10, 0;\n",
          .body = body,
          .finish = "st.global.b32 [%a1], %r10;",
          .shape = {.block = {static_cast<uint32_t>(in.size()), 1, 1}},
          .buffers = {test::input(bytes), test::output(4 * in.size())}}
          .held();
  return left.all<uint32_t>(1);
}

TEST(NarrowConversions, AreThoseOfAB200) {
  const auto words = published();
  const auto& source = words.at("source");
  const auto& random = words.at("random");
  ASSERT_EQ(source.size(), 144u);
  ASSERT_EQ(random.size(), 144u);
  std::vector<std::array<uint32_t, 5>> in;
  for (size_t i = 0; i + 3 < source.size(); ++i)
    in.push_back({*source[i], *source[i + 1], *source[i + 2], *source[i + 3], *random[i]});
  size_t compared = 0;
  for (const auto& [name, want] : words) {
    if (name == "source" || name == "random") continue;
    ASSERT_EQ(want.size(), 144u) << name;
    const bool by_chance = name.starts_with("cvt.rs");
    const bool half = name.find("e2m1x4") != std::string::npos || name.find("ue8m0") != std::string::npos;
    const std::string to = name.find("e2m1x2") != std::string::npos ? "%c1" : half ? "%h1" : "%r10";
    const std::string after = to == "%c1"   ? "mov.b16 %h1, {%c1, 0};\ncvt.u32.u16 %r10, %h1;\n"
                              : to == "%h1" ? "cvt.u32.u16 %r10, %h1;\n"
                                            : "";
    const std::vector<uint32_t> got =
        run(name + " " + to + (by_chance ? ", {%f1, %f2, %f3, %f4}, %r5;\n" : ", %f1, %f2;\n") + after, in);
    for (size_t i = 0; i < got.size(); ++i) {
      if (!want[i]) continue;
      EXPECT_EQ(got[i], *want[i]) << name << ", entry " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 900u);
}

TEST(NarrowConversions, ScalesAreBackAsPowersOfTwo) {
  std::vector<std::array<uint32_t, 5>> in;
  for (uint32_t c = 0; c < 256; ++c) in.push_back({c << 8 | (255 - c), 0, 0, 0, 0});
  const std::vector<uint32_t> got = run("cvt.u16.u32 %h1, %r1;\ncvt.rn.bf16x2.ue8m0x2 %r10, %h1;\n", in);
  const auto bf16 = [](uint32_t c) -> uint32_t { return c == 255 ? 0x7FFF : c == 0 ? 0x40 : c << 7; };
  for (uint32_t c = 0; c < 256; ++c) EXPECT_EQ(got[c], bf16(c) << 16 | bf16(255 - c)) << c;
  // And every bf16 of the same exponent goes down to its scale, or up.
  in.clear();
  for (uint32_t c = 1; c < 255; ++c) in.push_back({(c << 7 | 1) << 16 | 0x8000 | c << 7, 0, 0, 0, 0});
  const std::vector<uint32_t> down = run("cvt.rz.ue8m0x2.bf16x2 %h1, %r1;\ncvt.u32.u16 %r10, %h1;\n", in);
  const std::vector<uint32_t> up =
      run("cvt.rp.satfinite.ue8m0x2.bf16x2 %h1, %r1;\ncvt.u32.u16 %r10, %h1;\n", in);
  for (uint32_t c = 1; c < 255; ++c) {
    EXPECT_EQ(down[c - 1], c << 8 | c);
    EXPECT_EQ(up[c - 1], std::min(c + 1, 254u) << 8 | c);
  }
}

// The random bits at the edges: what is cut off, and a random number that just does not carry or just does.
TEST(NarrowConversions, ChanceRoundsAwayWhereItCarries) {
  // 1 + 3 * 2^-13 to fp16: 13 bits are cut off, 3 * 2^10 of them set; to bf16: 3 * 2^10 of 2^16.
  const uint32_t v = 0x3F800000 | 3 << 10;
  const uint32_t minus = v | 0x80000000;
  const auto f16 = [&](uint32_t a, uint32_t b, uint32_t random, const std::string& extra = "") {
    return run("cvt.rs" + extra + ".f16x2.f32 %r10, %f1, %f2, %r5;\n", {{a, b, 0, 0, random}})[0];
  };
  const uint32_t just = 0x2000 - (3 << 10);
  EXPECT_EQ(f16(v, v, (just - 1) << 16 | (just - 1)), 0x3C003C00u);
  EXPECT_EQ(f16(v, v, just << 16 | (just - 1)), 0x3C013C00u);
  EXPECT_EQ(f16(v, minus, (just - 1) << 16 | just), 0x3C00BC01u);
  EXPECT_EQ(f16(v, v, 0xE000u << 16 | 0xE000), 0x3C003C00u) << "the top three bits do not count";
  EXPECT_EQ(f16(minus, v, just << 16 | just, ".relu"), 0x00003C01u);
  EXPECT_EQ(f16(0x7F800000, 0xFF800000, 0), 0x7C00FC00u);
  EXPECT_EQ(f16(0x7F800000, 0xFFC00000, 0, ".satfinite"), 0x7BFF7FFFu);
  EXPECT_EQ(f16(0x477FF000, 0x47800000, 0, ".satfinite"), 0x7BFF7BFFu);
  EXPECT_THROW(f16(0x47800000, 0, 0), machine::Unsupported);
  const auto bf16 = [&](uint32_t a, uint32_t b, uint32_t random) {
    return run("cvt.rs.bf16x2.f32 %r10, %f1, %f2, %r5;\n", {{a, b, 0, 0, random}})[0];
  };
  const uint32_t all = 0x10000 - (3 << 10);
  EXPECT_EQ(bf16(v, v, (all - 1) << 16 | all), 0x3F803F81u);
  EXPECT_EQ(bf16(minus, v, all << 16 | (all - 1)), 0xBF813F80u);
}

}  // namespace
}  // namespace bitwell::isa
