// What memory costs, and which object a stray address is said to be beside.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

test::Kernel kernel(const std::string& variables, const std::string& body,
                    const std::string& parameters = ".param .u64 pin, .param .u64 pout") {
  return {.module = variables,
          .parameters = parameters,
          .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;",
          .start = "ld.param.u64 %rd0, [pin];\nld.param.u64 %rd1, [pout];\nmov.u32 %r0, 7;",
          .body = body,
          .shape = {.block = {1, 1, 1}},
          .buffers = {test::input(std::vector<std::byte>(128)), test::output(64)},
          .all_written = false};
}

std::string run(const std::string& variables, const std::string& body) {
  return kernel(variables, body).run().end();
}

void expect_end(const std::string& text, const std::string& end) {
  EXPECT_TRUE(text.ends_with(end)) << "'" << end << "' does not end: " << text;
}

TEST(StrayAddress, GlobalNamesTheNearerObject) {
  expect_end(run("", "st.global.u32 [%rd1+64], %r0;"), ", 64 bytes into 'out' of 64 bytes");
  expect_end(run("", "st.global.u32 [%rd1+1000], %r0;"), ", 1000 bytes into 'out' of 64 bytes");
  expect_end(run("", "ld.global.u32 %r1, [%rd0+-4];"), ", 4 bytes before 'in' of 128 bytes");
  expect_end(run("", "ld.global.u32 %r1, [%rd1+-4];"), ", 4 bytes before 'out' of 64 bytes");
  expect_end(run("", "ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];"), ", 8 bytes before 'out' of 64 bytes");
}
TEST(StrayAddress, ModuleVariablesAreNamedToo) {
  const char* text = ".global .align 4 .b8 $str[6] = {80, 65, 83, 83, 10, 0};";
  expect_end(run(text, "ld.global.u32 %r1, [%rd0+-4];"), ", 4 bytes before 'in' of 128 bytes");
  expect_end(run(text, "ld.global.u32 %r1, [$str+8];"), ", 8 bytes into '$str' of 6 bytes");
  expect_end(run(text, "ld.global.u32 %r1, [$str+-4];"), ", 4 bytes before '$str' of 6 bytes");
}
TEST(StrayAddress, FarFromEverythingSaysSo) {
  expect_end(run("", "mov.u64 %rd4, 0;\nld.global.u32 %r1, [%rd4];"),
             "at 0x0, near no buffer; the nearest is 'in' of 128 bytes, 17592186044416 bytes away");
  expect_end(run("", "mov.u64 %rd4, -4;\nld.global.u32 %r1, [%rd4];"),
             "bytes away");  // 2^64 - 4: nothing wraps round
}
TEST(StrayAddress, AnOverrunOfAModuleVariableReachesNoOther) {
  // 256 bytes: the next one could begin right behind it.
  const char* two = ".global .align 4 .b8 a[256];\n.global .align 4 .b8 b[256];";
  expect_end(run(two, "st.global.u32 [a+256], %r0;"), ", 256 bytes into 'a' of 256 bytes");
  expect_end(run(two, "st.global.u32 [b+-4], %r0;"), ", 4 bytes before 'b' of 256 bytes");
}
TEST(StrayAddress, SharedNamesTheVariablesOnBothSides) {
  const char* two = ".shared .align 4 .b8 first[16];\n.shared .align 4 .b8 last[32];";
  const std::string use = "mov.u32 %r2, first;\nmov.u32 %r2, last;\n";
  expect_end(run(two, use + "st.shared.u32 [last+32], %r0;"),
             "of shared memory, which has 48 bytes, 32 bytes into 'last' of 32 bytes");
  expect_end(run(two, use + "st.shared.u32 [first+-4], %r0;"), ", 4 bytes before 'first' of 16 bytes");
  expect_end(run(two, use + "mov.u32 %r3, 0x100000;\nst.shared.u32 [%r3], %r0;"),
             "which has 48 bytes, 1048560 bytes into 'last' of 32 bytes");
  expect_end(run(two, use + "cvta.shared.u64 %rd4, 48;\nst.u32 [%rd4], %r0;"),
             ", 32 bytes into 'last' of 32 bytes");
}
TEST(StrayAddress, DynamicSharedMemoryOfAnotherEntryIsNotNamed) {
  const std::string both = ".extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b8 own[16];";
  const std::string use = "mov.u32 %r2, own;\n";
  expect_end(run(both, use + "st.shared.u32 [own+16], %r0;"), ", 16 bytes into 'own' of 16 bytes");
  // Of this one it is named, though the launch gives it no bytes.
  expect_end(run(both, use + "mov.u32 %r2, dyn;\nst.shared.u32 [own+16], %r0;"),
             ", 0 bytes into 'dyn' of 0 bytes");
}
TEST(StrayAddress, BulkCopiesNameTheObjectToo) {
  const char* tile = ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 bar;";
  expect_end(run(tile,
                 "mbarrier.init.shared.b64 [bar], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [tile], [%rd0+-16], 64, [bar];"),
             ", 16 bytes before 'in' of 128 bytes");
  expect_end(run(tile,
                 "mbarrier.init.shared.b64 [bar], 1;\ncp.async.bulk.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [tile], [%rd0+80], 64, [bar];"),
             ", 80 bytes into 'in' of 128 bytes");
}
TEST(StrayAddress, ConstantsAndParametersAreNamed) {
  expect_end(run(".const .align 4 .b8 c[8] = {1, 2, 3};", "ld.const.u32 %r1, [c+8];"),
             "of constant memory, which has 8 bytes, 8 bytes into 'c' of 8 bytes");
  expect_end(run("", "ld.param.u32 %r1, [pout+8];"),
             "of the parameter block, which has 16 bytes, 8 bytes into 'pout' of 8 bytes");
}

// Bytes of this process's memory at its largest so far.
uint64_t peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}
constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(MemoryCost, AnUntouchedArrayCostsNothing) {
  test::Kernel k =
      kernel(".global .align 4 .b8 big[4294967296] = {1, 2, 3, 4};",
             "mov.u64 %rd2, big;\nld.global.u32 %r1, [%rd2];\nst.global.u32 [%rd2+4294967292], %r1;\n"
             "ld.global.u32 %r2, [%rd2+2147483648];\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;");
  k.all_written = true;
  const uint64_t before = peak();
  EXPECT_TRUE(isa::check(test::module_of(k.text())->syntax("")).empty());
  EXPECT_EQ(k.held().all<uint32_t>(1)[0], 0x04030201u);
  EXPECT_LT(peak() - before, 64 * kMiB);
}
TEST(MemoryCost, LargeMemoryIsZeroAndUnwrittenLikeSmall) {
  for (const uint64_t size : {uint64_t{64}, uint64_t{1} << 20, (uint64_t{1} << 20) + 1, uint64_t{1} << 26}) {
    machine::Memory memory;
    machine::Region& r = memory.allocate("r", size);
    EXPECT_FALSE(r.is_defined(size - 1, 1)) << size;
    EXPECT_EQ(r.raw_bytes()[size - 1], std::byte{0}) << size;
    r.mark_defined(size - 8, 8);
    EXPECT_TRUE(r.is_defined(size - 8, 8)) << size;
    EXPECT_FALSE(r.is_defined(size - 9, 9)) << size;
    r.mark_undefined(size - 4, 4);
    EXPECT_FALSE(r.is_defined(size - 4, 1)) << size;
    r.mark_all_defined();
    EXPECT_TRUE(r.is_defined(0, size)) << size;
    EXPECT_EQ(r.raw_defined(), nullptr) << size;
  }
}

}  // namespace
}  // namespace bitwell::isa
