// The campaign's parts: what it plants, whom the suite catches, and what it calls equivalent.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "model/ptx/parse.h"
#include "verify/bugs/mutation/count.h"
#include "verify/bugs/mutation/judge.h"
#include "verify/bugs/mutation/known.h"
#include "verify/capture/captures.h"

namespace bitwell::bugs {
namespace {

std::vector<std::string> after(const std::string& instruction, const std::string& kind) {
  std::vector<std::string> out;
  for (const Mutant& m : mutants(instruction))
    if (m.kind == kind) out.push_back(m.after);
  return out;
}
using Texts = std::vector<std::string>;

TEST(Mutants, ThatSayTheSameAreCounted) {
  std::vector<int> of_barriers;
  for (const Mutant& m : mutants("bar.sync 0;\nadd.s32 %r1, %r2, 1;\nbar.sync 1;\nbar.sync 0;\n"))
    if (m.kind == "barrier deleted") of_barriers.push_back(m.nth);
  EXPECT_EQ(of_barriers, (std::vector<int>{1, 1, 2}));
}

TEST(Mutants, AreMadeOfTheInstructionsTheyAreFor) {
  EXPECT_EQ(after("@%p1 bar.sync 1, 64;", "barrier deleted"), Texts{""});
  EXPECT_EQ(after("bar.sync 1, 64;", "count changed"), (Texts{"bar.sync 1, 96;", "bar.sync 1, 32;"}));
  EXPECT_EQ(after("mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;", "wait deleted"),
            Texts{"mov.pred done, 1;"});
  EXPECT_EQ(
      after("mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;", "parity flipped"),
      Texts{"{ .reg .b32 planted; xor.b32 planted, %r2, 1; mbarrier.try_wait.parity.shared::cta.b64 done, "
            "[%r1], planted; }"});
  EXPECT_EQ(after("setp.lt.u32 %p1, %r1, 8;", "comparison changed"), Texts{"setp.le.u32 %p1, %r1, 8;"});
  EXPECT_EQ(after("setp.lt.u32 %p1, %r1, 8;", "bound changed"),
            (Texts{"setp.lt.u32 %p1, %r1, 9;", "setp.lt.u32 %p1, %r1, 7;"}));
  EXPECT_EQ(after("and.b32 %r1, %r2, 240;", "mask changed"),
            (Texts{"and.b32 %r1, %r2, 224;", "and.b32 %r1, %r2, 112;"}));
  EXPECT_EQ(after("ld.global.v2.u32 {%r1, %r2}, [%rd1+8];", "address moved"),
            (Texts{"ld.global.v2.u32 {%r1, %r2}, [%rd1+16];", "ld.global.v2.u32 {%r1, %r2}, [%rd1+0];"}));
  EXPECT_EQ(after("ld.global.v2.u32 {%r1, %r2}, [%rd1];", "order changed"),
            Texts{"ld.global.v2.u32 {%r2, %r1}, [%rd1];"});
  EXPECT_EQ(after("prmt.b32 %r1, %r2, %r3, 30212;", "selector changed")[0], "prmt.b32 %r1, %r2, %r3, 30272;");
  EXPECT_EQ(
      after("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, "
            "{%r2, %r3}], [%r4];",
            "coordinates swapped"),
      Texts{"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, "
            "{%r3, %r2}], [%r4];"});
  EXPECT_EQ(after("{ cvt.rn.bf16x2.f32 %r1, %f1, %f2;}", "order changed"),
            Texts{"cvt.rn.bf16x2.f32 %r1, %f2, %f1;"});
  EXPECT_EQ(after("fence.proxy.async.shared::cta;", "fence deleted"), Texts{""});
}

// Those that a race check is for: the suites' schedules show none of them.
TEST(Mutants, OfOrdersAndScopesAreOfEachInstructionThatHasOne) {
  const char* wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%r1], %r2;";
  EXPECT_EQ(after(wait, "scope narrowed"),
            Texts{"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%r1], %r2;"});
  EXPECT_EQ(after(wait, "order weakened"),
            Texts{"mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 done, [%r1], %r2;"});
  EXPECT_EQ(after(wait, "default order weakened"), Texts{});
  EXPECT_EQ(after("mbarrier.arrive.shared::cluster.b64 _, [%r1];", "default order weakened"),
            Texts{"mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r1];"});
  EXPECT_EQ(after("mbarrier.arrive.shared::cluster.b64 _, [%r1];", "scope narrowed"), Texts{});
  EXPECT_EQ(after("ld.acquire.gpu.global.u32 %r1, [%rd1];", "scope narrowed"),
            Texts{"ld.acquire.cta.global.u32 %r1, [%rd1];"});
  EXPECT_EQ(after("barrier.cluster.arrive.release.aligned;", "order weakened"),
            Texts{"barrier.cluster.arrive.relaxed.aligned;"});
  EXPECT_EQ(after("fence.proxy.async.shared::cta;", "fence of another kind"),
            (Texts{"fence.proxy.async.global;", "fence.proxy.alias;"}));
  EXPECT_EQ(after("tcgen05.fence::before_thread_sync;", "fence of another kind"),
            Texts{"tcgen05.fence::after_thread_sync;"});
  EXPECT_EQ(after("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+16], %r2;", "stage off by one"),
            (Texts{"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+24], %r2;",
                   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+8], %r2;"}));
}

TEST(Mutants, OfMatrixInstructionsAreOfEachOperand) {
  const char* mma =
      "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %rd1, %rd2, %r2, [%r3], "
      "[%r4], "
      "adds;";
  EXPECT_EQ(after(mma, "mma deleted"), Texts{""});
  EXPECT_EQ(
      after(mma, "accumulation changed"),
      Texts{
          "{ .reg .pred planted; not.pred planted, adds; "
          "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %rd1, %rd2, %r2, [%r3], "
          "[%r4], planted; }"});
  EXPECT_EQ(after(mma, "descriptor changed").size(), 12u);
  EXPECT_EQ(after(mma, "instruction descriptor changed").size(), 8u);
  EXPECT_EQ(after(mma, "column changed").size(), 6u);
  EXPECT_EQ(after("tcgen05.wait::ld.sync.aligned;", "wait deleted"), Texts{""});
  const char* copy =
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r1], "
      "[%rd1, {%r10, 0}], [%r3], %rs1;";
  EXPECT_EQ(
      after(copy, "coordinate changed")[0],
      "{ .reg .b32 planted; add.s32 planted, %r10, 1; "
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r1], [%rd1, {planted, 0}], [%r3], %rs1; }");
  EXPECT_EQ(after(copy, "receivers changed").size(), 2u);
  EXPECT_EQ(after(copy, "stage off by one").size(), 2u);
}

// Every one is another text of the same lines, and undoes nothing else.
TEST(Mutants, ChangeOneInstruction) {
  for (const Subject& s : subjects(capture::share_folder("kernels"))) {
    if (s.name != "gemv/fused blocked" && s.name != "gemm/m128_split2_f16") continue;
    const std::string text = only_entry(launch::read_file(s.ptx), s.entry);
    std::set<std::string> kinds;
    for (const Mutant& m : mutants(text)) {
      kinds.insert(m.kind);
      const std::string planted = plant(text, m);
      ASSERT_NE(planted, text) << m.before << " => " << m.after;
      ASSERT_EQ(planted.substr(0, m.at), text.substr(0, m.at));
      ASSERT_EQ(planted.substr(m.at + m.after.size()), text.substr(m.at + m.length));
    }
    EXPECT_GE(kinds.size(), s.name[4] == '/' ? 10u : 20u) << s.name;
    EXPECT_NO_THROW(isa::compile(ptx::parse(text), s.entry)) << s.name;
  }
}

TEST(Jury, TellsHowAMistakeIsFound) {
  const Subject pipeline = subjects(capture::share_folder("kernels")).front();
  ASSERT_EQ(pipeline.name, "hang/pipeline");
  const Jury jury(pipeline);
  EXPECT_EQ(jury.judge(jury.text()).found, Found::nothing);
  std::map<std::string, std::set<Found>> found;
  for (const Mutant& m : mutants(jury.text()))
    if (m.kind == "wait deleted" || m.kind == "bytes changed" || m.kind == "fence deleted" ||
        m.kind == "address moved")
      found[m.kind].insert(jury.judge(plant(jury.text(), m)).found);
  EXPECT_EQ(found["bytes changed"].count(Found::named), 1u);
  EXPECT_EQ(found["bytes changed"].count(Found::nothing), 0u);
  EXPECT_EQ(found["fence deleted"], std::set<Found>{Found::nothing});
  EXPECT_EQ(found["wait deleted"].count(Found::nothing), 0u);
  EXPECT_EQ(found["address moved"].count(Found::wrong_bits), 1u);
  EXPECT_EQ(jury.judge_races(jury.text()).found, Found::nothing);
  std::map<std::string, std::set<Found>> by_races;
  for (const Mutant& m : mutants(jury.text()))
    if (m.kind == "fence deleted" || m.kind == "default order weakened")
      by_races[m.kind].insert(jury.judge_races(plant(jury.text(), m)).found);
  EXPECT_EQ(by_races["fence deleted"], std::set<Found>{Found::noted});  // fence.mbarrier_init
  EXPECT_EQ(by_races["default order weakened"].count(Found::race), 1u);
  std::string text = jury.text();
  text.replace(text.find("cp.async.bulk"), 2, "cq");
  const Found illegal = jury.judge(text).found;
  EXPECT_TRUE(illegal == Found::not_ptx || illegal == Found::unsupported);
}

Parts parts(std::string_view text) { return split(text); }

TEST(Values, ACorrectionForNegativeNumbersIsZeroWhereThereAreNone) {
  const Values v(
      "ld.param.u32 %r1, [k];\n"
      "shr.s32 %r2, %r1, 31;\n"
      "shr.u32 %r3, %r2, 26;\n"
      "add.s32 %r4, %r1, %r3;\n"
      "ld.global.u32 %r5, [%rd1];\n"
      "shr.s32 %r6, %r5, 31;\n"
      "and.b32 %r7, %r5, 255;\n"
      "shl.b32 %r8, %r7, 24;\n"
      "mov.u32 %r9, 0;\n"
      "add.s32 %r9, %r9, %r1;\n"  // a loop's
      "add.s32 %r10, %r1, -1;\n");
  EXPECT_TRUE(v.same(parts("shr.s32 %r2, %r1, 31"), parts("shr.s32 %r2, %r1, 30")));
  EXPECT_FALSE(v.same(parts("shr.s32 %r2, %r1, 31"), parts("shr.s32 %r2, %r1, 29")));
  EXPECT_TRUE(v.same(parts("shr.u32 %r3, %r2, 26"), parts("shl.b32 %r3, %r2, 26")));
  EXPECT_TRUE(v.same(parts("add.s32 %r4, %r1, %r3"), parts("sub.s32 %r4, %r1, %r3")));
  EXPECT_FALSE(v.same(parts("add.s32 %r4, %r1, %r1"), parts("sub.s32 %r4, %r1, %r1")));
  EXPECT_FALSE(v.same(parts("shr.s32 %r6, %r5, 31"), parts("shr.s32 %r6, %r5, 30")));  // data
  EXPECT_FALSE(v.same(parts("shr.s32 %r6, %r8, 31"), parts("shr.s32 %r6, %r8, 30")));  // shifted to the sign
  EXPECT_FALSE(v.same(parts("shr.s32 %r6, %r10, 31"), parts("shr.s32 %r6, %r10, 30")));
  EXPECT_TRUE(v.same(parts("shr.s32 %r6, %r9, 31"), parts("shr.s32 %r6, %r9, 30")));
  EXPECT_TRUE(v.same(parts("and.b32 %r6, %r1, -32"), parts("and.b32 %r6, %r1, 2147483616")));
  EXPECT_FALSE(v.same(parts("and.b32 %r6, %r5, -32"), parts("and.b32 %r6, %r5, 2147483616")));
  EXPECT_FALSE(v.same(parts("and.b32 %r6, %r1, -32"), parts("and.b32 %r6, %r1, -64")));
}

// A row of 16 bytes has no second column of core matrices, to which the leading offset would lead; one of 32
// bytes has.
TEST(Rules, TheLeadingOffsetIsOfACopyOfMoreThanOneColumn) {
  const auto told = [](const std::string& instruction) {
    int out = 0;
    for (const Mutant& m : mutants(instruction))
      out += m.kind == "copy descriptor changed" && m.after.find(", 65536;") != std::string::npos &&
                     equivalent_by_rule(m, Values(instruction))
                 ? 1
                 : 0;
    return out;
  };
  EXPECT_EQ(told("tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1], %rd1;"), 1);
  EXPECT_EQ(told("tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;"), 0);
}

TEST(List, ALineThatIsNoneIsRefusedByNumber) {
  const auto path = std::filesystem::temp_directory_path() / ("bitwell-list-" + std::to_string(getpid()));
  std::ofstream(path)
      << "# comment\nequivalent\tgemv/*\tadd.s32 %, %, 1;\t-\treason\nequivalent\tgemv\tadd;\t-\n";
  try {
    read_list(path.string());
    ADD_FAILURE() << "took a line without a reason";
  } catch (const machine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("line 3"), std::string::npos) << e.what();
  }
  std::ofstream(path) << "equivalent\tgemv/*\tadd.s32 %, %, 1;\t-\treason\n"
                         "gap\tgemm/x\tbar.sync 0; #2\t-\treason\n";
  const std::vector<Listed> list = read_list(path.string());
  std::filesystem::remove(path);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(find(list, "gemm/x", {"", 1, "bar.sync 0;", "", 0, 0, 1}), nullptr);
  EXPECT_EQ(find(list, "gemm/x", {"", 1, "bar.sync 0;", "", 0, 0, 2}), &list[1]);
  EXPECT_NE(find(list, "gemv/naive blocked", {"", 1, "add.s32 %r1, %r22, 1;", "", 0, 0}), nullptr);
  EXPECT_EQ(find(list, "gemm/x", {"", 1, "add.s32 %r1, %r22, 1;", "", 0, 0}), nullptr);
  EXPECT_EQ(find(list, "gemv/naive blocked", {"", 1, "add.s32 %r1, %r22, 2;", "", 0, 0}), nullptr);
}

