// What orders tcgen05 operations (PTX ISA 9.0, 9.7.16.6): each rule kept, every schedule gives the same bits;
// each rule broken, a check names it or some schedule gives other bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../../kernel.h"
#include "verify/probe/tensor_mma.h"
#include "verify/session/weigh.h"

namespace bitwell::isa {
namespace {

std::vector<run::Schedule> schedules() {
  std::vector<run::Schedule> out{{run::Policy::lazy}, {run::Policy::eager}};
  for (uint64_t seed = 1; seed <= 24; ++seed) out.push_back({run::Policy::random, seed});
  return out;
}

std::string in_order_with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}
// The line that starts with `start`, with its end.
std::string line_of(const std::string& text, const std::string& start) {
  const size_t at = text.find(start);
  EXPECT_NE(at, std::string::npos) << start;
  return text.substr(at, text.find('\n', at) + 1 - at);
}

// Given the operands of `p`, D is that of `wanted` under every schedule.
void expect_kept(const char* rule, const probe::MmaCase& p, const probe::MmaCase& wanted,
                 const std::string& text) {
  for (const run::Schedule& s : schedules()) {
    try {
      ASSERT_EQ(probe::difference(wanted, probe::run(p, s, text)), "") << rule << ", seed " << s.seed;
    } catch (const std::exception& e) {
      FAIL() << rule << ", seed " << s.seed << ": " << e.what();
    }
  }
}
// What is seen where a rule is broken: messages, and "other bits" where D is not that of `wanted`.
std::string seen(const probe::MmaCase& p, const probe::MmaCase& wanted, const std::string& text,
                 bool strict = false) {
  std::set<std::string> all;
  for (const run::Schedule& s : schedules()) {
    try {
      if (!probe::difference(wanted, probe::run(p, s, text, strict)).empty()) all.insert("other bits");
    } catch (const machine::Fault& e) {
      all.insert(e.what());
    }
  }
  std::string out;
  for (const std::string& one : all) out += one + "; ";
  return out;
}
void expect_caught(const char* rule, const probe::MmaCase& p, const probe::MmaCase& wanted,
                   const std::string& text, const char* by) {
  const std::string what = seen(p, wanted, text);
  EXPECT_NE(what.find(by), std::string::npos) << rule << ": " << (what.empty() ? "nothing" : what);
}

// Nothing promises the order of issue, in which D is that of `wanted`: the lazy schedule keeps it, a random
// one does not.
void expect_left_open(const char* rule, const probe::MmaCase& p, const probe::MmaCase& wanted,
                      const std::string& text) {
  EXPECT_EQ(probe::difference(wanted, probe::run(p, {}, text)), "") << rule;
  expect_caught(rule, p, wanted, text, "other bits");
}

// An fp16 MMA with A of 128 rows in tensor memory, and in shared memory too, as tcgen05.cp can take it.
probe::MmaCase from_tensor() {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 128, 3);
  p.a_in_tensor = true;
  p.accumulate = true;
  for (auto* codes :
       {&p.a, &p.b})  // small integers: the sums of two MMAs are exact, and their order is the same
    for (uint32_t& c : *codes) c = (c & 0x8000) | 0x3C00 | (c & 0x0300);
  std::fill(p.c.begin(), p.c.end(), 0x3F800000);
  return p;
}
// The rows of A as tcgen05.shift leaves them.
probe::MmaCase shifted(probe::MmaCase p) {
  const std::vector<uint32_t> a = p.a;
  for (uint32_t row = 0; row < 128; ++row)
    if (row % 32 != 31) std::copy_n(a.begin() + (row + 1) * 16, 16, p.a.begin() + row * 16);
  return p;
}
constexpr const char* kShift = "tcgen05.shift.cta_group::1.down [%r13];\n";

// After a first MMA its D is the second one's C.
probe::MmaCase after(const probe::MmaCase& first, probe::MmaCase second) {
  for (uint32_t row = 0; row < first.m; ++row)
    for (uint32_t column = 0; column < first.n; ++column)
      second.c[row * first.n + column] = probe::expected(first, row, column);
  return second;
}

struct Scaled {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[probe::kNvfp4], probe::kMmaSwizzles[3], 128, 16, 2);
  std::string text;
  std::string mma, commit;
  Scaled() {
    p.accumulate = true;
    text = probe::kernel(p);
    mma = line_of(text, "tcgen05.mma");
    commit = line_of(text, "tcgen05.commit");
  }
};
const char* const kWait = "wait: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;\n@!%p4 bra wait;\n";

