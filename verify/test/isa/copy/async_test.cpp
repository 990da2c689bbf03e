// Asynchronous instructions: every schedule gives the same bytes, and they are those that the GPU gave.
#include "verify/probe/async.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../../kernel.h"
#include "verify/probe/recorded.h"

namespace bitwell::isa {
namespace {

// What is wrong with the outcome, or empty.
std::string difference(const std::string& name, const probe::AsyncCase& c, run::Policy policy, uint64_t seed,
                       const capture::Capture& capture, const std::optional<capture::Tuples>& words) {
  launch::Launch launch = c.launch;
  run::Options options;
  options.schedule = {policy, seed};
  try {
    test::run_ptx(c.ptx, launch, options);
  } catch (const std::exception& e) {
    return e.what();
  }
  return probe::difference(name, probe::outputs_of(launch), capture, words);
}

class Family : public testing::TestWithParam<size_t> {};

TEST_P(Family, GivesTheGpusBytesUnderEverySchedule) {
  const probe::AsyncFamily family = probe::async_families()[GetParam()];
  const std::optional<capture::Capture> capture =
      capture::read_capture(capture::share_folder("captures") + "/async.json");
  ASSERT_TRUE(capture) << "verify/device/captures/async.json is not there";
  const std::optional<capture::Tuples> words =
      capture::read_tuples(capture::share_folder("captures") + "/async.tuples.xz");
  for (uint64_t seed = 1; seed <= probe::kAsyncRecorded; ++seed) {
    const probe::AsyncCase c = family.draw(seed);
    const std::string name = family.name + ", " + std::to_string(seed);
    for (const run::PolicyName& p : run::kPolicies)
      EXPECT_EQ(difference(name, c, p.policy, seed, *capture, words), "")
          << "schedule " << p.name << ": " << c.description;
  }
}

INSTANTIATE_TEST_SUITE_P(Async, Family, testing::Range(size_t{0}, probe::async_families().size()),
                         [](const auto& at) {
                           std::string name = probe::async_families()[at.param].name;
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace bitwell::isa
