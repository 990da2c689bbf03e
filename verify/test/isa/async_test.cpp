// Asynchronous instructions: every schedule gives the same bytes, and they are those that the GPU gave.
#include "verify/probe/async.h"

#include <gtest/gtest.h>

#include <ostream>

#include "model/ptx/parse.h"
#include "verify/capture/captures.h"
#include "verify/capture/digest.h"

namespace bitwell::verify {

static void PrintTo(const AsyncFamily& f, std::ostream* out) { *out << f.name; }

namespace {

std::string outcome(const AsyncCase& c, isa::Policy policy, uint64_t seed) {
  Launch launch = c.launch;
  isa::Options options;
  options.schedule = {policy, seed};
  try {
    simulate(isa::compile(ptx::parse(c.ptx), "probe"), launch, options, true);
  } catch (const std::exception& e) {
    return e.what();
  }
  Digest digest;
  for (const Buffer& b : launch.buffers)
    if (b.output) digest.add(b.bytes);
  return digest.hex();
}

class Family : public testing::TestWithParam<AsyncFamily> {};

TEST_P(Family, GivesTheGpusBytesUnderEverySchedule) {
  const std::optional<Capture> capture = read_capture(share_folder("captures") + "/async.json");
  ASSERT_TRUE(capture) << "verify/device/captures/async.json is not there";
  for (uint64_t seed = 1; seed <= kAsyncRecorded; ++seed) {
    const AsyncCase c = GetParam().draw(seed);
    const std::string expected = capture->digests.at(GetParam().name + ", " + std::to_string(seed));
    for (const isa::PolicyName& p : isa::kPolicies)
      EXPECT_EQ(outcome(c, p.policy, seed), expected)
          << GetParam().name << ", seed " << seed << ", schedule " << p.name << ": " << c.description;
  }
}

INSTANTIATE_TEST_SUITE_P(Async, Family, testing::ValuesIn(async_families()), [](const auto& family) {
  std::string name;
  for (const char c : family.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace bitwell::verify
