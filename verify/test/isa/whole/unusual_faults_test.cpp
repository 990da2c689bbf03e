// Faults that are met seldom, each by a kernel of a few lines: addresses, masks and counts that no device
// takes. And special registers and clocks, of which each has its own value.
#include <gtest/gtest.h>

#include <cstring>
#include <ostream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// %r0: the thread; %r1: `tile`; %r2: `bar`, an mbarrier of one arrival; %d0: `in`, read-only; %d1: `out`;
// %p0: thread 0.
test::Kernel unusual_kernel(const std::string& target, const std::string& body,
                            const std::string& functions = "") {
  return {
      .target = target,
      .module = functions,
      .parameters = ".param .u64 pin, .param .u64 pout",
      .registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .f32 %f<4>;",
      .shared = ".shared .align 128 .b8 tile[1024]; .shared .align 16 .b64 bar;",
      .start =
          "ld.param.u64 %d0, [pin]; ld.param.u64 %d1, [pout]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n"
          "mov.u32 %r2, bar; setp.eq.u32 %p0, %r0, 0; mov.u32 %r3, 0;\n"
          "@%p0 mbarrier.init.shared.b64 [%r2], 1;\nbar.sync 0;",
      .body = body,
      .buffers = {test::input(std::vector<std::byte>(256, std::byte{1})), test::output(256)},
      .all_written = false};
}

std::string unusual_end(const std::string& target, const std::string& body, uint32_t threads,
                        uint32_t cluster, const std::string& functions) {
  test::Kernel k = unusual_kernel(target, body, functions);
  k.shape = {.grid = {cluster, 1, 1}, .block = {threads, 1, 1}, .cluster = {cluster, 1, 1}};
  return k.run().end();
}

struct UnusualCase {
  const char* name;
  const char* body;
  const char* says;
  const char* target = "sm_90a";
  uint32_t threads = 32, cluster = 1;
  const char* functions = "";
};
void PrintTo(const UnusualCase& c, std::ostream* out) { *out << c.name; }

class UnusualFault : public testing::TestWithParam<UnusualCase> {};

