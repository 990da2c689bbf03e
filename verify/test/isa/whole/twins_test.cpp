// The lane loops of one instruction set against those of another: the same bits for the same rows.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "model/isa/lanes/catalog.h"
#include "model/isa/lanes/soft.h"

namespace bitwell::isa {
namespace {

constexpr size_t kRows = 40;
constexpr size_t kRowBytes = 128;
using Rows = std::array<std::byte, kRows * kRowBytes>;

// Rows of random bits, or of values that matter: zeros, ones, infinities, NaN, subnormals, small integers.
void fill(Rows& rows, std::mt19937_64& random) {
  static constexpr uint64_t special[] = {0,
                                         0x8000000080000000,
                                         0x3F8000003F800000,
                                         0x7F8000007F800000,
                                         0x7FC000017F800001,
                                         0x0080000000800000,
                                         0x3F7FFFFF3F7FFFFF,
                                         0x007FFFFF00000001,
                                         0x3C003C003C003C00,
                                         0x7C007C017BFF0001,
                                         0x0400040003FF8000,
                                         0x7FF0000000000000,
                                         0xFFF8000000000001,
                                         0x3FF0000000000000,
                                         31,
                                         32,
                                         33,
                                         0xFFFFFFFFFFFFFFFF,
                                         0x8000000000000000,
                                         0x7FFFFFFFFFFFFFFF};
  for (size_t at = 0; at < rows.size(); at += 8) {
    const uint64_t v = random() % 2 == 0 ? random() : special[random() % std::size(special)];
    std::memcpy(rows.data() + at, &v, 8);
  }
}

TEST(Twins, EveryLaneLoopGivesTheSameBitsOnEveryInstructionSet) {
  const Catalog& plain = lanes_catalog("scalar");
  size_t compared = 0;
  for (const char* level : {"avx2", "avx512"}) {
    const Catalog& fast = lanes_catalog(level);
    if (fast.empty()) continue;
    ASSERT_EQ(fast.size(), plain.size());
    for (const auto& [name, loop] : plain) {
      std::mt19937_64 random(11);
      for (int round = 0; round < 60; ++round) {
        alignas(64) Rows a;
        fill(a, random);
        alignas(64) Rows b = a;
        Op op;
        op.a = 4 * kRowBytes;
        op.b = 8 * kRowBytes;
        op.c = 12 * kRowBytes;
        op.e = 16 * kRowBytes;
        op.d = round % 3 == 0 ? op.a : 20 * kRowBytes;  // in place too
        op.d2 = 24 * kRowBytes;
        op.imm = static_cast<uint64_t>(round % 16);
        std::vector<uint32_t> list{28 * kRowBytes, 30 * kRowBytes, 32 * kRowBytes, 34 * kRowBytes};
        op.results = &list;
        op.sources = &list;
        if (name.starts_with("pack.")) op.d = 20 * kRowBytes;
        // In place only where source and destination lanes have the same width.
        if (name.starts_with("cvt.") || name.find("wide") != std::string::npos || name.starts_with("popc") ||
            name.starts_with("clz") || name.starts_with("bfind") || name.starts_with("setp") ||
            name.starts_with("set."))
          op.d = 20 * kRowBytes;
        const uint32_t mask = round % 4 == 0 ? ~0u : static_cast<uint32_t>(random()) | 1;
        loop(op, a.data(), mask);
        fast.at(name)(op, b.data(), mask);
        ASSERT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0) << name << " " << level << " round " << round;
        ++compared;
      }
    }
  }
  std::printf("%zu runs compared\n", compared);
  if (compared == 0) GTEST_SKIP() << "this host has neither AVX2 nor AVX-512";
}

// A conversion that is a lane loop and the same through model/number, which is its definition.
struct Twin {
  const char* name;
  const number::Format* from;
  const number::Format* to;
  int from_bits, to_bits;  // of an element
  int count = 1;
  bool two_sources = false, saturates = false;
};
constexpr Twin kTwins[] = {{"cvt.rn.bf16.f32", &number::f32, &number::bf16, 32, 16},
                           {"cvt.rn.bf16x2.f32", &number::f32, &number::bf16, 32, 16, 2, true},
                           {"cvt.f32.bf16", &number::bf16, &number::f32, 16, 32},
                           {"cvt.rn.satfinite.e4m3x2.f32", &number::f32, &number::e4m3, 32, 8, 2, true, true},
                           {"cvt.rn.satfinite.e5m2x2.f32", &number::f32, &number::e5m2, 32, 8, 2, true, true},
                           {"cvt.rn.f16x2.e5m2x2", &number::e5m2, &number::f16, 8, 16, 2}};

// Every code of 16 bits; of fp32 every upper half, with lower halves around a tie of bf16, which stand for
// what lies beside a tie of fewer bits too.
TEST(Twins, ConversionsAreThoseOfModelNumber) {
  static constexpr uint32_t lower[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
  for (const Twin& twin : kTwins) {
    Conversion conversion;
    conversion.from = {twin.from, twin.from_bits, true};
    conversion.to = {twin.to, twin.to_bits, true};
    conversion.saturate = twin.saturates;
    conversion.count = twin.count;
    conversion.two_sources = twin.two_sources;
    const Op slow = soft_conversion(conversion);
    for (const char* level : {"scalar", "avx2", "avx512"}) {
      const Catalog& catalog = lanes_catalog(level);
      if (catalog.empty()) continue;
      const Lanes loop = catalog.at(twin.name);
      const bool wide = twin.from_bits == 32;
      for (const uint32_t low : lower) {
        if (!wide && low != 0) continue;
        for (uint32_t first = 0; first < 0x10000; first += 32) {
          alignas(64) Rows expected{};
          for (uint32_t i = 0; i < 32; ++i) {
            const uint32_t code = first + i;
            const uint32_t a = wide ? code << 16 | low : code;
            const uint32_t b = a ^ 0x80000000;  // the other sign to the lower place
            if (wide) {
              std::memcpy(&expected[4 * kRowBytes + 4 * i], &a, 4);
              std::memcpy(&expected[8 * kRowBytes + 4 * i], &b, 4);
            } else {
              std::memcpy(&expected[4 * kRowBytes + 2 * i], &a, 2);
            }
          }
          alignas(64) Rows fast = expected;
          Op op = slow;
          op.a = 4 * kRowBytes;
          op.b = 8 * kRowBytes;
          op.d = 20 * kRowBytes;
          const uint32_t mask = first % 64 == 0 ? ~0u : 0xA5A5F00Fu;
          slow.lanes(op, expected.data(), mask);
          loop(op, fast.data(), mask);
          ASSERT_EQ(std::memcmp(fast.data(), expected.data(), fast.size()), 0)
              << twin.name << " " << level << " from " << std::hex << first << " with " << low;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
