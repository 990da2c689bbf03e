// .L2::cache_hint and prefetch sizes: taken where ptxas 13.0 takes them, and no byte depends on them.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "../../kernel.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

std::string module_of(const std::string& body, const std::string& version = "9.0",
                      const std::string& target = "sm_90a") {
  return ".version " + version + "\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
         ".reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .b64 %policy;\n.reg .s64 %s;\n.reg .f32 "
         "%f<9>;\n.reg .f64 %g<9>;\n"
         ".shared .align 16 .b8 tile[64];\nld.param.u64 %d0, [out];\n" +
         body + "\nret;\n}\n";
}

// What bitwell says of it; "" if nothing.
std::string refusal(const std::string& text) {
  try {
    isa::compile(ptx::parse(text), "k");
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(CachePolicy, StandsBehindTheOperands) {
  for (const char* body :
       {"ld.global.L2::cache_hint.b32 %r1, [%d0], %policy;",
        "ld.global.L2::cache_hint.b32 %r1, [%d0], %s;",
        "ld.L2::cache_hint.b32 %r1, [%d0], %policy;",
        "ld.global.L2::cache_hint.b32 %r1, [%d0], 0x1000000000000000;",
        "ld.global.cs.L2::cache_hint.L2::128B.b32 %r1, [%d0], %policy;",
        "ld.global.L1::evict_last.L2::cache_hint.L2::128B.v2.b32 {%r1, %r2}, [%d0], %policy;",
        "ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%r1, %r2, %r3, %r4}, [%d0], %policy;",
        "ld.global.nc.ca.L2::cache_hint.b32 %r1, [%d0], %policy;",
        "ld.acquire.sys.global.L1::no_allocate.L2::cache_hint.b32 %r1, [%d0], %policy;",
        "ld.global.b32.L2::cache_hint %r1, [%d0], %policy;",
        "ld.global.cs.L2::128B.b32 %r1, [%d0];",
        "ld.global.nc.ca.L2::64B.b32 %r1, [%d0];",
        "st.global.L2::cache_hint.b32 [%d0], %r1, %policy;",
        "st.L2::cache_hint.v2.b32 [%d0], {%r1, %r2}, %policy;",
        "st.global.wt.L2::cache_hint.b32 [%d0], %r1, %policy;",
        "st.release.gpu.global.L1::no_allocate.L2::cache_hint.b32 [%d0], %r1, %policy;",
        "atom.global.add.L2::cache_hint.u32 %r1, [%d0], %r2, %policy;",
        "atom.global.L2::cache_hint.min.s64 %d1, [%d0], %d2, %policy;",
        "red.global.add.noftz.L2::cache_hint.f16x2 [%d0], %r1, %policy;",
        "red.global.add.L2::cache_hint.v4.f32 [%d0], {%f1, %f2, %f3, %f4}, %policy;"})
    EXPECT_EQ(refusal(module_of(body)), "") << body;
  EXPECT_EQ(refusal(module_of("ld.global.L2::evict_last.L2::cache_hint.v4.b64 {%d1, %d2, %d3, %d4}, [%d0], "
                              "%policy;",
                              "9.0", "sm_100a")),
            "");
}

TEST(CachePolicy, IsRefusedWherePtxasRefusesIt) {
  for (const char* body :
       {"ld.global.L2::cache_hint.b32 %r1, [%d0];", "ld.global.b32 %r1, [%d0], %policy;",
        "ld.global.L2::cache_hint.b32 %r1, [%d0], %r2;", "ld.global.L2::cache_hint.b32 %r1, [%d0], %g1;",
        "ld.global.L2::cache_hint.b32 %r1, [%d0], 1.5;",
        "cp.async.cg.shared.global.L2::cache_hint [tile], [%d0], 16, %g1;",
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d0], [tile], 16, %g1;",
        "ld.shared.L2::cache_hint.b32 %r1, [tile], %policy;",
        "ld.volatile.global.L2::cache_hint.b32 %r1, [%d0], %policy;",
        "ld.global.L2::evict_last.L2::cache_hint.v4.b32 {%r1, %r2, %r3, %r4}, [%d0], %policy;",
        "st.global.L2::cache_hint.b32 [%d0], %r1;", "st.shared.L2::cache_hint.b32 [tile], %r1, %policy;",
        "st.global.L2::128B.b32 [%d0], %r1;", "atom.shared.add.L2::cache_hint.u32 %r1, [tile], %r2, %policy;",
        "atom.global.cas.L2::cache_hint.b32 %r1, [%d0], %r2, %r3, %policy;",
        "red.global.add.L2::cache_hint.u32 [%d0], %r1;"})
    EXPECT_NE(refusal(module_of(body)), "") << body;
  const char* hinted = "ld.global.L2::cache_hint.b32 %r1, [%d0], %policy;";
  EXPECT_EQ(refusal(module_of(hinted, "7.4", "sm_80")), "");
  EXPECT_NE(refusal(module_of(hinted, "7.3", "sm_80")), "");
  EXPECT_NE(refusal(module_of(hinted, "7.4", "sm_75")), "");
}

TEST(CachePolicy, NoByteDependsOnIt) {
  const std::string body =
      "createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;\n"
      "ld.global.L2::cache_hint.v2.b32 {%r1, %r2}, [%d0], %policy;\n"  // 5, 7
      "st.global.L2::cache_hint.b32 [%d0+8], %r2, %policy;\n"
      "atom.global.add.L2::cache_hint.u32 %r3, [%d0], %r2, 3;\n"
      "st.global.L2::cache_hint.b32 [%d0+12], %r3, 0;\n"
      "red.global.max.L2::cache_hint.u32 [%d0+4], 9, %policy;\n";
  launch::Launch l;
  l.entry = "k";
  const uint32_t before[4] = {5, 7, 0, 0};
  std::vector<std::byte> bytes(sizeof before);
  std::memcpy(bytes.data(), before, sizeof before);
  l.add_buffer({"out", bytes, true, false, true});
  test::run_ptx(module_of(body), l);
  uint32_t after[4];
  std::memcpy(after, l.buffers[0].bytes.data(), sizeof after);
  EXPECT_EQ(after[0], 12u);
  EXPECT_EQ(after[1], 9u);
  EXPECT_EQ(after[2], 7u);
  EXPECT_EQ(after[3], 5u);
}

}  // namespace
}  // namespace bitwell::isa