TEST_P(UnusualFault, IsNamed) {
  const UnusualCase& c = GetParam();
  const std::string text = unusual_end(c.target, c.body, c.threads, c.cluster, c.functions);
  EXPECT_NE(text.find(c.says), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, UnusualFault,
    testing::Values(
        UnusualCase{
            "MapBetweenMultiplesOf64",
            "add.u64 %d4, %d0, 8; @%p0 "
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d4, "
            "{%r3}], [%r2];",
            "the tensor map's address is not a multiple of 64"},
        UnusualCase{
            "MapInSharedMemory",
            "cvt.u64.u32 %d4, %r1; cvta.shared.u64 %d4, %d4; @%p0 "
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d4, "
            "{%r3}], [%r2];",
            "in no memory that may hold one"},
        UnusualCase{
            "MapThatEndsBehindItsBuffer",
            "add.u64 %d4, %d0, 192; @%p0 "
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d4, "
            "{%r3}], [%r2];",
            "in no memory that may hold one"},
        UnusualCase{
            "MulticastToNobody",
            "mov.u16 %h0, 0; @%p0 "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
            "[%d0], 16, [%r2], %h0;",
            "the multicast mask is 0"},
        UnusualCase{
            "MulticastBeyondTheCluster",
            "mov.u16 %h0, 3; @%p0 "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
            "[%d0], 16, [%r2], %h0;",
            "the multicast mask names CTA rank 1, the cluster has 1 CTAs"},
        UnusualCase{
            "CommitToNobody",
            "mov.u16 %h0, 0; @%p0 "
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
            "[%r2], %h0;",
            "the multicast mask is 0", "sm_100a"},
        UnusualCase{
            "CommitBeyondTheCluster",
            "mov.u16 %h0, 3; @%p0 "
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
            "[%r2], %h0;",
            "the multicast mask names CTA rank 1, the cluster has 1 CTAs", "sm_100a"},
        UnusualCase{
            "BulkCopyFromBetweenMultiplesOf16",
            "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0+8], 16, "
            "[%r2];",
            "not a multiple of 16"},
        UnusualCase{"BulkCopyIntoReadOnlyMemory",
                    "st.shared.v4.u32 [%r1], {%r3, %r3, %r3, %r3}; fence.proxy.async; @%p0 "
                    "cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 16;",
                    "a bulk copy to 'in', which is read-only"},
        UnusualCase{
            "BulkCopyOverAnMbarrier",
            "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 16; @%p0 "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 16, [%r2];",
            "writes over an mbarrier, which is live"},
        UnusualCase{"SmallCopyOverAnMbarrier",
                    "@%p0 cp.async.ca.shared.global [%r2], [%d0], 8; cp.async.wait_all;",
                    "writes over an mbarrier, which is live"},
        UnusualCase{"SmallCopyFromBetweenItsMultiples",
                    "@%p0 cp.async.ca.shared.global [%r1], [%d0+2], 4; cp.async.wait_all;",
                    "misaligned cp.async of 4 bytes"},
        UnusualCase{"OrdinaryStoreToAnMbarrier", "@%p0 st.shared.u32 [%r2], %r3;",
                    "of an mbarrier, which is live"},
        UnusualCase{"MapOfAnAddressThatIsNotShared", "mapa.u64 %d4, %d0, %r3;",
                    "a generic address that is not in shared memory"},
        UnusualCase{"MapReplacedBetweenMultiplesOf64",
                    "@%p0 tensormap.replace.tile.rank.global.b1024.b32 [%d1+8], 1;", "not a multiple of 64"},
        UnusualCase{"BranchBeyondItsTargets", "mov.u32 %r4, 2; T: .branchtargets A, B; brx.idx %r4, T; A: B:",
                    "brx.idx index 2 is beyond its 2"},
        UnusualCase{"CallOfNoFunction", "P: .callprototype () _ (); mov.u64 %d4, 12345; call %d4, (), P;",
                    "an indirect call of an address that is no function"},
        UnusualCase{"CountsThatDiffer",
                    "setp.lt.u32 %p1, %r0, 32; @%p1 bra A; bar.sync 1, 96; bra E; A: bar.sync 1, 64; E:",
                    "is used with count", "sm_90a", 96},
        UnusualCase{"RemoteStoreWithABarrierElsewhere",
                    "mov.u32 %r4, 1; mapa.shared::cluster.u32 %r5, %r1, %r4; @%p0 "
                    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r3, [%r2]; "
                    "barrier.cluster.arrive; barrier.cluster.wait;",
                    "in another CTA than its destination", "sm_90a", 32, 2},
        UnusualCase{
            "ScaleThatDiffers",
            "mov.u64 %d4, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; "
            "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, "
            "%f3}, %d4, %d4, %p0, 1, 1, 0, 0;",
            "scale-d differs between threads of a warp", "sm_90a", 128},
        UnusualCase{
            "CallOfOtherParameters",
            "P: .callprototype () _ (.param .b64 y); mov.u64 %d4, other; { .param .b64 y; st.param.b64 [y], "
            "%d0; call %d4, (y), P; }",
            "has other parameters than the call's prototype", "sm_90a", 32, 1,
            ".func other(.param .b32 x) { ret; }\n"},
        UnusualCase{"CallOfOtherResults", "P: .callprototype () _ (); mov.u64 %d4, other; call %d4, (), P;",
                    "has other parameters than the call's prototype", "sm_90a", 32, 1,
                    ".func (.param .b32 r) other() { ret; }\n"},
        UnusualCase{"WideVectorOfSharedMemory", "ld.shared.v4.b64 {%d2, %d3, %d4, %d5}, [%r1];",
                    "a vector of 32 bytes needs ld or st of .global", "sm_100a"},
        UnusualCase{"WideVectorOfAnEarlierTarget", "ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d0];",
                    "a vector of 32 bytes"},
        UnusualCase{"EightSmallElements", "ld.global.v8.b16 {%h0, %h1, %h2, %h3, %h0, %h1, %h2, %h3}, [%d0];",
                    "'.v8' needs a 32-bit type", "sm_100a"}),
    [](const auto& c) { return std::string(c.param.name); });

// Each special register is its own: a block and a grid with other sizes in every dimension.
TEST(SpecialRegisters, EachHasItsOwnValue) {
  struct Row {
    const char* name;
    uint32_t first_value;  // of thread (3,1,2) of CTA (4,2,1)
  };
  for (const Row& row :
       {Row{"%tid.x", 3}, Row{"%tid.y", 1}, Row{"%tid.z", 2}, Row{"%ntid.x", 4}, Row{"%ntid.y", 2},
        Row{"%ntid.z", 3}, Row{"%ctaid.x", 4}, Row{"%ctaid.y", 2}, Row{"%ctaid.z", 1}, Row{"%nctaid.x", 5},
        Row{"%nctaid.y", 3}, Row{"%nctaid.z", 4}, Row{"%laneid", 23}, Row{"%warpid", 0}, Row{"%nwarpid", 64},
        Row{"%envreg0", 0}, Row{"%clock_hi", 0}, Row{"%lanemask_eq", 1u << 23},
        Row{"%lanemask_lt", (1u << 23) - 1}}) {
    const test::Kernel k{
        .parameters = ".param .u64 pout",
        .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>;",
        .start =
            "ld.param.u64 %d1, [pout]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
            "mov.u32 %r4, %ctaid.z; mad.lo.u32 %r1, %r3, 8, %r1; mad.lo.u32 %r1, %r2, 4, %r1;\n"
            "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; mad.lo.u32 %r5, %r6, 5, %r5;\n"
            "mad.lo.u32 %r5, %r4, 15, %r5; setp.eq.u32 %p0, %r1, 23; setp.eq.and.u32 %p0, %r5, 29, %p0;",
        .body = "mov.u32 %r7, " + std::string(row.name) + ";\n@%p0 st.global.u32 [%d1], %r7;",
        .shape = {.grid = {5, 3, 4}, .block = {4, 2, 3}},
        .buffers = {test::output(4)}};
    const uint32_t got = k.held().all<uint32_t>(0)[0];
    EXPECT_EQ(got, row.first_value) << row.name;
  }
}

// %clock is the low word of %clock64, which goes on.
TEST(SpecialRegisters, TheClockGoesOn) {
  test::Kernel k =
      unusual_kernel("sm_90a",
                     "mov.u64 %d2, %clock64; mov.u32 %r4, %clock; mov.u64 %d3, %clock64;\n"
                     "st.global.u64 [%d1], %d2; st.global.u32 [%d1+8], %r4; st.global.u64 [%d1+16], %d3;");
  k.shape.block = {1, 1, 1};
  const std::vector<uint64_t> left = k.held().all<uint64_t>(1);
  const uint64_t before = left[0], low = left[1], after = left[2];  // %clock has a word of its own
  EXPECT_LT(before, low);
  EXPECT_LT(low, after);
}

// What thread 1 prints; the arguments that are not written are left out. Told: the sizes of what printf reads
// of them.
std::string printed(const std::string& stores, std::vector<std::pair<uint64_t, uint64_t>>& told) {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
      // "%%|%p|%ld|%hd|%zd|%jd"
      ".global .align 1 .b8 format[22] = {37, 37, 124, 37, 112, 124, 37, 108, 100, 124, 37, 104, 100, 124, "
      "37, 122, 100, 124, 37, 106, 100, 0};\n"
      ".visible .entry k(.param .u64 pin, .param .u64 pout) {\n.reg .b32 %r<8>; .reg .b64 %q<8>; .reg .pred "
      "%p<2>;\n"
      ".local .align 8 .b8 values[40];\nmov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 1; @%p0 bra E;\n" +
      stores +
      "mov.u64 %q2, values; cvta.local.u64 %q2, %q2; mov.u64 %q3, format; cvta.global.u64 %q3, %q3;\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %q3; st.param.b64 [b], %q2;\n"
      "call.uni (c), vprintf, (a, b); }\nE: ret;\n}\n";
  std::string out;
  run::Options options;
  options.print = [&](std::string_view more) { out += more; };
  machine::Observer observer;
  observer.accesses = true;
  observer.steps = false;
  observer.tell = [&](const machine::Event& event) {
    const auto* a = std::get_if<machine::Access>(&event.what);
    if (a == nullptr || a->kind != machine::AccessKind::read || a->bytes < 4) return;
    EXPECT_EQ(a->lanes, 2u) << "thread 1 alone";
    told.emplace_back(a->addresses[1], a->bytes);
  };
  options.observers.push_back(observer);
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {2, 1, 1};
  l.add_buffer({"in", std::vector<std::byte>(4, std::byte{1}), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(4), true, false, true});
  try {
    test::run_ptx(text, l, options, false);
  } catch (const machine::Fault& fault) {
    return fault.what();
  }
  return out;
}

TEST(Printf, EveryLengthAndThePointer) {
  const std::string stores =
      "mov.u64 %q1, 0x1234; st.local.u64 [values], %q1; mov.s64 %q1, -5; st.local.u64 [values+8], %q1;\n"
      "mov.s64 %q1, 9; st.local.u64 [values+24], %q1; mov.s64 %q1, -11; st.local.u64 [values+32], %q1;\n";
  std::vector<std::pair<uint64_t, uint64_t>> told;
  EXPECT_EQ(printed(stores + "mov.u32 %r1, 7; st.local.u32 [values+16], %r1;\n", told),
            "%|0x1234|-5|7|9|-11");
  ASSERT_EQ(told.size(), 5u);
  constexpr uint64_t kSizes[] = {8, 8, 4, 8, 8};
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], std::pair(told[0].first + 8 * i, kSizes[i]));
  told.clear();
  const std::string text = printed(stores, told);
  EXPECT_NE(text.find("printf prints argument 3, of 4 bytes, which was never written"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace bitwell::isa