TEST(Score, IsTheShareOfThoseThatCouldBeKilled) {
  Count c;
  EXPECT_EQ(percent_killed(c), "-");
  c.planted = 48;
  c.named = 20;
  c.wrong_bits = 15;
  c.runs_on = 3;
  c.unsupported = 2;
  c.not_ptx = 1;
  c.missed = 1;
  c.equivalent = 5;
  c.gap = 1;
  EXPECT_EQ(c.killed(), 38u);
  EXPECT_EQ(c.not_equivalent(), 40u);
  EXPECT_EQ(percent_killed(c), "95.0 %");
  c.race = 5;  // errors of the race check
  c.noted = 5;
  EXPECT_EQ(c.failed(), 38u);
  EXPECT_EQ(c.killed(), 43u);
  EXPECT_EQ(c.not_equivalent(), 50u);
  EXPECT_EQ(percent_killed(c), "86.0 %");
  Count large;  // one survivor is never rounded away
  large.named = 99999;
  large.missed = 1;
  EXPECT_EQ(percent_killed(large), "99.9 %");
  large.missed = 0;
  EXPECT_EQ(percent_killed(large), "100.0 %");
  c.add(large);
  EXPECT_EQ(c.killed(), 43u + 99999u);
  EXPECT_EQ(c.planted, 48u);
}

}  // namespace
}  // namespace bitwell::bugs