const std::string kAfter = "tcgen05.fence::after_thread_sync;\n";

// A run with notes as errors, and what the race check says of it.
struct Judged {
  std::string strict, race;
  std::set<std::string_view> notes;  // of the race check
};
Judged judged(const probe::MmaCase& p, const std::string& text) {
  Judged out;
  const test::Module module = test::module_of(text);
  launch::Launch l = probe::launch_of(p);
  run::Options strict;
  strict.strict = true;
  try {
    test::run_ptx(module, l, strict);
  } catch (const machine::Fault& e) {
    out.strict = e.what();
  }
  findings::Watch watch;
  run::Options watched;
  watched.observers.push_back(watch.observer());
  l = probe::launch_of(p);
  watch.begin(*module->program("k"), l.shape);
  test::run_ptx(module, l, watched);
  const std::vector<session::Weighed> found = session::weigh(watch);
  if (const session::Weighed* error = session::first_error(found))
    out.race = findings::describe(error->found);
  for (const session::Weighed& w : found)
    if (w.level == session::Level::note) out.notes.insert(hazard::row_of(w.found.finding.kind).name);
  return out;
}

// Devices keep the order of issue, in which D is that of `wanted`, under every schedule; the manual does not
// promise it, so that a strict random one does not, and the race check has these notes more.
void expect_kept_by_devices(const char* rule, const probe::MmaCase& p, const probe::MmaCase& wanted,
                            const std::string& text, std::set<std::string_view> notes) {
  expect_kept(rule, p, wanted, text);
  const std::string strict = seen(p, wanted, text, true);
  EXPECT_NE(strict.find("other bits"), std::string::npos) << rule << ": " << strict;
  const Judged j = judged(p, text);
  EXPECT_EQ(j.race, "") << rule;
  notes.merge(judged(p, probe::kernel(p)).notes);  // of what the kernel does otherwise
  EXPECT_EQ(j.notes, notes) << rule;
}

// The different D of all schedules; nothing for one that ends in a fault.
std::set<std::vector<uint32_t>> outcomes(const probe::MmaCase& p, const std::string& text) {
  std::set<std::vector<uint32_t>> out;
  for (const run::Schedule& s : schedules()) {
    try {
      out.insert(probe::run(p, s, text));
    } catch (const machine::Fault&) {
      out.insert(std::vector<uint32_t>{});
    }
  }
  return out;
}

TEST(TensorOrder, AnMmaIsDoneWhenItsCommitWasWaitedFor) {
  const Scaled s;
  expect_kept("mma, commit, wait, ld", s.p, s.p, s.text);
  expect_caught("no wait", s.p, s.p, in_order_with(s.text, kWait, ""), "other bits");
  expect_caught("no commit", s.p, s.p, in_order_with(s.text, s.commit, ""), "deadlock");
  expect_caught("commit first", s.p, s.p,
                in_order_with(in_order_with(s.text, s.commit, ""), s.mma, s.commit + s.mma), "other bits");
}

TEST(TensorOrder, ACopyIsDoneBeforeTheMmaOfItsThread) {
  const Scaled s;
  // Thread 32 copies instead: nothing orders its copies before thread 0's MMA.
  std::string text = in_order_with(s.text, "@!%p6 bra issued;",
                                   "setp.eq.u32 %p5, %r0, 32;\nor.pred %p6, %p6, %p5;\n@!%p6 bra issued;");
  for (size_t at = 0; (at = text.find("\ntcgen05.cp", at)) != std::string::npos;)
    text.insert(at += 1, "@%p5 ");
  text = in_order_with(in_order_with(text, s.mma, "@%p1 " + s.mma), s.commit, "@%p1 " + s.commit);
  // Columns that hold something already: else what was never written is named.
  expect_caught("cp by another warp", s.p, s.p, text, "of tensor memory, which was never written");
}

