// The lane loops of one instruction set against those of another: the same bits for the same rows.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "model/isa/lanes/catalog.h"

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

}  // namespace
}  // namespace bitwell::isa
