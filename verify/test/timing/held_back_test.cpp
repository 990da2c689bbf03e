// What reaches what another one asked for waits for it.
#include <gtest/gtest.h>

#include "one_kernel.h"
#include "verify/session/time.h"

namespace bitwell::timing {
namespace {

double in_full(const std::string& body, uint32_t threads) {
  const launch::Launch l = launch_of(kernel(body), 1, threads);
  session::TimeQuestion q = session::time_question(l);
  q.most = 0;  // in full
  return session::time_of(q).launches.at(0).launch.cycles;
}

std::string repeated(int n, const std::string& what) {
  std::string out;
  for (int i = 0; i < n; ++i) out += what;
  return out;
}

// Warps that walk through memory, each step at the address that the last one gives, all in the same lines,
// take as long as one of them: nobody has a line before it has come.
TEST(HeldBack, WarpsInTheSameLinesWaitForThemTogether) {
  const std::string next = "ld.global.b32 %r1, [%a0];\ncvt.u64.u32 %a1, %r1;\nadd.u64 %a0, %a0, %a1;\n";
  const struct {
    const char* what;
    std::string first, step;
  } walks[] = {
      {"lanes at one address", "", "add.u64 %a0, %a0, 128;\n"},
      {"a row of lanes", "and.b32 %r2, %r0, 31;\nmul.wide.u32 %a1, %r2, 4;\nadd.u64 %a0, %a0, %a1;\n",
       "add.u64 %a0, %a0, 128;\n"},
      {"a sector at a time", "", "add.u64 %a0, %a0, 32;\n"},
      {"each lane in a line of its own",
       "and.b32 %r2, %r0, 31;\nmul.wide.u32 %a1, %r2, 8192;\nadd.u64 %a0, %a0, %a1;\n",
       "add.u64 %a0, %a0, 32;\n"},
  };
  constexpr int kSteps = 48;
  for (const auto& walk : walks) {
    const std::string body = walk.first + repeated(kSteps, next + walk.step) + "st.global.b32 [%a0], %r1;\n";
    const double alone = in_full(body, 32);
    for (const uint32_t warps : {2U, 5U, 16U})
      EXPECT_GE(in_full(body, 32 * warps), alone) << walk.what << ", " << warps << " warps";
    // Nor has who asked for it before.
    const std::string twice = walk.first +
                              repeated(kSteps, "ld.global.b32 %r3, [%a0];\n" + next + walk.step) +
                              "st.global.b32 [%a0], %r1;\n";
    EXPECT_GE(in_full(twice, 32), alone) << walk.what;
    // Lines that have come are there for all: once more they cost little.
    const std::string again = walk.first + "mov.u64 %a2, %a0;\n" + repeated(kSteps, next + walk.step) +
                              "mov.u64 %a0, %a2;\n" + repeated(kSteps, next + walk.step) +
                              "st.global.b32 [%a0], %r1;\n";
    EXPECT_LT(in_full(again, 32), 1.3 * alone) << walk.what;
  }
}

}  // namespace
}  // namespace bitwell::timing
