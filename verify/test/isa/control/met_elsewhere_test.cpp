// Threads of a warp that meet in a collective from two instructions (PTX ISA 9.0, 9.7.9.7 and 9.7.13: those
// that have executed it "with the same qualifiers and same membermask value"), against what an H200 left.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

struct Met {
  std::string name, lanes, body, left;
};
std::vector<Met> recorded() {
  std::ifstream file(BITWELL_MET_ELSEWHERE);
  std::vector<Met> out;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    Met met;
    std::istringstream(line) >> met.name >> met.lanes;
    std::getline(file, met.body);
    std::getline(file, met.left);
    out.push_back(met);
  }
  return out;
}

// %p1: the lanes that go to the first; %r1 is 100 more than the lane.
test::Kernel kernel_of(const std::string& lanes, const std::string& body) {
  return {.parameters = ".param .u64 pout",
          .registers = ".reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %o, %q;",
          .start =
              "ld.param.u64 %o, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q, %r0, 4; add.u64 %o, %o, %q;\n"
              "add.u32 %r1, %r0, 100; and.b32 %r5, %r0, 1; mov.u32 %r9, 0; setp.ne.u32 %p7, %r1, 0;\n" +
              std::string(lanes == "half"   ? "setp.lt.u32 %p1, %r0, 16;\n"
                          : lanes == "even" ? "setp.eq.u32 %p1, %r5, 0;\n"
                                            : "setp.eq.u32 %p1, %r0, 5;\n"),
          .body = body,
          .finish = "@%p1 st.global.u32 [%o], %r2;\n@!%p1 st.global.u32 [%o], %r3;\n",
          .buffers = {test::output(128)}};
}

TEST(MetElsewhere, LeavesWhatAnH200Leaves) {
  const std::vector<Met> all = recorded();
  ASSERT_GE(all.size(), 40u);
  ASSERT_EQ(std::count_if(all.begin(), all.end(), [](const Met& m) { return m.left == "hangs"; }), 6);
  // Whoever comes last: the orders of turns differ in that.
  const std::vector<run::Schedule> schedules{{},
                                             {.policy = run::Policy::eager},
                                             {.policy = run::Policy::random, .seed = 1},
                                             {.policy = run::Policy::random, .seed = 2}};
  for (size_t n = 0; n < all.size() * schedules.size(); ++n) {
    const Met& met = all[n / schedules.size()];
    test::Kernel kernel = kernel_of(met.lanes, met.body);
    // The word of the mask that one of them reads is in memory.
    kernel.buffers[0].bytes.assign(128, std::byte{0});
    kernel.buffers[0].defined = true;
    kernel.options.schedule = schedules[n % schedules.size()];
    const test::Left left = kernel.run();
    const std::string name = met.name + " " + met.lanes + ", order " + std::to_string(n % schedules.size());
    if (met.left == "hangs") {
      EXPECT_NE(left.end().find("deadlock"), std::string::npos) << name << ": " << left.end();
      continue;
    }
    ASSERT_EQ(left.end(), "held") << name;
    std::istringstream words(met.left);
    for (const uint32_t got : left.all<uint32_t>(0)) {
      uint32_t expected = 0;
      ASSERT_TRUE(words >> expected);
      EXPECT_EQ(got, expected) << name;
    }
    ASSERT_FALSE(left.notes.empty()) << name;
    EXPECT_TRUE(left.notes[0].text.starts_with("threads of a warp meet here and at another "))
        << left.notes[0].text;
  }
}

std::string end_of(const std::string& body, bool strict = false) {
  test::Kernel kernel = kernel_of("half", body);
  kernel.options.strict = strict;
  return kernel.run().end();
}

TEST(MetElsewhere, TheOtherPlaceIsNamed) {
  const std::string body =
      "@%p1 bra A;\nvote.sync.ballot.b32 %r3, %p7, -1;\nbra E;\nA:\nvote.sync.ballot.b32 %r2, %p7, -1;\nE:";
  const test::Kernel kernel = kernel_of("half", body);
  const test::Left left = kernel.run();
  ASSERT_EQ(left.notes.size(), 1u) << left.end();
  const int here = left.notes[0].place.ptx_line, first = kernel.first_line() + 1;
  ASSERT_TRUE(here == first || here == first + 3) << here;
  EXPECT_EQ(left.notes[0].text, "threads of a warp meet here and at another vote.sync.ballot.b32, PTX line " +
                                    std::to_string(here == first ? first + 3 : first) +
                                    ": each member mask names the others");
  EXPECT_NE(end_of(body, true).find("threads of a warp meet here"), std::string::npos);
}

