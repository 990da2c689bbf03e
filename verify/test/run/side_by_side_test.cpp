// Clusters of a launch on several host threads: bytes, counts, notes, prints and faults are those of one
// thread, which runs them one after the other.
#include <gtest/gtest.h>

#include <algorithm>

#include "../kernel.h"
#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "model/run/watch/numeric.h"

namespace bitwell::run {
namespace {

using Words = std::vector<uint32_t>;
constexpr uint32_t kCtas = 96;

// What a launch came to, for whoever compares.
struct End {
  Words words;
  std::string fault, printed, notes;
  uint64_t lanes = 0, warps = 0;
  HostThreads host;

  bool operator==(const End& b) const {
    return words == b.words && fault == b.fault && printed == b.printed && notes == b.notes &&
           lanes == b.lanes && warps == b.warps;
  }
};

// One warp a CTA, %r0 is its number, %a0 the buffer's address and %a1 that of its word there. It counts to
// some thousand first, so that the launch is long enough for other threads to be called; then `body`.
test::Kernel kernel(const std::string& body) {
  test::Kernel k;
  k.module =
      ".extern .func (.param .b32 n) vprintf(.param .b64 format, .param .b64 values);\n"
      ".global .align 1 .b8 word[3] = {97, 10, 0};\n";
  k.parameters = ".param .u64 words";
  k.registers = ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %a<8>;\n.reg .b16 %h<4>;\n";
  k.shared = ".shared .align 8 .b64 barrier;\n";
  k.start =
      "ld.param.u64 %a0, [words];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a1, %a0, "
      "%a1;\n"
      "mov.u32 %r1, 0;\ncount: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 4000;\n@%p0 bra count;\n";
  k.body = body;
  k.shape.grid = {kCtas, 1, 1};
  Words words(2048);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = 1000 + i;
  launch::Buffer b{"words", std::vector<std::byte>(4 * words.size()), true, false, true};
  std::memcpy(b.bytes.data(), words.data(), b.bytes.size());
  k.buffers = {b};
  return k;
}

End ended(test::Kernel k, unsigned threads) {
  End out;
  k.options.threads = threads;
  k.options.print = [&](std::string_view text) { out.printed += text; };
  launch::Launch l = k.launch();
  try {
    const RunResult result = test::run_ptx(k.text(), l, k.options);
    out.host = result.host;
    out.lanes = result.lane_instructions;
    out.warps = result.warp_instructions;
    for (const Note& n : result.notes)
      out.notes += machine::describe(n.place, n.text) + " " + std::to_string(n.times) + "\n";
  } catch (const machine::Fault& e) {
    out.fault = e.what();
  }
  out.words.resize(l.buffers[0].bytes.size() / 4);
  std::memcpy(out.words.data(), l.buffers[0].bytes.data(), l.buffers[0].bytes.size());
  return out;
}

// On so many threads the same as on one; returns the last.
End same_on_all(const test::Kernel& k) {
  const End one = ended(k, 1);
  EXPECT_EQ(one.host.clusters, 0U);
  End last;
  for (const unsigned threads : {2U, 7U, 16U}) {
    last = ended(k, threads);
    EXPECT_EQ(last, one) << threads << " threads: " << last.host.why_not_all << ", " << last.warps << " of "
                         << one.warps;
    if (last.host.why_not_all.empty() && last.fault.empty()) {
      EXPECT_EQ(last.host.threads, threads);
      EXPECT_EQ(last.host.clusters, kCtas);
    }
  }
  return last;
}

const std::string kTwice = "ld.global.u32 %r2, [%a1];\nshl.b32 %r2, %r2, 1;\nst.global.u32 [%a1], %r2;\n";

TEST(SideBySide, WordsOfTheirOwnBesideEachOther) {
  const End end = same_on_all(kernel(kTwice));
  EXPECT_EQ(end.host.why_not_all, "");
  for (uint32_t i = 0; i < kCtas; ++i) EXPECT_EQ(end.words[i], 2 * (1000 + i));
  EXPECT_EQ(end.words[kCtas], 1000 + kCtas);
}

TEST(SideBySide, BytesOfTheirOwnBesideEachOther) {
  const End end =
      same_on_all(kernel("cvt.u64.u32 %a2, %r0;\nadd.u64 %a2, %a2, %a0;\nst.global.u8 [%a2], %r0;\n"));
  EXPECT_EQ(end.host.why_not_all, "");
  for (uint32_t i = 0; i < kCtas; ++i) EXPECT_EQ(end.words[i / 4] >> i % 4 * 8 & 0xFF, i);
}

TEST(SideBySide, UnderEverySchedule) {
  for (const PolicyName& p : run::kPolicies) {
    test::Kernel k = kernel(kTwice);
    k.options.schedule = {p.policy, 5};
    const End end = same_on_all(k);
    EXPECT_EQ(end.host.why_not_all.empty(), p.policy != Policy::random) << p.name;
  }
}

TEST(SideBySide, InClusters) {
  test::Kernel k = kernel(kTwice);
  k.shape.grid = {4 * 2, 3, 4};
  k.shape.cluster = {2, 1, 2};
  k.start +=
      "mov.u32 %r3, %ctaid.y;\nmov.u32 %r4, %ctaid.z;\nmad.lo.u32 %r0, %r3, 8, %r0;\n"
      "mad.lo.u32 %r0, %r4, 24, %r0;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a1, %a0, %a1;\n";
  const End one = ended(k, 1), seven = ended(k, 7);
  EXPECT_EQ(seven, one);
  EXPECT_EQ(seven.host.clusters, kCtas / 4);
  for (uint32_t i = 0; i < kCtas; ++i) EXPECT_EQ(one.words[i], 2 * (1000 + i));
}

// Why a launch went on in order, where it did: a busy machine may have had one thread run all that meet.
void expect_in_order(const End& end, const std::string& why) {
  if (end.host.clusters != kCtas) {
    EXPECT_EQ(end.host.why_not_all, why);
  }
}

// Each adds to what the one before it has left.
TEST(SideBySide, AChainIsRunInOrder) {
  const End end =
      same_on_all(kernel("ld.global.u32 %r2, [%a1];\nadd.u32 %r2, %r2, 7;\nst.global.u32 [%a1+4], %r2;\n"));
  expect_in_order(end, "clusters share bytes of 'words' that one of them changes");
  for (uint32_t i = 0; i <= kCtas; ++i) EXPECT_EQ(end.words[i], 1000 + 7 * i);
}

// Lane 0 copies the CTA's 16 bytes to shared memory, does `there` with them, and copies them to `to`.
test::Kernel copies(const std::string& there, const std::string& to) {
  test::Kernel k = kernel(
      "mul.wide.u32 %a2, %r0, 16;\nadd.u64 %a2, %a2, %a0;\nmov.u32 %r3, staged;\nmov.u32 %r4, %tid.x;\n"
      "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra end;\nmov.u32 %r5, barrier;\nmbarrier.init.shared.b64 [%r5], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%a2], 16, [%r5];\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0;\n@!%p2 bra wait;\n" +
      there + "cp.async.bulk.global.shared::cta.bulk_group [" + to +
      "], [%r3], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:\n");
  k.shared += ".shared .align 16 .b8 staged[16];\n";
  return k;
}

// The same through copies: what they write and read counts as what lanes do.
TEST(SideBySide, AChainOfCopies) {
  const test::Kernel k = copies(
      "ld.shared.u32 %r2, [%r3];\nadd.u32 %r2, %r2, 7;\nst.shared.u32 [%r3], %r2;\nfence.proxy.async;\n",
      "%a2+16");
  const End end = same_on_all(k);
  expect_in_order(end, "clusters share bytes of 'words' that one of them changes");
  for (uint32_t i = 0; i <= kCtas; ++i) EXPECT_EQ(end.words[4 * i], 1000 + 7 * i);
}

// The last ones read what another of them writes; those before keep what they have done.
TEST(SideBySide, WhatWasRunBeforeIsKept) {
  const std::string late =
      "setp.lt.u32 %p1, %r0, 90;\n@%p1 bra own;\nld.global.u32 %r2, [%a1+-4];\nst.global.u32 [%a1], "
      "%r2;\nbra end;\n"
      "own:\n" +
      kTwice + "end:\n";
  same_on_all(kernel(late));
  const End end = ended(kernel(late), 2);
  EXPECT_GE(end.host.clusters, 32U);  // the first round; of the next the same thread may have had all
  for (uint32_t i = 90; i < kCtas; ++i) EXPECT_EQ(end.words[i], 2 * (1000 + 89U));
}

// All read one word. Another writes it, when it is long known as only read: those before it see the old one.
TEST(SideBySide, OneWritesWhatAllRead) {
  const std::string table =
      "ld.global.u32 %r2, [%a0+8000];\nsetp.ne.u32 %p1, %r0, 50;\n@!%p1 st.global.u32 [%a0+8000], %r0;\n"
      "st.global.u32 [%a1], %r2;\n";
  test::Kernel k = kernel(table);
  const End end = same_on_all(k);
  expect_in_order(end, "clusters share bytes of 'words' that one of them changes");
  for (uint32_t i = 0; i < kCtas; ++i) EXPECT_EQ(end.words[i], i <= 50 ? 3000U : 50U);
  // In a buffer of its own.
  k.parameters = ".param .u64 words, .param .u64 table";
  k.start += "ld.param.u64 %a3, [table];\n";
  k.body =
      "ld.global.u32 %r2, [%a3];\nsetp.ne.u32 %p1, %r0, 50;\n@!%p1 st.global.u32 [%a3+128], %r0;\n"
      "st.global.u32 [%a1], %r2;\n";
  launch::Buffer of_table{"table", std::vector<std::byte>(4096), true, false, false};
  k.buffers.push_back(of_table);
  EXPECT_EQ(same_on_all(k).host.why_not_all, "");  // another word of it
  k.body =
      "ld.global.u32 %r2, [%a3];\nsetp.ne.u32 %p1, %r0, 50;\n@!%p1 st.global.u32 [%a3], %r0;\n"
      "st.global.u32 [%a1], %r2;\n";
  expect_in_order(same_on_all(k), "clusters share bytes of 'table' that one of them changes");
}

// Sums of integers are the same in any order, where nobody looks at what was there.
TEST(SideBySide, AdditionsInAnyOrder) {
  for (const char* add : {"red.global.add.u32 [%a0], %r0;\n", "atom.global.add.u32 %r9, [%a0], %r0;\n",
                          "atom.add.u32 %r9, [%a0], %r0;\n"}) {
    const End end = same_on_all(kernel(add));
    EXPECT_EQ(end.host.why_not_all, "") << add;
    EXPECT_EQ(end.words[0], 1000 + 32 * (kCtas - 1) * kCtas / 2);
  }
  for (const char* extreme : {"red.global.max.u32 [%a0], %r0;\n", "red.global.min.s32 [%a0], %r0;\n",
                              "red.global.xor.b32 [%a0], %r0;\n"})
    EXPECT_EQ(same_on_all(kernel(extreme)).host.why_not_all, "") << extreme;
}

TEST(SideBySide, WhereTheOrderOfAdditionsMatters) {
  const End given = same_on_all(kernel("atom.global.add.u32 %r9, [%a0], 1;\nst.global.u32 [%a1+4], %r9;\n"));
  EXPECT_NE(given.host.why_not_all.find("atom.global.add.u32 at PTX line"), std::string::npos);
  EXPECT_EQ(given.host.threads, 1U);
  // By a generic address nobody knows beforehand.
  const End generic = same_on_all(kernel("atom.add.u32 %r9, [%a0], 1;\nst.global.u32 [%a1+4], %r9;\n"));
  expect_in_order(generic, "clusters share bytes of 'words' that one of them changes");
  same_on_all(kernel("red.global.add.u32 [%a0], %r0;\nred.global.max.u32 [%a0], 12000;\n"));
  same_on_all(
      kernel("red.global.add.u32 [%a0], 1;\nld.global.u32 %r2, [%a0];\nst.global.u32 [%a1+4], %r2;\n"));
  const End wraps = same_on_all(kernel("red.global.inc.u32 [%a0], %r0;\n"));
  EXPECT_NE(wraps.host.why_not_all.find("its order matters"), std::string::npos);
  const End sum = same_on_all(kernel("mov.b32 %r2, 0f3F8CCCCD;\nred.global.add.f32 [%a0], %r2;\n"));
  EXPECT_NE(sum.host.why_not_all.find("its order matters"), std::string::npos);
}

// What a host program may see while the kernel runs is written once: nothing of it is taken back.
TEST(SideBySide, WhatIsForTheHostIsWrittenInOrder) {
  for (const char* body :
       {"st.relaxed.sys.global.u32 [%a1], %r0;\n", "st.release.sys.u32 [%a1], %r0;\n",
        "st.volatile.global.u32 [%a1], %r0;\n", "red.relaxed.sys.global.add.u32 [%a0], 1;\n",
        "red.relaxed.sys.add.u32 [%a0], 1;\n"}) {
    const End end = same_on_all(kernel(body));
    EXPECT_NE(end.host.why_not_all.find("may be seen by the host meanwhile"), std::string::npos) << body;
    EXPECT_EQ(end.host.threads, 1U);
  }
  for (const char* body : {"st.relaxed.gpu.global.u32 [%a1], %r0;\n", "st.volatile.u32 [%a1], %r0;\n"})
    EXPECT_EQ(same_on_all(kernel(body)).host.why_not_all, "") << body;
}

// Each waits for the one behind it, the last for nobody.
TEST(SideBySide, WhoWaitsRunsAmongAll) {
  const std::string wait =
      "setp.eq.u32 %p1, %r0, 95;\n@%p1 bra go;\nwait: LOAD %r2, [%a1+4];\nsetp.ne.u32 %p2, %r2, 1;\n@%p2 bra "
      "wait;\n"
      "go: st.relaxed.gpu.global.u32 [%a1], 1;\n";
  const auto with = [&](const std::string& load) {
    return std::string(wait).replace(wait.find("LOAD"), 4, load);
  };
  const End strong = same_on_all(kernel(with("ld.relaxed.gpu.global.u32")));
  EXPECT_NE(strong.host.why_not_all.find("may write meanwhile"), std::string::npos);
  EXPECT_EQ(strong.host.threads, 1U);
  const End weak = same_on_all(kernel(with("ld.global.u32")));
  EXPECT_EQ(weak.words[0], 1U);
}

// The first in order is told, with all that was printed and written before it.
TEST(SideBySide, AFaultIsTheFirstInOrder) {
  const std::string print =
      "mov.u64 %a2, word;\ncvta.global.u64 %a2, %a2;\nmov.u64 %a3, 0;\n{\n.param .b64 p0;\n.param .b64 p1;\n"
      ".param .b32 r;\nst.param.b64 [p0], %a2;\nst.param.b64 [p1], %a3;\ncall.uni (r), vprintf, (p0, "
      "p1);\n}\n";
  const End held = same_on_all(kernel(print + kTwice));
  EXPECT_EQ(held.printed.size(), 2U * 32 * kCtas);
  EXPECT_EQ(held.host.why_not_all, "");
  const End fault = same_on_all(
      kernel(print + kTwice +
             "setp.lt.u32 %p1, %r0, 37;\n@%p1 bra end;\nst.global.u32 [%a1+1000000], %r0;\nend:\n"));
  EXPECT_NE(fault.fault.find("CTA (37,0,0)"), std::string::npos) << fault.fault;
  EXPECT_EQ(fault.printed.size(), 2U * 32 * 38);
}

TEST(SideBySide, NotesAreCounted) {
  const End end = same_on_all(kernel("mov.u32 %r2, barrier;\nmbarrier.init.shared.b64 [%r2], 1;\n" + kTwice));
  EXPECT_EQ(end.host.why_not_all, "");
  EXPECT_NE(end.notes.find("CTA (0,0,0)"), std::string::npos) << end.notes;
  EXPECT_NE(end.notes.find(" " + std::to_string(31 * kCtas) + "\n"), std::string::npos) << end.notes;
}

std::string text_of(const machine::Event& event) {
  std::string out = "cluster " + machine::triple(event.first_cta);
  const auto add = [&](const auto&... words) { ((out += " ", out += words), ...); };
  const auto number = [](uint64_t n) { return std::to_string(n); };
  if (const auto* turn = std::get_if<machine::Turn>(&event.what)) {
    add(machine::triple(turn->cta), number(turn->begin), number(turn->end), turn->instruction);
  } else if (const auto* step = std::get_if<machine::OperationStep>(&event.what)) {
    add(machine::triple(step->cta), number(step->time), number(step->id), step->state);
  } else {
    const auto& over = std::get<machine::PhaseOver>(event.what);
    add(machine::triple(over.cta), number(over.time), over.barrier);
  }
  return out + "\n";
}

// Turns, operations and phases, at the same times, in the same order; `all`: side by side to the end.
void expect_told_the_same(const test::Kernel& of, bool all) {
  std::vector<std::string> told;
  for (const unsigned threads : {1U, 2U, 7U, 16U}) {
    test::Kernel k = of;
    std::string& now = told.emplace_back();
    k.options.observers.push_back({[&](const machine::Event& event) { now += text_of(event); }});
    const End end = ended(k, threads);
    EXPECT_TRUE(now == told.front()) << threads << " threads";
    if (all) {
      EXPECT_EQ(end.host.clusters, threads == 1 ? 0U : kCtas) << end.host.why_not_all;
    }
  }
  EXPECT_NE(told.front().find("cluster (95,0,0)"), std::string::npos);
  EXPECT_NE(told.front().find("cp.async.bulk"), std::string::npos);
  EXPECT_NE(told.front().find("'barrier'"), std::string::npos);
}

TEST(SideBySide, WhoLooksOnIsToldTheSame) { expect_told_the_same(copies("", "%a2"), true); }

// Of a round that does not count nobody is told.
TEST(SideBySide, WhoLooksOnIsToldOnce) {
  test::Kernel k = copies("", "%a2");
  k.start += "setp.eq.u32 %p3, %r0, 90;\n@%p3 st.global.u32 [%a0], %r0;\n";
  expect_told_the_same(k, false);
}

// Who wants every access is told in order.
TEST(SideBySide, WhoWantsAccessesIsToldInOrder) {
  test::Kernel k = kernel(kTwice);
  uint64_t accesses = 0;
  k.options.observers.push_back(
      {[&](const machine::Event& event) { accesses += std::holds_alternative<machine::Access>(event.what); },
       true,
       {},
       false});
  const End end = ended(k, 7);
  EXPECT_EQ(end.host.why_not_all, "every access is watched, in order");
  EXPECT_EQ(accesses, 3U * kCtas);  // the parameter, the word read and written
}

// That of number 40 is the first in the order of the grid that overflows, but late: 65504 + 8192 + 8 times
// its number.
TEST(SideBySide, LossesAreThoseOfTheGridsOrder) {
  test::Kernel k = kernel(
      "setp.lt.u32 %p1, %r0, 40;\n@%p1 bra own;\nsetp.ne.u32 %p2, %r0, 40;\n@%p2 bra soon;\nmov.u32 %r1, 0;\n"
      "late: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 400000;\n@%p0 bra late;\nsoon: add.u32 %r3, %r0, "
      "0x7000;\ncvt.u16.u32 %h0, %r3;\n"
      "mov.b16 %h1, 0x7BFF;\nadd.f16 %h2, %h1, %h0;\nown: " +
      kTwice);
  k.module.clear();
  for (const unsigned threads : {1U, 2U, 7U, 16U}) {
    const auto program = std::make_shared<isa::Program>(isa::compile(ptx::parse(k.text()), "k"));
    const NumericWatch watch(*program);
    launch::Launch l = k.launch();
    k.options.threads = threads;
    const RunResult result = test::run_ptx(std::make_shared<const isa::Module>(program), l, k.options);
    EXPECT_EQ(result.host.clusters, threads == 1 ? 0U : kCtas) << result.host.why_not_all;
    const std::vector<Losses> losses = watch.losses();
    ASSERT_EQ(losses.size(), 1U);
    EXPECT_EQ(losses[0].results, 32U * (kCtas - 40));
    EXPECT_EQ(losses[0].overflowed.count, 32U * (kCtas - 40));
    EXPECT_EQ(losses[0].overflowed.first.cta, (std::array<uint32_t, 3>{40, 0, 0}));
    EXPECT_EQ(losses[0].overflowed.operands, (std::vector<float>{65504, 8192 + 40 * 8}));
  }
}

// What a callback throws ends the launch, and nothing is run again.
TEST(SideBySide, AnExceptionOfProgressEndsIt) {
  struct Stop {};
  for (const unsigned threads : {1U, 2U, 7U}) {
    test::Kernel k = kernel(kTwice);
    k.options.threads = threads;
    int calls = 0;
    k.options.progress = [&](const Progress& p) {
      ++calls;
      if (p.done >= 40) throw Stop();
    };
    launch::Launch l = k.launch();
    EXPECT_THROW(test::run_ptx(k.text(), l, k.options), Stop) << threads;
    EXPECT_LE(calls, 41) << threads;
  }
}

// Who waits for a long launch hears of it, also while the launch's own thread has nothing to do, and can end
// it.
TEST(SideBySide, ProgressIsToldWithinAnyCluster) {
  struct Stop {};
  for (const char* longest : {"0", "1"}) {  // the first one is run by the launch's own thread
    test::Kernel k = kernel("setp.ne.u32 %p1, %r0, " + std::string(longest) +
                            ";\n@%p1 bra end;\nlong: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 60000000;\n"
                            "@%p0 bra long;\nend:\n" +
                            kTwice);
    k.shape.grid = {2, 1, 1};
    k.start += "mov.u32 %r1, 0;\nmore: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 40000;\n@%p0 bra more;\n";
    k.options.threads = 2;
    size_t after_the_other = 0;
    k.options.progress = [&](const Progress& p) {
      if (p.done == 1 && ++after_the_other == 3) throw Stop();
    };
    launch::Launch l = k.launch();
    EXPECT_THROW(test::run_ptx(k.text(), l, k.options), Stop) << longest;
  }
}

// Where clusters are run again, what was said of them stands.
TEST(SideBySide, ProgressNeverFalls) {
  test::Kernel k =
      kernel("setp.lt.u32 %p1, %r0, 95;\n@%p1 bra own;\nst.global.u32 [%a0+360], 7;\nown: " + kTwice);
  for (const unsigned threads : {1U, 2U, 7U}) {
    k.options.threads = threads;
    std::vector<uint64_t> done;
    k.options.progress = [&](const Progress& p) { done.push_back(p.done); };
    launch::Launch l = k.launch();
    test::run_ptx(k.text(), l, k.options);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end())) << threads;
    EXPECT_EQ(done.back(), kCtas) << threads;
  }
}

