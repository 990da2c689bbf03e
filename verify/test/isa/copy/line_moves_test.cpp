// Rows of lines, as bulk copies move them, byte by byte: by every instruction set that this host has.
#include "model/isa/lanes/line_moves.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "model/number/simd_level.h"

namespace bitwell::isa {
namespace {

const std::vector<std::string> kLevels = {"scalar", "avx2", "avx512"};

// The unit at c of a line comes from c ^ key, by the line's number; what lies between rows stays.
TEST(LineMoves, CopyTakesEachUnitFromWhereTheKeySays) {
  std::mt19937_64 random(7);
  std::vector<LineKeys> all_keys(3);
  for (size_t i = 0; i < 8; ++i) {
    all_keys[1][i] = static_cast<uint8_t>(16 * i);
    all_keys[2][i] = static_cast<uint8_t>(16 * (random() % 8));
  }
  for (const std::string& level : kLevels) {
    if (!number::has_level(level)) continue;
    for (const LineKeys& keys : all_keys)
      for (const size_t rows : {0, 1, 3, 9})
        for (const size_t lines : {1, 2, 5})
          for (const size_t first_line : {0, 1, 7, 12})
            for (const size_t between : {0, 16, 384}) {
              const size_t bytes = lines * kSwizzleLine, from_stride = bytes + between,
                           to_stride = bytes + 2 * between;
              std::vector<uint8_t> from(10 * from_stride), to(10 * to_stride);
              for (uint8_t& b : from) b = static_cast<uint8_t>(random());
              for (uint8_t& b : to) b = static_cast<uint8_t>(random());
              std::vector<uint8_t> wanted = to;
              for (size_t row = 0; row < rows; ++row)
                for (size_t i = 0; i < bytes; ++i) {
                  const size_t line = i / kSwizzleLine;
                  const size_t in_line = i % kSwizzleLine ^ keys[(first_line + row * lines + line) % 8];
                  wanted[row * to_stride + i] = from[row * from_stride + line * kSwizzleLine + in_line];
                }
              line_moves(level).copy(reinterpret_cast<const std::byte*>(from.data()), from_stride,
                                     reinterpret_cast<std::byte*>(to.data()), to_stride, rows, bytes, keys,
                                     first_line);
              ASSERT_EQ(to, wanted) << level << ", " << rows << " rows of " << lines << " lines from line "
                                    << first_line << ", " << between << " bytes between";
            }
  }
}

TEST(LineMoves, FillTouchesRowsAlone) {
  for (const std::string& level : kLevels) {
    if (!number::has_level(level)) continue;
    for (const size_t rows : {0, 1, 5})
      for (const size_t between : {0, 16, 128}) {
        const size_t bytes = 2 * kSwizzleLine, stride = bytes + between;
        std::vector<uint8_t> to(6 * stride, 0x11), wanted = to;
        for (size_t row = 0; row < rows; ++row)
          for (size_t i = 0; i < bytes; ++i) wanted[row * stride + i] = 0xFF;
        line_moves(level).fill(0xFF, to.data(), stride, rows, bytes);
        ASSERT_EQ(to, wanted) << level << ", " << rows << " rows, " << between << " bytes between";
      }
  }
}

TEST(LineMoves, AllSeesAnyByteAndAnyBit) {
  for (const std::string& level : kLevels) {
    if (!number::has_level(level)) continue;
    std::vector<uint8_t> bytes(3 * kSwizzleLine, 0xFF);
    EXPECT_TRUE(line_moves(level).all(0xFF, bytes.data(), bytes.size())) << level;
    for (size_t i = 0; i < bytes.size(); ++i)
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] = static_cast<uint8_t>(0xFF ^ 1 << bit);
        ASSERT_FALSE(line_moves(level).all(0xFF, bytes.data(), bytes.size())) << level << " byte " << i;
        bytes[i] = 0xFF;
      }
  }
}

}  // namespace
}  // namespace bitwell::isa
