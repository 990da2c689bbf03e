// Who has which columns of tensor memory, and what its cells hold (PTX ISA 9.0, 9.7.16.1 and 9.7.16.7.1).
#include "model/machine/tensor/tensor_memory.h"

#include <gtest/gtest.h>

#include <functional>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

std::string fault(const std::function<void()>& act) {
  try {
    act();
  } catch (const Fault& f) {
    return f.what();
  }
  return "";
}

TEST(TensorMemory, GivesTheLowestRunThatIsFree) {
  TensorMemory m;
  EXPECT_FALSE(m.allocated());
  EXPECT_EQ(m.describe(), "no columns");
  EXPECT_EQ(m.allocate(128, 1), 0u);
  EXPECT_EQ(m.allocate(64, 1), 128u);
  EXPECT_EQ(m.allocate(32, 1), 192u);
  EXPECT_EQ(m.describe(), "columns 0 to 127, 128 to 191, 192 to 223");
  m.free(128, 64, 1);
  EXPECT_EQ(m.allocate(32, 1), 128u);
  EXPECT_EQ(m.allocate(32, 1), 160u);
  EXPECT_EQ(m.allocate(32, 1), 224u);
  EXPECT_EQ(m.describe(), "columns 0 to 127, 128 to 159, 160 to 191, 192 to 223, 224 to 255");
  m.free(0, 128, 1);
  EXPECT_EQ(m.allocate(32, 1), 0u);
  EXPECT_TRUE(m.allocated());
}

TEST(TensorMemory, HasFiveHundredAndTwelveColumns) {
  TensorMemory all;
  EXPECT_EQ(all.allocate(512, 1), 0u);
  EXPECT_EQ(all.allocate(32, 1), std::nullopt);
  all.free(0, 512, 1);
  EXPECT_EQ(all.allocate(256, 1), 0u);
  EXPECT_EQ(all.allocate(256, 1), 256u);
  EXPECT_EQ(all.allocate(32, 1), std::nullopt);
}

TEST(TensorMemory, APairGetsWhatIsFreeInBoth) {
  TensorMemory one, other;
  one.ask(64, 2);
  other.ask(64, 2);
  EXPECT_EQ(TensorMemory::allocate(one, other, 64), 0u);
  EXPECT_EQ(TensorMemory::allocate(one, other, 32), 64u);
  other.free(0, 64, 2);
  EXPECT_EQ(TensorMemory::allocate(one, other, 32), 96u);  // 0 to 63 is free in one alone
  one.free(0, 64, 2);
  EXPECT_EQ(TensorMemory::allocate(one, other, 32), 0u);
}