// What is ordered across threads, by fences around a barrier, is ordered as if one thread had issued it.
TEST(TensorOrder, FencesAroundABarrierOrderTheOperationsOfTwoWarps) {
  const Scaled s;
  const size_t from = s.text.find("and.b32 %r14");
  std::string copies = s.text.substr(from, s.text.find("tcgen05.mma") - from);
  std::string rest = copies;
  for (size_t at = 0; (at = rest.find("tcgen05.cp", at)) != std::string::npos;)
    rest.erase(at, rest.find('\n', at) + 1 - at);
  for (size_t at = 0; (at = copies.find("tcgen05.cp", at)) != std::string::npos; at += 20)
    copies.insert(at, "@%p5 ");
  const std::string text = s.text.substr(0, from) + rest + s.text.substr(from + copies.size() - 5 * 2);
  const std::string other = "setp.eq.u32 %p5, %r0, 32;\n" + copies;
  const std::string fence = "tcgen05.fence::before_thread_sync;\n";
  const char* const issue = "@!%p6 bra issued;\n";
  const std::string kept = in_order_with(text, issue, other + fence + "bar.sync 0;\n" + issue);
  expect_kept("cp, fence, barrier, fence, mma by two warps", s.p, s.p, kept);
  expect_caught("no fence behind the barrier", s.p, s.p, in_order_with(kept, issue + kAfter, issue),
                "of tensor memory, which was never written");
  expect_caught("no fence before the barrier", s.p, s.p,
                in_order_with(text, issue, other + "bar.sync 0;\n" + issue),
                "of tensor memory, which was never written");
}

TEST(TensorOrder, StoresAndLoadsAreWaitedFor) {
  const Scaled s;
  expect_caught("st without wait::st", s.p, s.p,
                in_order_with(s.text, "tcgen05.wait::st.sync.aligned;\n", ""), "tcgen05.wait::st is missing");
  const std::string load =
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}, [%r5];\n";
  const std::string wait = "tcgen05.wait::ld.sync.aligned;\n";
  const char* const place = "tcgen05.fence::before_thread_sync;\n";
  expect_kept("ld, wait::ld, mma", s.p, s.p, in_order_with(s.text, place, load + wait + place));
  expect_caught("ld without wait::ld", s.p, s.p, in_order_with(s.text, place, load + place),
                "tcgen05.wait::ld is missing");
}

// CUTLASS's stream-K kernels (its example 74) hand columns to an MMA that they have stored and loaded again.
TEST(TensorOrder, AStoreIsThereWhenItsWarpHasLoadedItAgain) {
  const Scaled s;
  const std::string unwaited = in_order_with(s.text, "tcgen05.wait::st.sync.aligned;\n", "");
  const std::string store = line_of(s.text, "tcgen05.st.");
  const std::string load = "tcgen05.ld.sync.aligned.32x32b.";
  const std::string wait = "tcgen05.wait::ld.sync.aligned;\n";
  expect_kept("all of it", s.p, s.p,
              in_order_with(unwaited, store,
                            store + load + "x8.b32 {%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}, [%r9];\n" + wait));
  expect_caught("half of it", s.p, s.p,
                in_order_with(unwaited, store, store + load + "x4.b32 {%v0,%v1,%v2,%v3}, [%r9];\n" + wait),
                "tcgen05.wait::st is missing");
}

TEST(TensorOrder, OperandsStayUntilTheMmaIsDone) {
  const Scaled s;
  std::string spoil;  // the first row of A
  for (int at = 0; at < 128; at += 16)
    spoil += "st.shared.v4.u32 [%r2+" + std::to_string(at) + "], {0, 0, 0, 0};\n";
  expect_kept("operands written after the wait", s.p, s.p, in_order_with(s.text, kWait, kWait + spoil));
  expect_caught("operands written before it", s.p, s.p, in_order_with(s.text, s.commit, s.commit + spoil),
                "other bits");
}

TEST(TensorOrder, ColumnsAreFreedWhenAllIsDone) {
  const Scaled s;
  const size_t from = s.text.find("wait: ");
  const size_t to = s.text.rfind("bar.sync 0;\nld.shared.b32 %r4, [base];");
  ASSERT_NE(to, std::string::npos);
  expect_caught("dealloc before the MMA is done", s.p, s.p, s.text.substr(0, from) + s.text.substr(to),
                "allocated: no columns");
}

// A wait that saw a commit orders a later ld on B200s; the manual wants the fence, too.
TEST(TensorOrder, TheFenceBehindACommitsWaitIsANote) {
  const Scaled s;
  EXPECT_EQ(judged(s.p, s.text).strict, "");
  const std::string bare = in_order_with(s.text, "bar.warp.sync -1;\n" + kAfter, "bar.warp.sync -1;\n");
  expect_kept("no fence behind the wait", s.p, s.p, bare);
  const std::string what = judged(s.p, bare).strict;
  EXPECT_NE(
      what.find("tcgen05.ld after a wait for a tcgen05.commit, and no tcgen05.fence::after_thread_sync"),
      std::string::npos)
      << what;
}

