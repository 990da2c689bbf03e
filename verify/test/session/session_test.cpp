// A question stays as it is, and its answer is another value.
#include "verify/session/session.h"

#include <gtest/gtest.h>

#include <cstring>

#include "verify/session/findings.h"
#include "verify/session/footprint.h"
#include "verify/session/weigh.h"
#include "verify/session/words.h"

namespace bitwell::session {
namespace {

// Each thread stores its word of `from` at `address`, %a4 being its place in `to`, and counts itself.
std::string text(const std::string& address) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .global .align 4 .u32 runs = 0;\n"
         ".visible .entry k(.param .u64 from, .param .u64 to)\n{\n.reg .b32 %r<6>;\n.reg .b64 %a<6>;\n"
         "ld.param.u64 %a0, [from];\nld.param.u64 %a1, [to];\nmov.u32 %r0, %tid.x;\n"
         "mul.wide.u32 %a2, %r0, 4;\nadd.u64 %a3, %a0, %a2;\nld.global.u32 %r1, [%a3];\n"
         "add.u64 %a4, %a1, %a2;\nred.global.add.u32 [runs], 1;\nst.global.u32 [" +
         address + "], %r1;\nret;\n}\n";
}

launch::Launch launch_of(const std::string& address) {
  launch::Launch out;
  out.ptx = "k.ptx";
  out.module = std::make_shared<const isa::Module>(text(address), out.ptx);
  out.entry = "k";
  out.shape.block = {64, 1, 1};
  std::vector<std::byte> words(256);
  for (uint32_t i = 0; i < 64; ++i) std::memcpy(&words[4 * i], &i, 4);
  out.add_buffer({"from", words, true, true});
  out.add_buffer({"to", std::vector<std::byte>(256), false, false, true});
  out.variables.push_back({"runs", std::nullopt, true, {}});
  return out;
}

TEST(Session, LeavesTheQuestionAsItIs) {
  const launch::Launch launch = launch_of("%a4");
  Question question{launch};
  question.races = question.explain = true;
  for (int i = 0; i < 2; ++i) {
    const Answer answer = ask(question);
    EXPECT_TRUE(answer.holds()) << describe(answer);
    EXPECT_FALSE(answer.fault);
    EXPECT_TRUE(answer.findings.empty()) << describe(answer);
    EXPECT_EQ(answer.ran->buffer(launch, 1), launch.buffers[0].bytes);
    const uint32_t runs = 64;
    std::vector<std::byte> of_one(4);
    std::memcpy(of_one.data(), &runs, 4);
    EXPECT_EQ(answer.ran->variable(launch, 0), of_one);  // a module's first values, each time
    EXPECT_EQ(launch.buffers[1].bytes, std::vector<std::byte>(256));
    EXPECT_EQ(answer.entries, std::set<std::string>{"k"});
  }
}

TEST(Session, AFaultIsAPartOfTheAnswer) {
  launch::Launch launch = launch_of("%a4");
  launch.shape.block = {65, 1, 1};
  const Answer answer = ask({launch});
  ASSERT_TRUE(answer.fault);
  EXPECT_FALSE(answer.holds());
  EXPECT_FALSE(answer.ran);
  EXPECT_NE(std::string(answer.fault->what()).find("'from' of 256 bytes"), std::string::npos);
  EXPECT_EQ(describe(answer).rfind("fault: PTX line ", 0), 0u) << describe(answer);
}

// Both warps store to one word.
TEST(Session, AFindingSaysHowSeriousItIs) {
  const launch::Launch launch = launch_of("%a1");
  Question question{launch};
  question.all_written = false;
  question.races = true;
  const Answer answer = ask(question);
  ASSERT_EQ(answer.findings.size(), 1u) << describe(answer);
  EXPECT_EQ(answer.findings[0].level, hazard::Level::error);
  EXPECT_EQ(answer.findings[0].followed, nullptr);
  EXPECT_FALSE(answer.holds());
  EXPECT_EQ(describe(answer.findings[0]).rfind("error ", 0), 0u);
  question.races = false;
  EXPECT_TRUE(ask(question).holds());
}

TEST(Session, TellsWhenTheLaunchHasEndedAndBeforeItIsMadeAgain) {
  const launch::Launch launch = launch_of("%a1");
  Question question{launch};
  question.all_written = false;
  question.races = question.explain = true;
  std::string told;
  question.ended = [&](const run::RunResult& result) {
    told += "ended ";
    EXPECT_GT(result.lane_instructions, 0u);
  };
  question.again = [&](int run) { told += std::to_string(run) + " "; };
  const Answer answer = ask(question);
  EXPECT_EQ(told.rfind("ended 1 ", 0), 0u) << told;
  ASSERT_FALSE(answer.findings.empty());
  EXPECT_NE(answer.findings[0].followed, nullptr);
}

// The same two stores, beside a file that knows them.
TEST(Session, FindingsThatAreKnownFailNothing) {
  const launch::Launch launch = launch_of("%a1");
  Question question{launch};
  question.all_written = false;
  question.races = true;
  const Answer answer = ask(question);
  const Findings fresh = findings_of(answer, {});
  ASSERT_EQ(fresh.fresh.size(), 1u);
  EXPECT_EQ(fresh.errors, 1u);
  EXPECT_TRUE(fresh.fail("error"));
  EXPECT_FALSE(fresh.fail("none"));
  EXPECT_TRUE(fresh.known.empty());
  const Told& told = fresh.fresh[0].pairs.at(0);
  EXPECT_EQ(told.level, Level::error);
  EXPECT_EQ(told.earlier.ptx_line, told.later.ptx_line);
  EXPECT_EQ(told.later.access, "write");
  EXPECT_EQ(told.later.instruction, "st.global.u32");
  EXPECT_EQ(told.later.entry, "k");
  EXPECT_TRUE(told.later.of.empty());  // of a launch alone
  EXPECT_FALSE(told.lines.empty());
  findings::Baseline baseline;
  baseline.known.push_back({told.fingerprint.hash, std::string(told.kind), "k", told.fingerprint.text, 1});
  baseline.known.push_back({"0123456789abcdef", "race", "k", "gone", 1});
  const Findings known = findings_of(answer, baseline);
  EXPECT_TRUE(known.fresh.empty());
  EXPECT_FALSE(known.fail("note"));
  ASSERT_EQ(known.known_pairs().size(), 1u);
  EXPECT_EQ(known.known_pairs()[0]->fingerprint.hash, told.fingerprint.hash);
  ASSERT_EQ(known.stale.size(), 1u);
  EXPECT_EQ(known.stale[0].hash, "0123456789abcdef");
}

TEST(Session, ASchedulesTextIsAPolicyOrSaysWhoHasEachTurn) {
  const launch::Launch launch = launch_of("%a4");
  Question question{launch};
  for (const char* text : {"", "lazy", "eager", "random", "starve-stores"}) {
    question.schedule = text;
    const Answer answer = ask(question);
    EXPECT_TRUE(answer.holds()) << text;
    EXPECT_TRUE(answer.chance.empty()) << text;
  }
  question.schedule = "pct:2";
  EXPECT_NE(ask(question).chance.find("a bug of depth 2"), std::string::npos);
  for (const char* none : {"laz", "pct:", "pct:0", "LAZY"}) {
    question.schedule = none;
    EXPECT_THROW(ask(question), machine::InputError) << none;
  }
}

TEST(Session, SaysWhatOfReservedMemoryWasNeverTouched) {
  run::Footprint f;
  f.shared = {1, 0, 0, 1, 1, 0, 1, 1};
  f.tensor.allocated.set(4).set(5).set(6);
  f.tensor.written.set(5);
  isa::Program program;
  program.shared_variables = {{"tile", 0, 4}, {"rest", 4, 0}};
  const Memories m = memories_of(f, program);
  ASSERT_TRUE(m.shared && m.tensor);
  EXPECT_EQ(m.shared->reserved, 8u);
  EXPECT_EQ(m.shared->touched, 5u);
  EXPECT_EQ(m.shared->never, (std::vector<std::pair<size_t, size_t>>{{1, 2}, {5, 5}}));
  EXPECT_EQ(m.shared->untouched(), 3u);
  EXPECT_TRUE(m.shared->much_untouched());
  ASSERT_EQ(m.shared->parts.size(), 2u);
  EXPECT_EQ(m.shared->parts[0].touched, 2u);
  EXPECT_FALSE(m.shared->parts[0].dynamic);
  EXPECT_EQ(m.shared->parts[1].bytes, 4u);  // all behind the static ones
  EXPECT_EQ(m.shared->parts[1].touched, 3u);
  EXPECT_TRUE(m.shared->parts[1].dynamic);
  EXPECT_EQ(m.tensor->reserved, 3u);
  EXPECT_EQ(m.tensor->touched, 1u);
  EXPECT_EQ(m.tensor->never, (std::vector<std::pair<size_t, size_t>>{{4, 4}, {6, 6}}));
  EXPECT_FALSE(memories_of({}, program).shared);
  EXPECT_FALSE(memories_of({}, program).tensor);
  run::Footprint nearly;  // less than a sixteenth is padding
  nearly.shared.assign(33, 1);
  nearly.shared[7] = nearly.shared[9] = 0;
  EXPECT_FALSE(memories_of(nearly, {}).shared->much_untouched());
  nearly.shared[8] = 0;
  EXPECT_TRUE(memories_of(nearly, {}).shared->much_untouched());
}

}  // namespace
}  // namespace bitwell::session
