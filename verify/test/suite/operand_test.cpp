// That the data of operands is what its name says.
#include <gtest/gtest.h>

#include "verify/oracle/gemv.h"
#include "verify/suite/nvfp4/nvfp4_operand.h"

namespace bitwell::suite {
namespace {

// The exact sum of products of parts first, first + 4, ... of `size` elements of both rows.
int64_t sum_of_parts(const Nvfp4Operand::Row& a, const Nvfp4Operand::Row& b, size_t size, size_t first) {
  int64_t out = 0;
  for (size_t at = first * size; at < a.codes.size(); at += 4 * size)
    out += oracle::dot(std::span(a.codes).subspan(at, size), std::span(b.codes).subspan(at, size),
                       std::span(a.scales).subspan(at / 16, size / 16),
                       std::span(b.scales).subspan(at / 16, size / 16))
               .units;
  return out;
}

// Of every four parts the first and the third cancel, whether scales have signs, as E4M3's, or not, as
// UE4M3's; and each is large beside what is left.
TEST(OperandData, SwampedSumsCancelWithAndWithoutSignsOfScales) {
  for (const auto& [data, size] :
       {std::pair{OperandData::swamped, size_t{16}}, {OperandData::swamped_tiles, 64}})
    for (const uint8_t kept : {uint8_t{0xFF}, uint8_t{0x7F}}) {
      OperandSource source(data, 5);
      const Nvfp4Operand a(source, true, 7, 2048, 1, ScaleLayout::row_major);
      const Nvfp4Operand b(source, false, 5, 2048, 1, ScaleLayout::row_major);
      int larger = 0;
      for (int m = 0; m < 7; ++m)
        for (int n = 0; n < 5; ++n) {
          Nvfp4Operand::Row x = a.row(0, m), y = b.row(0, n);
          for (uint8_t& s : x.scales) s &= kept;
          for (uint8_t& s : y.scales) s &= kept;
          const int64_t first = sum_of_parts(x, y, size, 0);
          EXPECT_EQ(first + sum_of_parts(x, y, size, 2), 0) << name_of(data) << ", " << m << ", " << n;
          const int64_t rest = sum_of_parts(x, y, size, 1) + sum_of_parts(x, y, size, 3);
          EXPECT_NE(rest, 0);
          larger += std::abs(first) > 16 * std::abs(rest) ? 1 : 0;
        }
      EXPECT_GT(larger, 30) << name_of(data);
    }
}

}  // namespace
}  // namespace bitwell::suite
