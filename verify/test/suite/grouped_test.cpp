// Laws of the grouped GEMM and of its host's cache, and that its verdicts can fail.
#include "verify/suite/kernels/grouped.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "../bugs/planted.h"
#include "../kernel.h"
#include "kernels/grouped/launch.h"
#include "model/machine/failure.h"
#include "nvfp4_laws.h"
#include "verify/capture/captures.h"
#include "verify/suite/same.h"

namespace bitwell::suite::grouped_test {
namespace {

using grouped::Variant;

Build build() { return {capture::share_folder("kernels"), "sm_100a"}; }
std::string text_of(const char* name) {
  return launch::read_file(build().file("grouped/" + std::string(name)));
}

// What a launch with that metadata leaves, or the fault it ends in.
std::string complaint(const Variant& v, const GroupedProblem& problem, const grouped::Metadata& metadata,
                      const run::Options& options = {}) {
  launch::Launch launch = problem.launch(v, build(), metadata);
  try {
    test::run_file(launch, options);
  } catch (const machine::Fault& f) {
    return f.what();
  }
  return same_bits(launch.buffers[kGroupedResult].bytes, problem.expected()) ? "" : "other bits";
}

// A launch leaves the expected bits under the default schedule and another.
RC_GTEST_PROP(Grouped, ARandomLaunchGivesTheOraclesBits, ()) {
  const Variant& v =
      grouped::kVariants[*rc::gen::inRange<size_t>(0, std::size(grouped::kVariants)).as("variant")];
  GroupedCase c = grouped_random_case(*rc::gen::arbitrary<uint32_t>().as("seed"));
  for (int& k : c.k) k = 64 * (1 + k / 64 % 6);
  for (int& n : c.n) n = 1 + n % 130;
  const GroupedProblem problem(c);
  for (const bool first : {true, false}) {
    run::Options options;
    options.schedule = {run::kPolicies[first ? 0 : 1 + c.seed % (run::kPolicies.size() - 1)].policy, c.seed};
    const std::string what = complaint(v, problem, problem.metadata(), options);
    if (!what.empty()) RC_FAIL(std::string(v.name) + ", " + c.describe() + ": " + what);
  }
}

// Scale rows past m and n: whatever stands there, D is the same.
TEST(Grouped, NoGarbageInThePaddingOfScalesReachesAnOutput) {
  GroupedProblem problem(
      {{40, 56, 64, 72}, {24, 136, 8, 130}, {128, 64, 320, 256}, OperandData::moderate, 7});
  for (const uint8_t garbage : {0x00, 0x38, 0x7E, 0x7F, 0x80, 0xFF}) {
    for (auto* operands : {&problem.a, &problem.b})
      for (Nvfp4Operand& o : *operands)
        for (size_t at = 0; at < o.scales.size(); ++at) {
          const auto row = static_cast<int>(at / 512 / static_cast<size_t>(o.k / 64) * 128 + at / 4 % 4 * 32 +
                                            at % 512 / 16);
          if (row >= o.rows) o.scales[at] = std::byte{garbage};
        }
    for (const char* name : {"grouped_sequential", "grouped_device_persistent"})
      EXPECT_EQ(complaint(grouped::variant(name), problem, problem.metadata()), "")
          << name << ", " << int{garbage};
  }
}

// Two calls whose first tensor is the same one, while the second group has another shape: a cache that looks
// at the first tensor alone hands out the first call's table.
TEST(GroupedCache, AStaleTableShows) {
  const GroupedProblem first({{40, 72}, {24, 40}, {128, 64}, OperandData::moderate, 8});
  const GroupedProblem second({{40, 56}, {24, 136}, {128, 192}, OperandData::moderate, 8});
  const auto operands = [](const GroupedProblem& p, const void* first_tensor) {
    std::vector<grouped::Operands> out;
    for (size_t g = 0; g < p.a.size(); ++g)
      out.push_back(
          {{g == 0 ? first_tensor : &p.a[g], p.a[g].rows, p.a[g].k}, {&p.b[g], p.b[g].rows, p.b[g].k}});
    return out;
  };
  for (const auto key : {grouped::Key::first_tensor, grouped::Key::every_tensor}) {
    grouped::MetadataCache cache(key);
    const grouped::Metadata of_first = cache.of(operands(first, &first));
    EXPECT_EQ(cache.of(operands(first, &first)).groups.data(),
              cache.of(operands(first, &first)).groups.data())
        << "the same call is a hit";
    const grouped::Metadata of_second = cache.of(operands(second, &first));
    for (const Variant& v : {grouped::variant("grouped_warps_4"), grouped::variant("grouped_device")}) {
      EXPECT_EQ(complaint(v, first, of_first), "") << v.name;
      EXPECT_EQ(complaint(v, second, of_second).empty(), key == grouped::Key::every_tensor) << v.name;
    }
  }
}

// Objects that were freed and others that lie in their place: identity alone is not enough, shapes belong to
// it.
TEST(GroupedCache, AnotherShapeAtTheSamePlaceIsAnotherTensor) {
  grouped::MetadataCache cache(grouped::Key::every_tensor);
  int place = 0;
  EXPECT_EQ(cache.of({{{&place, 40, 64}, {&place, 8, 64}}}).groups[0].m, 40);
  EXPECT_EQ(cache.of({{{&place, 72, 64}, {&place, 8, 64}}}).groups[0].m, 72);
}

struct Mistake {
  const char* about;
  const char* kernel;
  const char *pattern, *by;  // in its PTX
  const char* says;          // part of the report
};
constexpr Mistake kMistakes[] = {
    {"the device's maps keep the first group's rows of k", "grouped_device",
     "tensormap\\.replace\\.tile\\.global_dim\\.shared::cta\\.b1024\\.b32 \\[(%r\\d+)\\], 0, (%r\\d+);", "",
     ""},
    {"a map is not published", "grouped_device", "tensormap\\.cp_fenceproxy.*;", "", ""},
    {"the sums of a tile are stored before they are done", "grouped_persistent",
     "tcgen05\\.commit\\.cta_group::1\\.mbarrier::arrive::one\\.shared::cluster\\.b64 \\[(%r\\d+)\\];",
     "mbarrier.arrive.shared::cta.b64 _, [$1];", ""},
};

TEST(GroupedVerdict, AMistakeIsNamed) {
  for (const Mistake& m : kMistakes) {
    const std::string what =
        bugs::failure_of("grouped", m.kernel, bugs::replaced(text_of(m.kernel), m.pattern, m.by));
    EXPECT_NE(what, "") << m.about;
    EXPECT_NE(what.find(m.says), std::string::npos) << m.about << ": " << what;
  }
}

std::string refusal(const GroupedCase& c) {
  try {
    GroupedProblem{c};
  } catch (const machine::InputError& e) {
    return e.what();
  }
  return "";
}

TEST(GroupedInput, WhatItCannotTakeIsNamedWithTheWayOut) {
  constexpr OperandData kData = OperandData::moderate;
  EXPECT_EQ(refusal({{4, 4}, {4}, {64, 64}, kData, 1}),
            "grouped takes an m, an n and a k for each group; got 2, 1 and 2");
  EXPECT_EQ(refusal({{}, {}, {}, kData, 1}),
            "grouped takes 1 to 8 groups a launch; got 0: split the list into several launches");
  const std::vector<int> nine(9, 64);
  EXPECT_EQ(refusal({nine, nine, nine, kData, 1}),
            "grouped takes 1 to 8 groups a launch; got 9: split the list into several launches");
  EXPECT_EQ(refusal({{4, 0}, {4, 4}, {64, 64}, kData, 1}),
            "group 1 of 2 is empty: m = 0, n = 4; leave it out of the lists");
  EXPECT_EQ(refusal({{4, 4}, {4, 4}, {64, 0}, kData, 1}),
            "group 1 of 2 has k = 0; grouped takes positive multiples of 64: pad A and B with zeros");
}

// A buffer that does not start at a multiple of 16 bytes is no tensor map's.
TEST(GroupedInput, AMisalignedOperandIsNamed) {
  const GroupedProblem problem({{4}, {4}, {64}, OperandData::moderate, 1});
  grouped::Metadata metadata = problem.metadata();
  metadata.groups[0].a = 8;
  launch::Launch launch = problem.launch(grouped::variant("grouped_warps_2"), build(), metadata);
  try {
    test::run_file(launch);
    ADD_FAILURE() << "it was taken";
  } catch (const machine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("multiple of 16"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace bitwell::suite::grouped_test
