// tcgen05.shift: which cells move where (PTX ISA 9.0, 9.7.16.9.3), as others read them back from a B200: each
// 32 lanes on their own, lane i gets lane i + 1's, the last keeps its own; n shifts move by n.
#include <gtest/gtest.h>

#include <algorithm>

#include "tensor_kernel.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kColumns = kTensorKernelColumns;

// Each thread fills its lane's 16 columns with rank << 24 | lane << 8 | column; `issue` by threads for which
// %p1 holds, a commit by each of them, and `arrivals` are waited for; then all columns go out.
TensorKernel kernel(int ctas, const std::string& who, const std::string& issue, int arrivals) {
  TensorKernel k;
  k.ctas = ctas;
  k.prepare = "shl.b32 %r3, %r6, 24;\nshl.b32 %r4, %r0, 8;\nor.b32 %r3, %r3, %r4;\n";
  k.fill = [](uint32_t column) {
    const std::string n = std::to_string(column);
    return "or.b32 %v" + n + ", %r3, " + n + ";\n";
  };
  k.issuer = who;
  k.issue = issue;
  k.commits = arrivals;
  return k;
}

std::vector<uint32_t> run(const TensorKernel& k, run::Schedule schedule = {}) {
  return k.run({std::byte{0}}, schedule);
}
std::string refusal(const TensorKernel& k) {
  try {
    run(k);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// What stands in each lane after `shifts` of columns `from` to from + 7.
void expect_shifted(const std::vector<uint32_t>& out, uint32_t shifts, uint32_t from) {
  for (uint32_t row = 0; row < out.size() / kColumns; ++row)
    for (uint32_t c = 0; c < kColumns; ++c) {
      const bool moves = c >= from && c < from + 8;
      const uint32_t lane = row % 128;
      const uint32_t source = moves ? lane / 32 * 32 + std::min(lane % 32 + shifts, 31u) : lane;
      ASSERT_EQ(out[row * kColumns + c], row / 128 << 24 | source << 8 | c)
          << "lane " << row << ", column " << c << ", " << shifts << " shifts";
    }
}
constexpr const char* kFirst = "setp.eq.u32 %p1, %r7, 0;";  // thread 0 of the cluster

TEST(TensorShift, AsAB200WasSeenToDoIt) {
  // 1 to 31 and 31, 33 to 63 and 63, and so on; issued by another warp, all four quarters move all the same.
  const std::vector<uint32_t> out =
      run(kernel(1, "setp.eq.u32 %p1, %r0, 32;", "tcgen05.shift.down.cta_group::1 [%r2];\n", 1));
  std::vector<uint32_t> rows;
  for (size_t lane = 0; lane < 128; ++lane) rows.push_back(out[lane * kColumns] >> 8);
  for (uint32_t quarter = 0; quarter < 128; quarter += 32) {
    EXPECT_EQ(rows[quarter], quarter + 1);
    EXPECT_EQ(rows[quarter + 30], quarter + 31);
    EXPECT_EQ(rows[quarter + 31], quarter + 31);
  }
  expect_shifted(out, 1, 0);
}

TEST(TensorShift, NShiftsMoveByN) {
  for (const uint32_t ctas : {1u, 2u})
    for (const uint32_t shifts : {1u, 2u, 16u, 31u, 40u})
      for (const uint32_t column : {0u, 3u, 8u})
        for (const uint64_t seed : {0, 1, 2}) {
          std::string issue;
          for (uint32_t i = 0; i < shifts; ++i)
            issue += "tcgen05.shift.cta_group::" + std::to_string(ctas) + ".down [%r2+" +
                     std::to_string(column) + "];\n";
          expect_shifted(run(kernel(static_cast<int>(ctas), kFirst, issue, 1),
                             {seed == 0 ? run::Policy::lazy : run::Policy::random, seed}),
                         shifts, column);
        }
}

// Each active thread issues one: a whole warp moves all rows to the last.
TEST(TensorShift, EveryActiveThreadIssuesOne) {
  expect_shifted(run(kernel(1, "setp.lt.u32 %p1, %r0, 32;", "tcgen05.shift.cta_group::1.down [%r2];\n", 32)),
                 32, 0);
}

TEST(TensorShift, WhatItCannotDoIsNamed) {
  const auto what = [](const char* address) {
    return refusal(
        kernel(1, kFirst, std::string("tcgen05.shift.cta_group::1.down [%r2+") + address + "];\n", 1));
  };
  EXPECT_EQ(what("24"), "");
  const std::string beyond = what("25");
  EXPECT_NE(
      beyond.find("tcgen05.shift reaches columns 25 to 32 of tensor memory; allocated: columns 0 to 31"),
      std::string::npos)
      << beyond;
  const std::string lane = what("1048576");  // 16
  EXPECT_NE(lane.find("tcgen05.shift at lane 16 of tensor memory, it must be a multiple of 32"),
            std::string::npos)
      << lane;
  const std::string quarter = what("2097152");  // 32
  EXPECT_NE(quarter.find("at lane 32 of tensor memory: which lanes then move is not known"),
            std::string::npos)
      << quarter;
  const std::string alone = refusal(kernel(1, kFirst, "tcgen05.shift.cta_group::2.down [%r2];\n", 1));
  EXPECT_NE(alone.find("there is no pair"), std::string::npos) << alone;
}

}  // namespace
}  // namespace bitwell::isa
