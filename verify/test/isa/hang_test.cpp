// The pipeline kernel and its mistakes: each is found under every schedule, and named.
#include <gtest/gtest.h>

#include <cstring>

#include "model/ptx/parse.h"
#include "verify/captures.h"
#include "verify/launch.h"

namespace bitwell::verify {
namespace {

constexpr int kTiles = 8;
constexpr size_t kWords = 256;  // of a tile

Launch launch() {
  Launch l;
  l.entry = "pipeline";
  l.shape.block = {64, 1, 1};
  std::vector<std::byte> words(4 * kWords * kTiles);
  for (uint32_t i = 0; i < words.size() / 4; ++i) std::memcpy(&words[4 * i], &i, 4);
  l.add_buffer({"words", words, true, true, false});
  l.add_buffer({"sums", std::vector<std::byte>(128), false, false, true});
  l.add_scalar(int32_t{kTiles});
  return l;
}

std::string outcome(const std::string& name, isa::Schedule schedule, std::vector<std::byte>* sums = nullptr) {
  Launch l = launch();
  isa::Options options;
  options.schedule = schedule;
  options.step_limit = 1 << 20;
  const std::string text = read_file(share_folder("kernels") + "/hang/" + name + ".ptx");
  try {
    simulate(isa::compile(ptx::parse(text), "pipeline"), l, options, true);
  } catch (const machine::Fault& e) {
    return e.what();
  }
  if (sums != nullptr) *sums = l.buffers[1].bytes;
  return "held";
}

TEST(Pipeline, TheCorrectOneGivesTheSumsUnderEverySchedule) {
  for (const isa::PolicyName& p : isa::kPolicies)
    for (uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<std::byte> sums;
      ASSERT_EQ(outcome("correct", {p.policy, seed}, &sums), "held") << p.name << ", seed " << seed;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        uint32_t expected = 0;
        for (uint32_t w = lane; w < kWords * kTiles; w += 32) expected += w;
        uint32_t got = 0;
        std::memcpy(&got, &sums[4 * lane], 4);
        EXPECT_EQ(got, expected) << p.name << ", seed " << seed << ", lane " << lane;
      }
    }
}

struct Mistake {
  const char* kernel;
  std::vector<std::string> report;  // parts of it
};

class PipelineMistake : public testing::TestWithParam<Mistake> {};

TEST_P(PipelineMistake, IsNamed) {
  for (const isa::PolicyName& p : isa::kPolicies) {
    // Who laps whom hangs on the order: the one that signals must run first.
    if (std::string(GetParam().kernel) == "lapped_phase" && p.policy != isa::Policy::lazy) continue;
    const std::string text = outcome(GetParam().kernel, {p.policy, 7});
    EXPECT_NE(text.find("PTX line "), std::string::npos) << text;
    EXPECT_NE(text.find("ptx.cuh:"), std::string::npos) << text;
    for (const std::string& part : GetParam().report)
      EXPECT_NE(text.find(part), std::string::npos) << p.name << ": '" << part << "' is not in: " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hang, PipelineMistake,
    testing::Values(
        Mistake{"wrong_initial_phase",
                {"deadlock", "'pipeline::empty'", "parity 0", "phase 0", "pending 32 of 32 arrivals",
                 "wrong initial phase"}},
        Mistake{"count_mismatch",
                {"deadlock", "count mismatch: initialised for 64 arrivals a phase, and only 32 came",
                 "the cycle: warp 0 -> warp 1 -> warp 0"}},
        Mistake{"under_arrival",
                {"deadlock", "'pipeline::empty' + 8", "under-arrival: 16 of 32 arrivals never come",
                 "the cycle: warp 0 -> warp 1 -> warp 0"}},
        Mistake{"byte_mismatch",
                {"deadlock", "'pipeline::full'", "1024 bytes arrived of 2048 expected", "byte mismatch"}},
        Mistake{"lapped_phase", {"deadlock", "lapped phase: the barrier ended 4 phases"}},
        Mistake{"uninitialised", {"no mbarrier at shared address", "never initialised"}},
        Mistake{"exited_peer", {"deadlock", "exited peer"}},
        Mistake{"over_arrival", {"over-arrival: 3 more", "needs 2 of its 32"}},
        Mistake{"byte_overflow", {"expect_tx of 1048576 bytes", "the limit is 1048575"}}),
    [](const auto& mistake) { return std::string(mistake.param.kernel); });

}  // namespace
}  // namespace bitwell::verify