// Every second one goes round as often as the one behind it says, which in order is none: that one comes
// later. Beside each other it may read what nobody can wait for.
TEST(SideBySide, WhatIsReadTooEarlyHoldsNobodyUp) {
  const End end = same_on_all(
      kernel("and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra odd;\n"
             "mov.u32 %r1, 0;\nlate: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 40000;\n@%p0 bra late;\n"
             "ld.global.u32 %r2, [%a1+4];\nmov.u32 %r1, 0;\n"
             "round: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r2;\n@%p0 bra round;\nst.global.u32 [%a1], "
             "%r1;\nbra end;\n"
             "odd: st.global.u32 [%a1], 4000000000;\nend:\n"));
  EXPECT_EQ(end.words[0], 1001U);
  expect_in_order(end, "clusters share bytes of 'words' that one of them changes");
}

// Nor does a launch of few instructions wait for them that copies megabytes.
TEST(SideBySide, FewInstructionsMayTakeLong) {
  test::Kernel k = kernel(
      "mov.u32 %r3, staged;\nmov.u32 %r4, %tid.x;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra end;\n"
      "mov.u32 %r5, barrier;\nmbarrier.init.shared.b64 [%r5], 1;\nmov.u32 %r6, 0;\n"
      "again: mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 8192;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%a0], 8192, [%r5];\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], %r6;\n@!%p2 bra wait;\nxor.b32 %r6, %r6, 1;\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 800;\n@%p0 bra again;\nend:\n");
  k.start = "ld.param.u64 %a0, [words];\nmov.u32 %r1, 0;\n";
  k.shared += ".shared .align 128 .b8 staged[8192];\n";
  k.shape.grid = {8, 1, 1};
  const End end = ended(k, 2);
  EXPECT_LT(end.warps, uint64_t{1} << 16);
  EXPECT_EQ(end.host.threads, 2U);
  EXPECT_EQ(end.host.clusters, 8U);
}

// No thread is called for a launch that is over at once.
TEST(SideBySide, AShortLaunchHasOneThread) {
  test::Kernel k = kernel(kTwice);
  k.shape.grid = {4, 1, 1};
  k.start.replace(k.start.find("4000"), 4, "40");
  const End end = ended(k, 16);
  EXPECT_EQ(end.host.threads, 1U);
  EXPECT_EQ(end.host.clusters, 4U);
  EXPECT_EQ(end.words[3], 2006U);
}

}  // namespace
}  // namespace bitwell::run