// At three places; of two masks at once; of which one vote counts the opposite; of 64 bits; in two calls of
// one function; what one lane lacks is still lacking where it goes.
TEST(MetElsewhere, HoweverTheyStand) {
  const auto words = [](const std::string& body, const std::string& module = "") {
    test::Kernel kernel = kernel_of("half", body);
    kernel.module = module;
    const test::Left left = kernel.run();
    EXPECT_EQ(left.end(), "held") << body;
    return left.all<uint32_t>(0);
  };
  const std::string three =
      words(
          "setp.lt.u32 %p2, %r0, 8; @%p2 bra A; @%p1 bra B;\nredux.sync.add.u32 %r3, 100, -1; bra E;\n"
          "A: redux.sync.add.u32 %r2, 1, -1; bra E;\nB: redux.sync.add.u32 %r2, 10, -1;\nE:") ==
              std::vector<uint32_t>(32, 8 * 1 + 8 * 10 + 16 * 100)
          ? "all"
          : "some";
  EXPECT_EQ(three, "all");
  const std::vector<uint32_t> two = words(
      "and.b32 %r6, %r0, 1; setp.eq.u32 %p2, %r6, 0; selp.b32 %r7, 0x55555555, 0xAAAAAAAA, %p2;\n@%p1 bra "
      "A;\n"
      "redux.sync.add.u32 %r3, %r0, %r7; bra E;\nA: redux.sync.add.u32 %r2, %r0, %r7;\nE:");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(two[lane], lane % 2 == 0 ? 240u : 256u) << lane;
  const std::vector<uint32_t> votes = words(
      "setp.lt.u32 %p2, %r0, 4; @%p1 bra A;\nvote.sync.ballot.b32 %r3, !%p2, -1; bra E;\n"
      "A: vote.sync.ballot.b32 %r2, %p2, -1;\nE:");
  EXPECT_EQ(votes, std::vector<uint32_t>(32, 0xFFFF000Fu));
  const std::vector<uint32_t> wide = words(
      "mov.b64 %q, {%r5, %r5}; @%p1 bra A;\nmatch.any.sync.b64 %r3, %q, -1; bra E;\n"
      "A: match.any.sync.b64 %r2, %q, -1;\nE:");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(wide[lane], lane % 2 == 0 ? 0x55555555u : 0xAAAAAAAAu);
  const std::vector<uint32_t> calls = words(
      "@%p1 bra A;\n{ .param .b32 of; .param .b32 sum; st.param.b32 [of], %r0; call (sum), all, (of); "
      "ld.param.b32 %r3, [sum]; }\n"
      "bra E;\nA: { .param .b32 of; .param .b32 sum; st.param.b32 [of], %r1; call (sum), all, (of); "
      "ld.param.b32 %r2, [sum]; }\nE:",
      ".func (.param .b32 sum) all(.param .b32 of) { .reg .b32 %r<2>; ld.param.b32 %r0, [of]; "
      "redux.sync.add.u32 %r1, %r0, -1; "
      "st.param.b32 [sum], %r1; ret; }");
  EXPECT_EQ(calls, std::vector<uint32_t>(32, 1600u + 120u + 376u));
  const std::string lacking = end_of(
      "setp.ne.u32 %p2, %r0, 3; @%p2 mov.u32 %r8, 5; @%p1 bra A;\nshfl.sync.idx.b32 %r3, %r0, 3, 31, -1; bra "
      "E;\n"
      "A: shfl.sync.idx.b32 %r2, %r8, 20, 31, -1;\nE:");
  EXPECT_NE(lacking.find("a value that was never written is used as an output"), std::string::npos)
      << lacking;
  EXPECT_NE(lacking.find("thread (16,0,0)"), std::string::npos) << lacking;
}

// A mask that names another's lanes, which name other ones, or a lane that stands nowhere: nobody meets.
TEST(MetElsewhere, OthersDoNotMeet) {
  EXPECT_NE(end_of("@%p1 bra A;\nvote.sync.ballot.b32 %r3, %p7, -1; bra E;\n"
                   "A: vote.sync.ballot.b32 %r2, %p7, 0xFFFF;\nbar.sync 1;\nE:")
                .find("deadlock"),
            std::string::npos);
  EXPECT_NE(
      end_of("setp.eq.u32 %p2, %r0, 9; @%p2 bra S; @%p1 bra A;\nvote.sync.ballot.b32 %r3, %p7, -1; bra E;\n"
             "A: vote.sync.ballot.b32 %r2, %p7, -1;\nbra E;\nS: bar.sync 1;\nE:")
          .find("deadlock"),
      std::string::npos);
}

}  // namespace
}  // namespace bitwell::isa
