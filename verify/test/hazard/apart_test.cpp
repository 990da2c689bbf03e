// The race check of clusters that are told of apart, on any number of host threads, finds what one checker
// finds that is told of all of them in order: bugs of the catalogue, each in many clusters with memory of
// their own, and what clusters do to each other.
#include "apart.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <regex>

#include "../kernel.h"
#include "verify/bugs/catalogue/catalogue.h"
#include "verify/session/words.h"

namespace bitwell::hazard {
namespace {

constexpr uint32_t kTimes = 18;           // a launch of the catalogue becomes so many beside each other
constexpr size_t kEvery = 4;              // of the catalogue's launches one in so many is run
constexpr size_t kOwn = size_t{1} << 14;  // bytes from one's buffer to the next one's

// Each of the many has buffers of its own; it counts for a while first, so that there is work for several
// host threads. Lines keep their numbers.
launch::Launch many(const bugs::Exhibit& e, const bugs::Bug* bug) {
  launch::Launch out = e.launch;
  const std::string ctas = std::to_string(out.shape.grid[0]);
  const std::string own =
      "ld.param.$1 $2, [$3]; { .reg .b32 %apart<3>; .reg .b64 %to_own; .reg .pred %on; "
      "mov.u32 %apart1, %ctaid.x; div.u32 %apart1, %apart1, " +
      ctas + "; mul.wide.u32 %to_own, %apart1, " + std::to_string(kOwn) +
      "; add.u64 $2, $2, %to_own; mov.u32 %apart2, 0; count: add.u32 %apart2, %apart2, 1; "
      "setp.lt.u32 %on, %apart2, 400; @%on bra count; }";
  static const std::regex kParameter(R"(ld\.param\.([ub]64) (%\w+), \[(\w+)\];)");
  const std::string text = bugs::ptx_of(e, bug == nullptr ? "" : bug->name);
  out.module = std::make_shared<const isa::Module>(std::regex_replace(text, kParameter, own), e.name);
  out.entry = "kernel";
  out.shape.grid[0] *= kTimes;
  for (launch::Buffer& b : out.buffers) {
    const std::vector<std::byte> one = b.bytes;
    b.bytes.resize(kTimes * kOwn);
    for (uint32_t i = 0; i < kTimes; ++i) std::copy(one.begin(), one.end(), b.bytes.begin() + i * kOwn);
  }
  return out;
}

TEST(Apart, BugsOfTheCatalogue) {
  size_t number = 0, launches = 0, apart = 0, found_apart = 0;
  for (const bugs::Exhibit& e : bugs::read_catalogue(BITWELL_CATALOGUE)) {
    const auto large = [](const launch::Buffer& b) { return b.bytes.size() > kOwn || !b.written.empty(); };
    if (e.launch.shape.grid[1] != 1 || e.launch.shape.grid[2] != 1 || e.again ||
        std::any_of(e.launch.buffers.begin(), e.launch.buffers.end(), large))
      continue;
    std::vector<const bugs::Bug*> all{nullptr};
    for (const bugs::Bug& bug : e.bugs) all.push_back(&bug);
    for (const bugs::Bug* bug : all) {
      if (number++ % kEvery != 0) continue;
      const launch::Launch launch = many(e, bug);
      const End want = ended(launch, e.once, 0), one = ended(launch, e.once, 1);
      ++launches;
      for (const unsigned threads : {1U, 2U, 7U, 16U}) {
        if ((threads == 2 || threads == 16) && launches % 8 != 0) continue;
        const End got = threads == 1 ? one : ended(launch, e.once, threads);
        const std::string who = e.name + " " + (bug == nullptr ? "clean" : bug->name) + ", " +
                                std::to_string(threads) + " threads, " + got.host.why_not_all;
        EXPECT_TRUE(got.as(want)) << who << "\n"
                                  << got.found << got.fault << "\nin order\n"
                                  << want.found << want.fault;
        EXPECT_EQ(got.cost.shadow, one.cost.shadow) << who;
        EXPECT_EQ(got.cost.touched, one.cost.touched) << who;
        if (threads != 7 || got.host.clusters == 0) continue;
        EXPECT_EQ(got.host.why_not_all, "");
        ++apart;
        found_apart += got.found.empty() ? 0 : 1;
      }
    }
  }
  std::cout << launches << " launches, " << apart << " apart, of which " << found_apart << " with findings\n";
  EXPECT_GE(apart, 200 / kEvery);
  EXPECT_GE(found_apart, 120 / kEvery);
}

constexpr uint32_t kCtas = 96;

// Two warps a CTA; %r0 is its number, %p0 holds in warp 0, %a0 is the buffer and %a1 the CTA's word there.
launch::Launch launch_of(const std::string& body, size_t words = kCtas + 1) {
  launch::Launch out;
  out.module = test::module_of(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 words)\n{\n"
      ".reg .b32 %r<8>;\n.reg .b64 %a<4>;\n.reg .pred %p<8>;\n.shared .align 8 .b8 word[8];\n"
      "ld.param.u64 %a0, [words];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %a1, %r0, 4;\n"
      "add.u64 %a1, %a0, %a1;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 32;\nmov.u32 %r2, 0;\n"
      "count: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 2000;\n@%p1 bra count;\n" +
      body + "ret;\n}\n");
  out.ptx = "k.ptx";
  out.entry = "k";
  out.shape.grid = {kCtas, 1, 1};
  out.shape.block = {64, 1, 1};
  out.add_buffer({"words", std::vector<std::byte>(4 * words), true, false, true});
  return out;
}

// The answer on so many threads is that on one, and finds what is found in order; returns the last.
session::Answer same_on_all(const launch::Launch& launch) {
  const End in_order = ended(launch, false, 0);
  for (const unsigned threads : {1U, 7U}) EXPECT_EQ(ended(launch, false, threads).found, in_order.found);
  session::Question question{launch};
  question.races = true;
  session::Answer one = session::ask(question);
  EXPECT_EQ(one.result.host.clusters, 0U);
  const std::string words = session::describe(one);
  for (const unsigned threads : {2U, 7U, 16U}) {
    question.options.threads = threads;
    session::Answer more = session::ask(question);
    EXPECT_EQ(session::describe(more), words) << threads << " threads";
    EXPECT_EQ(more.holds(), one.holds());
    EXPECT_EQ(more.cost.shadow, one.cost.shadow);
    EXPECT_EQ(more.cost.touched, one.cost.touched);
    EXPECT_EQ(more.findings.size(), one.findings.size());
    for (size_t i = 0; i < std::min(more.findings.size(), one.findings.size()); ++i)
      EXPECT_EQ(text_of(more.findings[i].found.finding), text_of(one.findings[i].found.finding));
    if (threads == 16) return more;
  }
  return one;
}

// One in every CTA, and one from CTA 40 on, which takes longer than those behind it.
TEST(Apart, RacesInClustersOfTheirOwn) {
  const session::Answer answer = same_on_all(
      launch_of("@%p0 st.shared.u32 [word], %r0;\n@!%p0 ld.shared.u32 %r3, [word];\n"
                "setp.lt.u32 %p2, %r0, 40;\n@%p2 bra end;\nsetp.ne.u32 %p3, %r0, 40;\n@%p3 bra soon;\n"
                "mov.u32 %r2, 0;\nlate: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 200000;\n@%p1 bra late;\n"
                "soon: @%p0 st.shared.u32 [word+4], %r0;\n@!%p0 ld.shared.u32 %r4, [word+4];\n"
                "end: @%p0 st.global.u32 [%a1], %r0;\n"));
  EXPECT_EQ(answer.result.host.clusters, kCtas) << answer.result.host.why_not_all;
  std::vector<const Finding*> races;
  for (const session::Weighed& w : answer.findings)
    if (w.found.finding.kind == Kind::race && !machine::is_global(w.found.finding.address))
      races.push_back(&w.found.finding);
  ASSERT_EQ(races.size(), 2U) << session::describe(answer);
  EXPECT_EQ(races[0]->count, kCtas);
  EXPECT_EQ(races[0]->later.cta, (std::array<uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(races[1]->count, kCtas - 40);
  EXPECT_EQ(races[1]->later.cta, (std::array<uint32_t, 3>{40, 0, 0}));
}

// Each leaves its number in its own word and in the next one's.
TEST(Apart, RacesBetweenClusters) {
  const session::Answer answer =
      same_on_all(launch_of("@%p0 st.global.u32 [%a1], %r0;\n@%p0 st.global.u32 [%a1+4], %r0;\n"));
  EXPECT_EQ(answer.result.host.clusters, 0U);
  EXPECT_EQ(answer.result.host.why_not_all, "clusters share bytes of 'words' that one of them changes");
  ASSERT_EQ(answer.findings.size(), 1U) << session::describe(answer);
  EXPECT_EQ(answer.findings[0].found.finding.count, kCtas - 1);
  EXPECT_EQ(answer.findings[0].found.finding.earlier.cta, (std::array<uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(answer.findings[0].found.finding.later.cta, (std::array<uint32_t, 3>{1, 0, 0}));
}

// Of the last two alone: all before them have been checked apart by then.
TEST(Apart, ARaceBetweenTheLastClusters) {
  const session::Answer answer =
      same_on_all(launch_of("@%p0 st.global.u32 [%a1], %r0;\nsetp.eq.and.u32 %p2, %r0, 94, %p0;\n"
                            "@%p2 st.global.u32 [%a1+4], %r0;\n"));
  EXPECT_EQ(answer.result.host.clusters, 0U);
  ASSERT_EQ(answer.findings.size(), 1U) << session::describe(answer);
  EXPECT_EQ(answer.findings[0].found.finding.count, 1U);
  EXPECT_FALSE(answer.holds());
}

// CTA 0 reaches single words, the others 16 bytes at once of the same 256: one check counts words.
TEST(Apart, RacesInGlobalMemoryOfTheirOwn) {
  const session::Answer answer =
      same_on_all(launch_of("mul.wide.u32 %a2, %r0, 16;\nadd.u64 %a2, %a0, %a2;\nsetp.eq.u32 %p2, %r0, 0;\n"
                            "@%p2 bra words;\n@%p0 st.global.v4.u32 [%a2], {%r0, %r0, %r0, %r0};\n"
                            "@!%p0 ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%a2];\nbra end;\n"
                            "words: @%p0 st.global.u32 [%a2], %r0;\nend:\n",
                            4 * kCtas));
  EXPECT_EQ(answer.result.host.clusters, 0U);
  EXPECT_EQ(answer.result.host.why_not_all, "there is a finding in global memory");
  ASSERT_EQ(answer.findings.size(), 1U) << session::describe(answer);
  EXPECT_EQ(answer.findings[0].found.finding.count, 4 * 15 + kCtas - 16);
}

// Of registers of a wgmma under way a launch is told of the first instruction that reaches them: where
// clusters have different ones, one check has to see which that is.
TEST(Apart, OneOfSeveralWaysToAWgmma) {
  const auto found = [](Kind kind, int mma, int line) {
    Checker::OfCluster out;
    Finding& f = out.findings.emplace_back();
    f.kind = kind;
    f.earlier.site.ptx_line = mma;
    f.later.site.ptx_line = line;
    return out;
  };
  Separate all;
  EXPECT_EQ(all.why_not(found(Kind::mma_registers, 10, 11)), "");
  EXPECT_EQ(all.why_not(found(Kind::mma_registers, 10, 11)), "");
  EXPECT_EQ(all.why_not(found(Kind::mma_registers, 20, 12)), "");
  EXPECT_EQ(all.why_not(found(Kind::mma_fragments, 10, 12)), "");
  EXPECT_EQ(all.why_not(found(Kind::race, 10, 12)), "");
  EXPECT_NE(all.why_not(found(Kind::mma_registers, 10, 12)), "");
  EXPECT_NE(all.why_not(found(Kind::mma_fragments, 10, 11)), "");
}

// What one check refuses, or keeps less of, is left to it.
TEST(Apart, AsMuchAsOneCheckHasRoomFor) {
  Separate all;
  Checker::OfCluster cluster;
  cluster.records = Records::kMost / 4;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all.why_not(cluster), "");
  EXPECT_NE(all.why_not(cluster), "");
  // Pairs of errors, and of notes where they are kept, each for themselves.
  cluster.records = 1;
  const auto half = [](Kind kind) {
    Finding f{};
    f.kind = kind;
    for (size_t i = 0; i < FindingList::kMostMet / 2; ++i) f.met.push_back({});
    return f;
  };
  for (const auto& kinds :
       std::vector<std::vector<Kind>>{{Kind::race}, {Kind::lockstep}, {Kind::race, Kind::lockstep}}) {
    Separate others;
    cluster.findings.clear();
    for (const Kind kind : kinds) cluster.findings.push_back(half(kind));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(others.why_not(cluster), "");
    EXPECT_NE(others.why_not(cluster), "");
  }
}

// Additions to one word are no race, and hand on what each knows.
TEST(Apart, AdditionsToOneWord) {
  const session::Answer answer =
      same_on_all(launch_of("@%p0 red.global.add.u32 [%a0], 1;\n@%p0 st.global.u32 [%a1+4], %r0;\n"));
  EXPECT_EQ(answer.result.host.clusters, 0U);
  EXPECT_TRUE(answer.findings.empty()) << session::describe(answer);
}

// What is printed and noted comes once, also where clusters are checked again, in order.
TEST(Apart, NotesComeOnce) {
  for (const char* next : {"", "@%p0 st.global.u32 [%a1+4], %r0;\n"}) {
    const session::Answer answer =
        same_on_all(launch_of("mov.u32 %r5, word;\n@%p0 mbarrier.init.shared.b64 [%r5], 1;\n"
                              "@%p0 st.global.u32 [%a1], %r0;\n" +
                              std::string(next)));
    EXPECT_EQ(answer.result.host.clusters, *next == 0 ? kCtas : 0U) << answer.result.host.why_not_all;
    ASSERT_EQ(answer.result.notes.size(), 1U) << session::describe(answer);
    EXPECT_EQ(answer.result.notes[0].times, 31 * kCtas);
  }
}

// Of a list each launch is checked so; where one may overlap another, none is.
TEST(Apart, LaunchesOfAList) {
  for (const bool programmatic : {false, true}) {
    launch::Launch launch = launch_of(
        "@%p0 st.shared.u32 [word], %r0;\n@!%p0 ld.shared.u32 %r3, [word];\n@%p0 st.global.u32 [%a1], "
        "%r0;\n");
    launch::Step again;
    again.ptx = launch.ptx;
    again.entry = launch.entry;
    again.module = launch.module;
    again.programmatic = programmatic;
    again.shape = launch.shape;
    again.arguments = launch.arguments;
    launch.then = {again, again};
    session::Question question{launch};
    question.races = true;
    const session::Answer one = session::ask(question);
    ASSERT_EQ(one.findings.size(), programmatic ? 2U : 1U) << session::describe(one);
    EXPECT_EQ(one.findings[0].found.finding.count, 3 * kCtas);
    EXPECT_EQ(one.findings[0].found.numbers, (std::vector<size_t>{1, 2, 3}));
    for (const unsigned threads : {2U, 7U}) {
      question.options.threads = threads;
      const session::Answer more = session::ask(question);
      EXPECT_EQ(session::describe(more), session::describe(one)) << threads << " threads";
      EXPECT_EQ(more.result.host.clusters, programmatic ? 0 : kCtas) << more.result.host.why_not_all;
    }
  }
}

// New threads are to have stacks for which no machine has room: the launch's own does all.
TEST(Apart, WhereNoThreadsAreToBeHad) {
  pthread_attr_t before, huge;
  pthread_getattr_default_np(&before);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, size_t{1} << 47);
  pthread_setattr_default_np(&huge);
  const launch::Launch launch = launch_of(
      "@%p0 st.shared.u32 [word], %r0;\n@!%p0 ld.shared.u32 %r3, [word];\n"
      "@%p0 st.global.u32 [%a1], %r0;\n");
  const End one = ended(launch, false, 4), in_order = ended(launch, false, 0);
  pthread_setattr_default_np(&before);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&before);
  EXPECT_EQ(one.host.threads, 1U);
  EXPECT_EQ(one.host.clusters, kCtas);
  EXPECT_TRUE(one.as(in_order)) << one.found << "\nin order\n" << in_order.found;
  EXPECT_NE(one.found, "");
}

}  // namespace
}  // namespace bitwell::hazard