// cp and shift are no pipeline with ld, either.
TEST(TensorOrder, CopiesAndShiftsAreWaitedForBeforeALoad) {
  const probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 16, 3);
  const std::string text = probe::kernel(p);
  const std::string mma = line_of(text, "tcgen05.mma");
  for (const char* operation :
       {"tcgen05.cp.cta_group::1.128x256b [%r4], %x0;\n", "tcgen05.shift.cta_group::1.down [%r4];\n"}) {
    const std::string other = in_order_with(text, mma, operation);
    EXPECT_EQ(outcomes(p, other).size(), 1u) << operation;
    EXPECT_GT(outcomes(p, in_order_with(other, kWait, "")).size(), 1u) << operation;
  }
}

// The manual has no word for it, block-scaled kernels in use count on it.
TEST(TensorOrder, ACopyBehindAnMmaDoesNotReachIt) {
  const Scaled s;
  expect_kept_by_devices(
      "mma, cp over its scales", s.p, s.p,
      in_order_with(s.text, s.mma, s.mma + "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r11], %x0;\n"),
      {"tcgen05-copy"});
}

// mma and cp read shared memory through the async proxy. No schedule shows it; the race check does.
TEST(TensorOrder, GenericWritesNeedTheProxyFence) {
  for (const probe::MmaCase& p :
       {Scaled().p, probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], 128, 16, 2)}) {
    EXPECT_EQ(judged(p, probe::kernel(p)).race, "");
    const std::string what =
        judged(p, in_order_with(probe::kernel(p), "fence.proxy.async.shared::cta;\n", "")).race;
    EXPECT_NE(what.find("fence.proxy.async"), std::string::npos) << what;
  }
}

// An MMA of a pair reads both CTAs' shared memory and writes both their tensor memory.
TEST(TensorOrder, APairMeetsBeforeItMultiplies) {
  const probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], 256, 16, 2, 2);
  const std::string text = probe::kernel(p);
  expect_kept("barrier.cluster, mma", p, p, text);
  expect_caught("no barrier.cluster", p, p,
                in_order_with(text, "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
                              "bar.sync 0;\n"),
                "never written");
}

TEST(TensorOrder, MmasOfOneSumKeepTheirOrder) {
  const probe::MmaCase p = from_tensor();
  const std::string text = probe::kernel(p);
  const std::string mma = line_of(text, "tcgen05.mma");
  // The first does not add.
  probe::MmaCase first = p;
  first.accumulate = false;
  const std::string both =
      in_order_with(text, mma, "setp.ne.u32 %p5, %r0, %r0;\n" + in_order_with(mma, "%p3", "%p5") + mma);
  expect_kept("mma, mma", p, after(first, p), both);
  // Another shape on the same cells: the first half of the columns gets no sum to add to but its own.
  probe::MmaCase narrow = p;
  for (uint32_t row = 0; row < 128; ++row)
    for (uint32_t column = 0; column < 64; ++column)
      narrow.c[row * 128 + column] = probe::expected(first, row, column);
  expect_kept_by_devices(
      "mmas of two shapes", p, narrow,
      in_order_with(text, mma,
                    "sub.u32 %r15, %r10, 1048576;\nsetp.ne.u32 %p5, %r0, %r0;\n" +
                        in_order_with(in_order_with(mma, "%r10", "%r15"), "%p3", "%p5") + mma),
      {"tcgen05-mma"});
}

// Attention: one MMA reads P in tensor memory, the next of its thread writes the scores of the next tile
// there. Every such kernel for B200s issues them one behind the other.
TEST(TensorOrder, AnMmaOverAnothersOperandComesBehindIt) {
  for (const uint32_t ctas : {1u, 2u})
    for (const uint32_t n : {64u, 128u}) {
      probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128 * ctas, n, 3, ctas);
      p.a_in_tensor = true;
      p.accumulate = true;
      const std::string text = probe::kernel(p);
      const std::string mma = line_of(text, "tcgen05.mma");
      const std::string scores =
          "setp.ne.u32 %p5, %r0, %r0;\n" +
          in_order_with(in_order_with(in_order_with(mma, "[%r13]", "%x0"), "[%r4]", "[%r13]"), "%p3", "%p5");
      expect_kept_by_devices("mma over an mma's A", p, p, in_order_with(text, mma, mma + scores),
                             {"tcgen05-mma"});
    }
}

