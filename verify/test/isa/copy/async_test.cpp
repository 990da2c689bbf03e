// Asynchronous instructions: every schedule gives the same bytes, and they are those that the GPU gave.
#include "verify/probe/async.h"

#include <gtest/gtest.h>

#include <ostream>

#include "../../kernel.h"
#include "verify/probe/recorded.h"

namespace bitwell::verify {

static void PrintTo(const AsyncFamily& f, std::ostream* out) { *out << f.name; }

namespace {

// What is wrong with the outcome, or empty.
std::string difference(const std::string& name, const AsyncCase& c, isa::Policy policy, uint64_t seed,
                       const Capture& capture, const std::optional<Tuples>& words) {
  Launch launch = c.launch;
  isa::Options options;
  options.schedule = {policy, seed};
  try {
    test::run_ptx(c.ptx, launch, options);
  } catch (const std::exception& e) {
    return e.what();
  }
  return difference(name, outputs_of(launch), capture, words);
}

class Family : public testing::TestWithParam<AsyncFamily> {};

TEST_P(Family, GivesTheGpusBytesUnderEverySchedule) {
  const std::optional<Capture> capture = read_capture(share_folder("captures") + "/async.json");
  ASSERT_TRUE(capture) << "verify/device/captures/async.json is not there";
  const std::optional<Tuples> words = read_tuples(share_folder("captures") + "/async.tuples.xz");
  for (uint64_t seed = 1; seed <= kAsyncRecorded; ++seed) {
    const AsyncCase c = GetParam().draw(seed);
    const std::string name = GetParam().name + ", " + std::to_string(seed);
    for (const isa::PolicyName& p : isa::kPolicies)
      EXPECT_EQ(difference(name, c, p.policy, seed, *capture, words), "")
          << "schedule " << p.name << ": " << c.description;
  }
}

INSTANTIATE_TEST_SUITE_P(Async, Family, testing::ValuesIn(async_families()), [](const auto& family) {
  std::string name;
  for (const char c : family.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace bitwell::verify
