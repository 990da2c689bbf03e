// What any schedule of the catalogue's kernels comes to, the enumeration has too, where it was complete.
#include "verify/bugs/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "verify/launch/start.h"
#include "warps.h"

namespace bitwell::explore {
namespace {

// "PTX line 12" of a fault: which of several threads that do the same is told of hangs on the pieces of
// copies, and on who is last.
std::string line_of(const std::string& fault) { return fault.substr(0, fault.find(',')); }

// Every eighth kernel, from that of this number on.
class ExploreCatalogue : public testing::TestWithParam<size_t> {};
constexpr size_t kParts = 8;

TEST_P(ExploreCatalogue, HoldThoseOfRandomSchedules) {
  constexpr uint64_t kRuns = 100, kSeeds = 8;
  size_t complete = 0;
  const std::vector<bugs::Exhibit> exhibits = bugs::read_catalogue(BITWELL_CATALOGUE);
  for (size_t i = GetParam(); i < exhibits.size(); i += kParts) {
    const bugs::Exhibit& x = exhibits[i];
    std::vector<std::string> names{""};
    for (const bugs::Bug& bug : x.bugs) names.push_back(bug.name);
    for (const std::string& name : names) {
      launch::Launch launch = x.launch;
      launch.module = std::make_shared<const isa::Module>(bugs::ptx_of(x, name));
      const launch::Start start(launch);
      run::Options options;
      options.step_limit = 1 << 16;
      const schedules::Exhausted all = schedules::exhaust(launch, options, kRuns);
      if (!all.complete) continue;
      ++complete;
      std::string said = "\n  of " + std::to_string(all.runs) + " runs:";
      for (const schedules::Ended& e : all.ends)
        said += "\n  " + (e.fault.empty() ? "ended" : e.fault.substr(0, e.fault.find('\n')));
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        options.schedule = {run::Policy::random, seed};
        std::string fault;
        std::optional<launch::Ran> ran;
        try {
          ran.emplace(start.run(options, true));
        } catch (const machine::Fault& f) {
          fault = f.what();
        }
        // Random waits that give up again and again: by the others it is a deadlock.
        if (fault.find("no end after") != std::string::npos) continue;
        const auto same = [&](const schedules::Ended& e) {
          if (!fault.empty()) return line_of(e.fault) == line_of(fault);
          if (!e.fault.empty()) return false;
          for (size_t b = 0; b < launch.buffers.size(); ++b)
            if (ran->buffer(launch, b) != e.buffers[b]) return false;
          return true;
        };
        EXPECT_TRUE(std::any_of(all.ends.begin(), all.ends.end(), same))
            << x.name << " " << name << ", seed " << seed << ": " << fault << said;
      }
    }
  }
  std::printf("%zu were complete\n", complete);
  EXPECT_GE(complete, 20u);
}

INSTANTIATE_TEST_SUITE_P(All, ExploreCatalogue, testing::Range<size_t>(0, kParts));

}  // namespace
}  // namespace bitwell::explore
