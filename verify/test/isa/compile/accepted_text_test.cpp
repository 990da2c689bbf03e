// Texts that generators write and ptxas takes: vectors of one register, newer PTX versions, a NUL at the end.
#include <gtest/gtest.h>

#include <string>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

std::string module_of(const std::string& version, const std::string& body) {
  return ".version " + version +
         "\n.target sm_100a\n.address_size 64\n.visible .entry e() {\n.reg .b32 %r<9>;\n.reg .b64 "
         "%d<9>;\n.reg .pred %p<2>;\n" +
         body + "\nret;\n}\n";
}

// What bitwell says of it; "" if nothing.
std::string refusal(const std::string& text) {
  try {
    isa::compile(ptx::parse(text), "e");
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(AcceptedText, AVectorOfOneIsItsRegister) {
  for (const char* body :
       {"ld.global.b32 { %r1 }, [%d1];", "st.global.b32 [%d1], { %r1 };", "mov.b32 %r1, { %r2 };",
        "mov.b32 { %r1 }, %r2;", "st.async.mbarrier::complete_tx::bytes.b32 [%r1], { %r2 }, [%r3];"})
    EXPECT_EQ(refusal(module_of("9.0", body)), "") << body;
  for (const char* body : {"ld.global.v2.b32 { %r1 }, [%d1];", "ld.global.b32 { %r1, %r2 }, [%d1];",
                           "add.u32 { %r1 }, %r2, %r3;", "atom.global.add.u32 { %r1 }, [%d1], %r2;"})
    EXPECT_NE(refusal(module_of("9.0", body)), "") << body;
}

// As nvcc passes on inline assembly of quack's kernels; what is taken and what is not is ptxas's.
TEST(AcceptedText, ARegisterMayBeAVector) {
  for (const char* body :
       {".reg .v4 .s32 v; mov.s32 v.x, %r1; mov.b32 v.y, %r1; mov.u32 v.z, v.y; mov.s32 v.w, v.x;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%r2], v, [%r3];",
        ".reg .v4 .s32 v; mov.s32 v.r, %r1; mov.s32 v.g, v.x; mov.s32 v.b, v.y; mov.s32 v.a, v.z;",
        ".reg .v2 .b64 v; ld.global.v2.b64 v, [%d1]; st.global.v2.b64 [%d1], {v.y, v.x};",
        ".reg .v2 .b32 v; ld.global.v2.b32 v, [%d1]; mov.b64 %d2, v; mov.b64 v, %d2;",
        ".reg .v4 .f32 v; ld.global.v4.f32 v, [%d1]; fma.rn.f32 v.x, v.y, v.z, v.w;",
        ".reg .v2 .b32 v; { .reg .b32 v; mov.b32 v, %r1; } mov.b32 v.x, %r1;",
        ".reg .b32 v; { .reg .v2 .b32 v; mov.b32 v.x, %r1; } mov.b32 v, %r1;",
        // Ranges of them.
        ".reg .v2 .b32 v<3>; mov.b32 v0.x, %r1; mov.b32 v02.y, v0.x; st.global.v2.b32 [%d1], v2;",
        ".reg .v4 .f32 v<3>, w, u<2>; ld.global.v4.f32 v1, [%d1]; mov.f32 w.a, v1.w; st.global.v4.f32 [%d1], "
        "u1;",
        ".reg .v2 .b16 v<2>; mov.b32 %r1, v1; mov.b32 v0, %r1;",
        ".reg .v4 .b32 v<1000000>; mov.b32 v999999.x, 1;",
        ".reg .v2 .b32 v<3>; { .reg .b32 v1; mov.b32 v1, 2; mov.b32 v2.x, v1; } mov.b32 v1.y, v2.x;",
        ".reg .b32 v<4>; { .reg .v2 .b32 v<2>; mov.b32 v1.x, 2; mov.b32 v3, v1.y; } mov.b32 v1, v3;",
        ".reg .v2 .b32 v2; { .reg .b32 v<3>; mov.b32 v1, v2; } mov.b32 v2.x, 1;", ".reg .v4 .b32 v<0>;"})
    EXPECT_EQ(refusal(module_of("9.0", body)), "") << body;
  for (const auto& [body, why] :
       {std::pair{".reg .v4 .b64 v;", "more than 128 bits"},
        {".reg .v2 .pred v;", "predicate 'v' cannot be a vector"},
        {".reg .v2 .b32 v; .reg .b32 v;", "declared twice"},
        {".reg .b32 v; .reg .v2 .b32 v;", "declared twice"},
        {".reg .v2 .b32 v; .reg .v2 .b32 v;", "declared twice"},
        {".reg .v4 .s32 v; ld.global.v2.s32 v, [%d1];", "a destination of 2 registers"},
        {".reg .v4 .s32 v; add.s32 v, v, v;", "register"},
        {".reg .v4 .s32 v; add.s32 v.x, v.y, v;", "register"},
        {".reg .v2 .b32 v; mov.s32 v.z, %r1;", "2 components"},
        {".reg .v4 .b64 v<3>;", "more than 128 bits"},
        {".reg .v2 .pred v<3>;", "predicate 'v' cannot be a vector"},
        {".reg .v2 .b32 v<3>; mov.b32 v3.x, %r1;", "destination must be a register"},
        {".reg .v2 .b32 v<3>; mov.b32 v1, %r1;", "register"},
        {".reg .v2 .b32 v<3>; mov.b32 v1.z, %r1;", "2 components"},
        {".reg .v2 .b32 v<3>; .reg .b32 v<2>;", "declared twice"},
        {".reg .v2 .b32 v<3>; .reg .b32 v1;", "declared twice"},
        {".reg .b32 v1; .reg .v2 .b32 v<3>;", "declared twice"},
        {".reg .v2 .b32 v2; { .reg .b32 v<3>; mov.b32 v1, v2.x; }", "v2"}})
    EXPECT_NE(refusal(module_of("9.0", body)).find(why), std::string::npos)
        << body << ": " << refusal(module_of("9.0", body));
}

// As registers mostly are; of shared memory what no instruction names has no place.
TEST(AcceptedText, AVariableMayBeCalledLikeARegister) {
  const std::string module = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const std::string entry = ".visible .entry e() {\n.reg .b32 %r<9>;\nld.shared.b32 %r1, [%kept];\nret;\n}\n";
  EXPECT_EQ(refusal(module + ".shared .b32 %kept;\n.shared .b32 %left;\n" + entry), "");
  EXPECT_EQ(isa::compile(ptx::parse(module + ".shared .b32 %kept;\n.shared .b32 %left[5];\n" + entry), "e")
                .shared_size,
            4u);
}

TEST(AcceptedText, ModifiersKeepWhatTheySayInAnyOrder) {
  for (
      const char* body :
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
       "stmatrix.sync.aligned.x4.trans.m8n8.shared.b16 [%r5], {%r1, %r2, %r3, %r4};",
       "atom.add.release.gpu.u32 %r1, [%d1], %r2;", "atom.or.acq_rel.cta.b32 %r1, [%d1], %r2;",
       "red.and.release.cta.b32 [%d1], %r2;", "ld.global.acquire.gpu.b32 %r1, [%d1];",
       "ld.global.relaxed.cta.L1::no_allocate.v4.b32 {%r1, %r2, %r3, %r4}, [%d1];",
       "ld.global.u64.v2 {%d1, %d2}, [%d3];", "ld.global.cs.u64.v2 {%d1, %d2}, [%d3];",
       "ld.global.L2::128B.u64.v2 {%d1, %d2}, [%d3];", "vote.ballot.sync.b32 %r1, %p1, -1;",
       "ld.global.L2::evict_first.L2::256B.v4.u64 {%d1, %d2, %d3, %d4}, [%d5];",
       "stmatrix.sync.aligned.x2.m8n8.shared.b16 [%r5], {%r1, %r2};",
       "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
       "tcgen05.cp.cta_group::1.warpx4.32x128b [%r1], %d1;",
       "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
       "[%d1, {%r2, %r3}], [%r4];",
       "cp.async.bulk.tensor.2d.shared::cluster.global.cta_group::2.mbarrier::complete_tx::bytes [%r1], "
       "[%d1, {%r2, %r3}], [%r4];",
       "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r1], "
       "[%d1, {%r2, %r3}], [%r4];"})
    EXPECT_EQ(refusal(module_of("9.0", body)), "") << body;
  // Two types and two state spaces say which operand they are of: they do not change places.
  EXPECT_NE(refusal(module_of("9.0", "cvt.u64.u32 %r1, %d1;")), "");
  EXPECT_NE(
      refusal(module_of("9.0",
                        "cp.async.bulk.global.shared::cluster.mbarrier::complete_tx::bytes [%r1], [%d1], "
                        "16, [%r2];")),
      "");
  // What belongs to the operation's name stays in front.
  EXPECT_NE(refusal(module_of("9.0", "mul.u32.lo %r1, %r2, %r3;")), "");
}

TEST(AcceptedText, NewerVersionsRunAndWhatTheTablesLackIsUnsupported) {
  for (const char* version : {"9.1", "9.2", "9.3", "9.4", "9.5"})
    EXPECT_EQ(refusal(module_of(version, "")), "");
  EXPECT_NE(refusal(module_of("9.6", "")).find("PTX version 9.6, which is newer than 9.5"),
            std::string::npos);
  const char* hopper = "wgmma.fence.sync.aligned;";
  EXPECT_NE(refusal(module_of("9.0", hopper)).find("is not available on sm_100a"), std::string::npos);
  EXPECT_NE(refusal(module_of("9.1", hopper)).find("the tables hold PTX 9.0"), std::string::npos);
}

TEST(AcceptedText, ANulEndsAFile) {
  std::string text = module_of("9.0", "");
  text += '\0';
  EXPECT_EQ(refusal(text), "");
  EXPECT_NE(refusal(text + "}"), "");
}

}  // namespace
}  // namespace bitwell::isa
