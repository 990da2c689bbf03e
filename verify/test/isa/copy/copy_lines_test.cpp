// What meets the destination of a copy under way is at fault where it does, with both lines of the CUDA
// source.
#include <gtest/gtest.h>

#include <string>

#include "../../kernel.h"
#include "model/machine/failure.h"

namespace bitwell::isa {
namespace {

// A warp whose first thread starts `copy` to `tile`, in line 20 of tile.cu; then `access`, in line 31; then
// the wait. The fault that it ends in, or "held".
std::string ends(const std::string& copy, const std::string& access) {
  return test::Kernel{
      .module = ".file 1 \"tile.cu\"",
      .parameters = ".param .u64 pin",
      .registers = ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %q<3>;",
      .shared = ".shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;",
      .start =
          "ld.param.u64 %q0, [pin]; mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; mov.u32 %r4, tile;\n"
          "@%p0 bra J;\nmbarrier.init.shared.b64 [bar], 1;\n"
          "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;",
      .body = ".loc 1 20 3\n" + copy + "\nJ:\nbar.warp.sync -1;\n.loc 1 31 5\n" + access,
      .finish =
          ".loc 1 40 3\ncp.async.wait_all;\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;",
      .buffers = {test::input(std::vector<std::byte>(512))}}
      .run()
      .end();
}

const std::string kBulk =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%q0], 512, [bar];";
const std::string kSmall =
    "mbarrier.complete_tx.shared.b64 [bar], 512; cp.async.ca.shared.global [tile], [%q0], 16;";

TEST(CopyLines, ALoadNamesItsOwnAndTheCopys) {
  for (const std::string& copy : {kBulk, kSmall})
    for (const char* load :
         {"ld.shared.u32 %r1, [tile];", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r4];"}) {
      const std::string text = ends(copy, load);
      EXPECT_EQ(text.find("PTX line 17 (tile.cu:31), CTA (0,0,0), thread (0,0,0): a read of 'tile'"), 0u)
          << text;
      EXPECT_NE(text.find("; the copy of PTX line 13 (tile.cu:20) is still to write there"),
                std::string::npos)
          << text;
    }
}

TEST(CopyLines, ALoadNamesTheWaitThatTheCopyNeeds) {
  const std::string wait = "has to wait for it (cp.async.wait_group), and other threads behind a barrier";
  EXPECT_NE(ends(kSmall, "ld.shared.u32 %r1, [tile];").find(wait), std::string::npos);
  const std::string bulk = ends(kBulk, "ld.shared.u32 %r1, [tile];");
  EXPECT_EQ(bulk.find("cp.async.wait_group"), std::string::npos) << bulk;
  EXPECT_NE(bulk.find("it completes on mbarrier 'bar'"), std::string::npos) << bulk;
}

TEST(CopyLines, AValueThatWasNeverWrittenNamesTheLineThatLoadedIt) {
  const std::string text =
      ends("", "ld.shared.u32 %r1, [tile];\n.loc 1 33 5\nadd.u32 %r4, %r4, %r1; st.shared.u32 [%r4], %r0;");
  EXPECT_EQ(text.find("PTX line 19 (tile.cu:33)"), 0u) << text;
  EXPECT_NE(text.find("none of the 4 bytes that PTX line 17 (tile.cu:31) loaded from 'tile' (shared address "
                      "0) was ever written"),
            std::string::npos)
      << text;
}

TEST(CopyLines, AWriteNamesItsOwnAndTheCopys) {
  for (const char* write : {"st.shared.u32 [tile], %r0;", "atom.shared.add.u32 %r1, [tile], 1;",
                            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r0};"}) {
    const std::string text = ends(kBulk, write);
    EXPECT_EQ(text.find("PTX line 17 (tile.cu:31), CTA (0,0,0), thread (0,0,0): a write to 'tile'"), 0u)
        << text;
    EXPECT_NE(text.find(", which the copy of PTX line 13 (tile.cu:20) is still to write"), std::string::npos)
        << text;
  }
  EXPECT_EQ(ends(kBulk, "st.shared.u32 [tile+512], %r0;"), "held");
}

}  // namespace
}  // namespace bitwell::isa
