// Prints how many runs it takes until a bug of the catalogue shows in what a kernel leaves, without the race
// check: by the schedule random, by random priorities (PCT) of depth 2 and 3, and by every schedule that can
// end otherwise. A bug shows in a fault, or in bytes that the kernel without it never leaves.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "verify/bugs/catalogue/catalogue.h"
#include "verify/schedules/exhaust.h"
#include "verify/schedules/given.h"

namespace {

using namespace bitwell;
using schedules::Ended;
using schedules::Exhausted;

constexpr uint64_t kSeeds = 100;
constexpr uint64_t kMost = 1000;  // runs of an enumeration
constexpr std::array<const char*, 3> kWays{"random", "pct:2", "pct:3"};

run::Options options_of_small() {
  run::Options out;
  out.step_limit = 1 << 18;
  return out;
}

launch::Launch launch_of(const bugs::Exhibit& e, const std::string& bug) {
  launch::Launch out = e.launch;
  out.module = std::make_shared<const isa::Module>(bugs::ptx_of(e, bug));
  return out;
}

std::optional<Exhausted> all_of(const launch::Launch& launch) {
  try {
    return schedules::exhaust(launch, options_of_small(), kMost);
  } catch (const machine::InputError&) {  // too long
    return std::nullopt;
  }
}

// The bytes that one run leaves; nothing where it ends in a fault.
std::optional<std::vector<std::vector<std::byte>>> left_by(const launch::Start& start, const std::string& way,
                                                           uint64_t seed) {
  run::Options options = options_of_small();
  std::optional<schedules::Given> given;
  if (schedules::is_given(way)) {
    given.emplace(way, seed, start, options);
    given->attach(options);
  } else {
    options.schedule = {run::Policy::random, seed};
  }
  try {
    const launch::Ran ran = start.run(options, true);
    std::vector<std::vector<std::byte>> out;
    for (size_t b = 0; b < start.launch().buffers.size(); ++b) out.push_back(ran.buffer(start.launch(), b));
    return out;
  } catch (const machine::Fault&) {
    return std::nullopt;
  }
}

struct Sums {
  uint64_t shown = 0, runs = 0;
};

// One line of the table, where any way shows the bug.
void examine(const bugs::Exhibit& e, const bugs::Bug& bug, const Exhausted& clean, std::array<Sums, 3>& sums,
             Sums& exhaustive) {
  const launch::Launch launch = launch_of(e, bug.name);
  const auto right = [&](const std::vector<std::vector<std::byte>>& buffers) {
    return std::any_of(clean.ends.begin(), clean.ends.end(),
                       [&](const Ended& end) { return end.buffers == buffers; });
  };
  const std::optional<Exhausted> all = all_of(launch);
  const bool shows = all && std::any_of(all->ends.begin(), all->ends.end(), [&](const Ended& end) {
                       return !end.fault.empty() || !right(end.buffers);
                     });
  const launch::Start start(launch);
  std::array<uint64_t, 3> first{};
  for (size_t way = 0; way < kWays.size(); ++way)
    for (uint64_t seed = 1; seed <= kSeeds && first[way] == 0; ++seed) {
      const auto buffers = left_by(start, kWays[way], seed);
      if (!buffers || !right(*buffers)) first[way] = seed;
    }
  if (!shows && first == std::array<uint64_t, 3>{}) return;
  std::printf("%-44s", (e.name + ": " + bug.name).c_str());
  for (size_t way = 0; way < kWays.size(); ++way) {
    std::printf(" %8s", first[way] == 0 ? "never" : std::to_string(first[way]).c_str());
    sums[way].shown += first[way] == 0 ? 0 : 1;
    sums[way].runs += first[way] == 0 ? kSeeds : first[way];
  }
  exhaustive.shown += shows ? 1 : 0;
  exhaustive.runs += all ? all->runs + all->pruned : 0;
  std::printf("  %s of %llu%s\n", shows ? "yes" : "no",
              static_cast<unsigned long long>(all ? all->runs + all->pruned : 0),
              all && all->complete ? "" : ", stopped");
}

}  // namespace

int main() {
  std::printf("%-44s %8s %8s %8s  %s\n", "bug that shows", kWays[0], kWays[1], kWays[2], "every schedule");
  std::array<Sums, 3> sums;
  Sums exhaustive;
  size_t bugs = 0, undecided = 0;
  try {
    for (const bugs::Exhibit& e : bugs::read_catalogue(BITWELL_CATALOGUE)) {
      const std::optional<Exhausted> clean = all_of(launch_of(e, ""));
      bugs += e.bugs.size();
      if (!clean) {
        undecided += e.bugs.size();
        continue;
      }
      for (const bugs::Bug& bug : e.bugs) examine(e, bug, *clean, sums, exhaustive);
    }
  } catch (const machine::InputError& error) {
    std::fprintf(stderr, "luck: %s\n", error.what());
    return 2;
  }
  for (size_t way = 0; way < kWays.size(); ++way)
    std::printf("%s: %llu shown within %llu runs each, %llu runs in all\n", kWays[way],
                static_cast<unsigned long long>(sums[way].shown), static_cast<unsigned long long>(kSeeds),
                static_cast<unsigned long long>(sums[way].runs));
  std::printf("every schedule: %llu shown within %llu runs each, %llu runs in all\n",
              static_cast<unsigned long long>(exhaustive.shown), static_cast<unsigned long long>(kMost),
              static_cast<unsigned long long>(exhaustive.runs));
  std::printf("%zu bugs in the catalogue, %zu of kernels that are too large\n", bugs, undecided);
  return 0;
}