// B200s take the threads of a warp that issue for one.
TEST(TensorOrder, MmasOfTwoThreadsOfAWarpKeepTheirOrder) {
  probe::MmaCase p = from_tensor();
  p.accumulate = false;
  std::string text = probe::kernel(p);
  const std::string mma = line_of(text, "tcgen05.mma");
  const std::string commit = line_of(text, "tcgen05.commit");
  text = in_order_with(text, "@!%p6 bra issued;",
                       "setp.eq.u32 %p5, %r0, 1;\nor.pred %p6, %p6, %p5;\n@!%p6 bra issued;");
  text = in_order_with(in_order_with(text, mma, "@%p1 " + mma + "setp.eq.u32 %p3, %r0, %r0;\n@%p5 " + mma),
                       commit, "@%p5 " + commit);
  probe::MmaCase both = p;
  both.accumulate = true;
  both = after(p, both);
  expect_kept("mmas of two threads", p, both, text);
  EXPECT_NE(seen(p, both, text, true).find("other bits"), std::string::npos);
}

TEST(TensorOrder, ShiftsAndMmasKeepTheirOrder) {
  const probe::MmaCase p = from_tensor();
  const std::string text = probe::kernel(p);
  const std::string mma = line_of(text, "tcgen05.mma");
  const probe::MmaCase both = after(p, shifted(p));
  expect_kept("mma, shift, mma", p, both, in_order_with(text, mma, mma + kShift + mma));
  expect_kept("shift, mma", p, shifted(p), in_order_with(text, mma, kShift + mma));
  // Thread 32 shifts instead.
  std::string other = in_order_with(text, "@!%p6 bra issued;",
                                    "setp.eq.u32 %p5, %r0, 32;\nor.pred %p6, %p6, %p5;\n@!%p6 bra issued;");
  const std::string commit = line_of(text, "tcgen05.commit");
  other = in_order_with(in_order_with(other, mma, "@%p5 " + std::string(kShift) + "@%p1 " + mma), commit,
                        "@%p1 " + commit);
  expect_caught("shift by another warp", p, shifted(p), other, "other bits");
}

TEST(TensorOrder, AShiftIsDoneBeforeACopyOfFourRowsOnly) {
  probe::MmaCase p = from_tensor();
  const std::string text = probe::kernel(p);
  const std::string mma = line_of(text, "tcgen05.mma");
  // The last row of each quarter becomes the row of that number.
  probe::MmaCase replaced = shifted(p);
  for (uint32_t i = 0; i < 4; ++i)
    std::copy_n(p.a.begin() + i * 16, 16, replaced.a.begin() + (32 * i + 31) * 16);
  const std::string four =
      "add.u32 %r15, %r13, " + std::to_string(31 << 16) + ";\ntcgen05.cp.cta_group::1.4x256b [%r15], %x0;\n";
  expect_kept("shift, cp.4x256b, mma", p, replaced, in_order_with(text, mma, kShift + four + mma));
  const std::string all = "tcgen05.cp.cta_group::1.128x256b [%r13], %x0;\n";
  expect_left_open("shift, cp.128x256b", p, p, in_order_with(text, mma, kShift + all + mma));
  expect_left_open("cp.128x256b, shift", p, shifted(p), in_order_with(text, mma, all + kShift + mma));
  const std::string b_into_a = "tcgen05.cp.cta_group::1.128x256b [%r13], %x1;\n";
  expect_left_open("cp and cp to one place", p, p, in_order_with(text, mma, b_into_a + all + mma));
}

// D of 64 rows stands in every other half of a warp's lanes; the halves between may be another's.
TEST(TensorOrder, AnMmaOf64RowsKeepsOffTheLanesBetween) {
  for (const uint32_t lane : {0u, 16u}) {
    probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 64, 32, 3);
    p.lane = lane;
    const auto loading = [&](uint32_t from) {  // with a load that nobody waits for
      const std::string fence = "tcgen05.fence::before_thread_sync;\n";
      return in_order_with(probe::kernel(p), fence,
                           "add.u32 %r21, %r5, " + std::to_string(from << 16) +
                               ";\ntcgen05.ld.sync.aligned.16x64b.x1.b32 {%r22}, [%r21];\n" + fence);
    };
    expect_kept("a load of the lanes between", p, p, loading(16 - lane));
    expect_caught("a load of its own lanes", p, p, loading(lane), "tcgen05.wait::ld is missing");
  }
}

}  // namespace
}  // namespace bitwell::isa
