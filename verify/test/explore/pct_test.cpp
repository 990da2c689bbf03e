// Random priorities: a seed is a run, and a bug shows as often as the bound promises.
#include <gtest/gtest.h>

#include "verify/explore/given.h"
#include "warps.h"

namespace bitwell::verify {
namespace {

using test::Step;

// Word 0 becomes 1 and then 2 while another warp reads it; the other reads 1 in between alone: depth 2.
const test::Warps kBetween{{{Step::store, 0, 1}, {Step::store, 0, 2}}, {{Step::load, 0, 0}}};

test::Words run(const std::string& schedule, uint64_t seed, std::string* chance = nullptr) {
  const isa::Program program = test::program_of(test::ptx_of(kBetween));
  Launch launch = test::launch_of(2, test::kWords + 2 * test::kOutputs);
  isa::Options options;
  Given given(schedule, seed, program, launch, options);
  given.attach(options);
  if (chance != nullptr) *chance = given.chance();
  simulate(program, launch, options, true);
  return test::words_of(launch.buffers[0].bytes);
}
uint32_t read_of(const test::Words& words) { return words[test::kWords + test::kOutputs]; }

TEST(Pct, ASeedIsARun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(run("pct:3", seed), run("pct:3", seed));
}

TEST(Pct, OfDepthOneNeverParts) {
  for (uint64_t seed = 1; seed <= 100; ++seed) EXPECT_NE(read_of(run("pct:1", seed)), 1u) << seed;
}

TEST(Pct, FindsABugOfItsDepthAsOftenAsItSays) {
  std::string chance;
  run("pct:2", 1, &chance);
  const size_t at = chance.find("1 in ");
  ASSERT_NE(at, std::string::npos) << chance;
  const double bound = 1 / std::stod(chance.substr(at + 5));
  constexpr uint64_t kSeeds = 2000;
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) found += read_of(run("pct:2", seed)) == 1 ? 1 : 0;
  EXPECT_GE(static_cast<double>(found), bound * kSeeds) << chance;
}

TEST(Pct, RefusesADepthThatIsNone) {
  for (const char* text : {"pct:", "pct:0", "pct:x", "pct:65", "pct:2x"})
    EXPECT_THROW(run(text, 1), machine::InputError) << text;
}

TEST(Order, RefusesTextThatIsNone) {
  for (const char* text : {"order:0", "order:0:", "order:0:0x", "order:0:0x0", "order:0:0,", "order:a:b",
                           "order:0:0.", "order:7:0", "order:0:9"})
    EXPECT_THROW(run(text, 1), machine::InputError) << text;
}

}  // namespace
}  // namespace bitwell::verify
