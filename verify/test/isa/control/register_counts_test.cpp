// setmaxnreg by the warps of a warpgroup: what an H200 takes, and what it cannot be.
#include <gtest/gtest.h>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// "held" and notes, or the fault, of warpgroups whose threads find themselves in %r0; the body starts at PTX
// line 6.
std::string end_with_counts(const std::string& body, bool strict = false, uint32_t warpgroups = 1,
                            uint32_t registers = 0) {
  test::Kernel kernel{.directives = ".maxntid " + std::to_string(128 * warpgroups),
                      .registers = ".reg .pred %p<2>; .reg .b32 %r<2>; mov.u32 %r0, %tid.x;",
                      .body = body,
                      .shape = {.block = {128 * warpgroups, 1, 1}, .registers = registers}};
  kernel.options.strict = strict;
  const test::Left left = kernel.run();
  std::string out = left.end();
  if (left.fault.empty())
    for (const run::Note& n : left.notes) out += "; line " + std::to_string(n.place.ptx_line) + ": " + n.text;
  return out;
}

TEST(RegisterCounts, AWarpgroupsWarpsAllExecuteIt) {
  EXPECT_EQ(end_with_counts("setmaxnreg.dec.sync.aligned.u32 40;\n", true), "held");
  EXPECT_EQ(
      end_with_counts(
          "setmaxnreg.dec.sync.aligned.u32 40;\nbar.sync 0;\nsetmaxnreg.inc.sync.aligned.u32 64;\n", true),
      "held");
  const std::string part =
      end_with_counts("setp.lt.u32 %p0, %r0, 96;\n@%p0 bra E;\nsetmaxnreg.dec.sync.aligned.u32 40;\nE:\n");
  EXPECT_EQ(part.find("PTX line 8, "), 0u) << part;
  EXPECT_NE(part.find("setmaxnreg by part of a warpgroup: warp 0 has ended without it"), std::string::npos)
      << part;
}

// On an H200 three warps of a warpgroup went down to 32 registers and its fourth to 24, of 128, and the other
// warpgroup up to 160.
TEST(RegisterCounts, DifferentOnesInAWarpgroupAreANote) {
  const auto body = [](int first) {
    return "setp.ge.u32 %p0, %r0, 128;\n@%p0 bra U;\nsetp.ge.u32 %p1, %r0, " + std::to_string(32 * first) +
           ";\n@%p1 bra F;\nsetmaxnreg.dec.sync.aligned.u32 32;\nbra E;\n"
           "F: setmaxnreg.dec.sync.aligned.u32 24;\nbra E;\nU: setmaxnreg.inc.sync.aligned.u32 160;\nE:\n";
  };
  for (const int first : {1, 2, 3})
    for (const uint32_t registers : {0u, 128u}) {
      const std::string note =
          "setmaxnreg 24, where another warp of its warpgroup asks for 32 at PTX line 10";
      EXPECT_EQ(end_with_counts(body(first), false, 2, registers), "held; line 12: " + note) << first;
      const std::string strict = end_with_counts(body(first), true, 2, registers);
      EXPECT_EQ(strict.find("PTX line 12, "), 0u) << strict;
      EXPECT_NE(strict.find(note), std::string::npos) << strict;
    }
}

}  // namespace
}  // namespace bitwell::isa