TEST(TensorMemory, SizesArePowersOfTwoThatDoNotGrow) {
  for (const uint32_t columns : {0u, 1u, 16u, 31u, 33u, 48u, 96u, 511u, 1024u}) {
    TensorMemory m;
    EXPECT_EQ(
        fault([&] { m.allocate(columns, 1); }),
        "tcgen05.alloc of " + std::to_string(columns) + " columns, it must be a power of two from 32 to 512");
  }
  for (const uint32_t columns : {32u, 64u, 128u, 256u, 512u}) {
    TensorMemory m;
    EXPECT_EQ(fault([&] { m.allocate(columns, 1); }), "");
  }
  TensorMemory m;
  m.allocate(64, 1);
  EXPECT_EQ(fault([&] { m.allocate(64, 1); }), "");
  EXPECT_EQ(fault([&] { m.allocate(128, 1); }),
            "tcgen05.alloc of 128 columns after one of 64: allocations of a CTA must not grow");
  m.relinquish(1);
  EXPECT_EQ(fault([&] { m.allocate(32, 1); }), "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
}

TEST(TensorMemory, AKernelUsesOneCtaGroup) {
  const std::string why =
      "tcgen05 with .cta_group::2 in a CTA that has used .cta_group::1: a kernel uses one";
  TensorMemory m;
  m.allocate(32, 1);
  EXPECT_EQ(fault([&] { m.allocate(32, 2); }), why);
  EXPECT_EQ(fault([&] { m.free(0, 32, 2); }), why);
  EXPECT_EQ(fault([&] { m.relinquish(2); }), why);
  EXPECT_EQ(fault([&] { m.free(0, 32, 1); }), "");
}

TEST(TensorMemory, FreesWhatWasGiven) {
  TensorMemory m;
  m.allocate(64, 1);
  for (const auto& [column, columns] : {std::pair{0u, 32u}, {32u, 64u}, {64u, 64u}})
    EXPECT_EQ(fault([&, c = column, n = columns] { m.free(c, n, 1); }),
              "tcgen05.dealloc of " + std::to_string(columns) + " columns from column " +
                  std::to_string(column) + " on; allocated: columns 0 to 63");
  m.free(0, 64, 1);
  EXPECT_FALSE(m.allocated());
}

TEST(TensorMemory, ReachesAllocatedCellsAlone) {
  TensorMemory m;
  m.allocate(64, 1);
  m.allocate(32, 1);
  m.free(0, 64, 1);
  m.allocate(32, 1);  // 0 to 31 and 64 to 95
  for (uint32_t column = 0; column < 128; ++column)
    EXPECT_EQ(m.allocated(column), column < 32 || (column >= 64 && column < 96)) << column;
  const auto reach = [&](uint32_t lane, uint32_t column, uint32_t count) {
    return fault([&] { m.cells(lane, column, count, "it"); });
  };
  EXPECT_EQ(reach(0, 0, 32), "");
  EXPECT_EQ(reach(127, 31, 1), "");
  EXPECT_EQ(reach(127, 64, 32), "");
  EXPECT_EQ(reach(127, 90, 6), "");
  EXPECT_EQ(reach(128, 0, 1), "it reaches lane 128 of tensor memory, which has 128");
  EXPECT_EQ(reach(0, 32, 1), "it reaches column 32 of tensor memory; allocated: columns 0 to 31, 64 to 95");
  EXPECT_EQ(reach(0, 63, 1), "it reaches column 63 of tensor memory; allocated: columns 0 to 31, 64 to 95");
  EXPECT_EQ(reach(0, 0, 33),
            "it reaches columns 0 to 32 of tensor memory; allocated: columns 0 to 31, 64 to 95");
  EXPECT_EQ(reach(0, 91, 6),
            "it reaches columns 91 to 96 of tensor memory; allocated: columns 0 to 31, 64 to 95");
  EXPECT_EQ(reach(0, 63, 2),
            "it reaches columns 63 to 64 of tensor memory; allocated: columns 0 to 31, 64 to 95");
  EXPECT_EQ(reach(0, 0, 96),
            "it reaches columns 0 to 95 of tensor memory; allocated: columns 0 to 31, 64 to 95");
}

TEST(TensorMemory, CellsHoldWhatWasWrittenSinceTheyWereGiven) {
  TensorMemory m;
  EXPECT_EQ(m.word({3, 5}), std::nullopt);
  m.allocate(64, 1);
  EXPECT_EQ(m.word({3, 5}), std::nullopt);
  const TensorMemory::Cells cells = m.cells(3, 5, 2, "it");
  cells.words[0] = 7, cells.words[1] = 9;
  cells.written[0] = cells.written[1] = 1;
  EXPECT_EQ(m.word({3, 5}), 7u);
  EXPECT_EQ(m.word({3, 6}), 9u);
  for (const TensorPlace at : {TensorPlace{3, 4}, {3, 7}, {2, 5}, {4, 5}, {0, 0}})
    EXPECT_EQ(m.word(at), std::nullopt);
  m.free(0, 64, 1);
  m.allocate(32, 1);
  EXPECT_EQ(m.word({3, 5}), std::nullopt) << "given anew";
}

TEST(TensorMemory, RemembersWhichColumnsWereUsed) {
  TensorMemory m;
  m.allocate(64, 1);
  m.allocate(32, 1);
  m.cells(127, 63, 1, "it").written[0] = 1;
  m.cells(0, 64, 1, "it").written[0] = 1;
  m.cells(5, 3, 1, "it").written[0] = 1;
  m.cells(6, 4, 1, "it").written[0] = 1;
  m.free(0, 64, 1);
  const TensorMemory::Used used = m.used();
  for (uint32_t column = 0; column < 512; ++column) {
    EXPECT_EQ(used.allocated[column], column < 96) << column;
    EXPECT_EQ(used.written[column], column == 63 || column == 64 || column == 3 || column == 4) << column;
  }
}

}  // namespace
}  // namespace bitwell::machine
