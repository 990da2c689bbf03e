// Operand tiles whose rows lie side by side: the tool's names, the byte of every element, what is refused.
#include <gtest/gtest.h>

#include <set>

#include "model/layout/hardware.h"
#include "model/layout/operands.h"

namespace bitwell::layout {
namespace {

int64_t mn_major_at(const Hardware& h, int64_t row, int64_t k) {
  return h.layout(Tuple(std::vector<Tuple>{row, k}));
}

// The manual's canonical layout in bytes, again in plain arithmetic: lines of `span` bytes, one for each k,
// 8 (or 4) of them an atom; then the atoms along K; then the next `span` bytes of rows.
TEST(MnMajor, EveryElementIsWhereTheManualPutsIt) {
  struct Case {
    SharedSwizzle swizzle;
    int64_t span;
    int turns;  // lines after which the pattern starts again
    int64_t unit;
  };
  for (const Case& c : {Case{SharedSwizzle::none, 16, 1, 16}, Case{SharedSwizzle::b32, 32, 2, 16},
                        Case{SharedSwizzle::b64, 64, 4, 16}, Case{SharedSwizzle::b128, 128, 8, 16},
                        Case{SharedSwizzle::b128_atom_32b, 128, 4, 32}})
    for (const int64_t bits : {8, 16, 32}) {
      if (c.unit == 32 && bits != 32) continue;
      const int64_t across = c.span * 8 / bits;
      const int64_t k_extent = 24;
      const Hardware h = operand_tile(3 * across, k_extent, bits, c.swizzle, Major::mn);
      std::set<int64_t> seen;
      for (int64_t row = 0; row < 3 * across; ++row)
        for (int64_t k = 0; k < k_extent; ++k) {
          const int64_t byte = row % across * bits / 8;
          // Lines of 128 bytes: the pattern turns once a line.
          const int64_t line = (row / across * k_extent + k) * c.span / 128;
          const int64_t unit = (byte / c.unit) ^ (line % c.turns);
          const int64_t expected =
              (row / across * k_extent + k) * c.span + (c.span == 16 ? byte : unit * c.unit + byte % c.unit);
          ASSERT_EQ(mn_major_at(h, row, k) * bits / 8, expected)
              << row_of(c.swizzle).name << ", " << bits << " bits, row " << row << ", k " << k;
          ASSERT_TRUE(seen.insert(mn_major_at(h, row, k)).second);
          const std::optional<Tuple> back = coordinate_at(h, mn_major_at(h, row, k));
          ASSERT_TRUE(back && *back == Tuple(std::vector<Tuple>{row, k}));
        }
    }
}

std::string note(const Parameters& p) { return named_layout("operand-smem", p).notes.at(0); }
std::string refused(const Parameters& p) {
  try {
    named_layout("operand-smem", p);
  } catch (const LayoutError& e) {
    return e.what();
  }
  return "taken";
}

TEST(MnMajor, TheToolNamesItsDescriptor) {
  EXPECT_EQ(
      note({{"major", "mn"}, {"bits", "16"}, {"k", "64"}}),
      "descriptor: SBO (next 8 k) 1024 bytes, LBO (next 128 bytes of rows) 8192 bytes; base aligned to 1024 "
      "bytes");
  EXPECT_EQ(
      note({{"major", "mn"}, {"bits", "16"}, {"k", "64"}, {"swizzle", "none"}}),
      "descriptor: SBO (next 16 bytes of rows) 1024 bytes, LBO (next 8 k) 128 bytes; base aligned to 128 "
      "bytes");
  EXPECT_EQ(
      note({{"major", "mn"}, {"bits", "32"}, {"k", "32"}, {"swizzle", "128-atom-32"}}),
      "descriptor: SBO (next 4 k) 512 bytes, LBO (next 128 bytes of rows) 4096 bytes; base aligned to 1024 "
      "bytes");
}

TEST(MnMajor, WhatNoMmaTakesIsRefused) {
  EXPECT_EQ(refused({{"major", "mn"}}), "operands of 4 bits are K-major only");
  EXPECT_EQ(refused({{"bits", "32"}, {"swizzle", "128-atom-32"}}),
            "no K-major operand of 32 bits has the swizzle 128b_atom_32b");
  EXPECT_EQ(refused({{"major", "mn"}, {"bits", "16"}, {"swizzle", "128-atom-32"}}),
            "no MN-major operand of 16 bits has the swizzle 128b_atom_32b");
  EXPECT_EQ(refused({{"major", "mn"}, {"bits", "16"}, {"rows", "96"}}),
            "rows = 96 is no multiple of the 64 elements that 128 bytes hold");
  EXPECT_EQ(refused({{"major", "mn"}, {"bits", "16"}, {"k", "12"}}),
            "k = 12 is no multiple of the 8 of an atom");
  EXPECT_EQ(refused({{"major", "n"}}), "major is 'n', expected one of: k, mn");
}

}  // namespace
}  // namespace bitwell::layout
