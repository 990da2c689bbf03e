// The race check suspects none of bitwell's own kernels: their bits are right under every schedule, and what
// orders their accesses is what the manual promises.
#include <gtest/gtest.h>

#include <deque>

#include "../uses_against.h"
#include "verify/capture/captures.h"
#include "verify/session/weigh.h"
#include "verify/suite/suite.h"

namespace bitwell::hazard {
namespace {

// Of each kernel: the others differ in their numbers more than in who waits for whom.
constexpr size_t kCases = 2;

// The first error of a case's launches, in words, or what else failed; empty: nothing.
std::string suspicion(const suite::SuiteCase& c, const run::Schedule& schedule,
                      const launch::ModuleOf& modules, findings::Readings& readings) {
  findings::Watch watch;
  run::Options options;
  std::vector<int> lines;
  size_t begun = 0;
  for (const launch::Launch& l : c.chain.launches)
    for (const int line : readings.of(modules(l)->program(l.entry, l.approximate)).registers.lines())
      lines.push_back(line);
  options.observers.push_back(watch.observer(lines));
  std::deque<test::UsesAgainst> against;  // of each launch
  machine::Observer held;
  held.accesses = true;
  held.steps = false;
  held.tell = [&](const machine::Event& event) { against.back().look(event); };
  options.observers.push_back(held);
  const auto begins = [&](const launch::Launch& l, const findings::SharedModule&,
                          const findings::SharedProgram& program) {
    watch.begin(*program, l.shape, c.chain.overlaps(begun++));
    watch.follow(readings.of(program));
    against.emplace_back(*program);
  };
  const suite::Tried tried = suite::try_case(c, schedule, modules, options, begins);
  for (const test::UsesAgainst& a : against) EXPECT_EQ(a.wrong(), "") << c.name;
  const std::vector<session::Weighed> found = session::weigh(watch);
  const session::Weighed* error = session::first_error(found);
  return tried.failure ? tried.failure->what : error != nullptr ? findings::describe(error->found) : "";
}

class OwnKernels : public testing::TestWithParam<std::string> {};

TEST_P(OwnKernels, AreNotSuspected) {
  const suite::Suite& s = suite::suite(GetParam());
  for (const suite::Kernel& k : s.kernels) {
    launch::Modules modules;
    findings::Readings readings;
    size_t cases = 0;
    for (const suite::PlannedCase& planned : k.cases()) {
      if (planned.full || cases++ == kCases) break;
      const suite::SuiteCase c = suite::suite_case(
          planned, planned.draw(), suite::Build{capture::share_folder("kernels"), s.archs_of(k).front()});
      for (const run::Schedule* schedule : {&c.schedules.front(), &c.schedules.back()})
        EXPECT_EQ(suspicion(c, *schedule, std::ref(modules), readings), "") << k.full_name << ", " << c.name;
    }
  }
}

// Of the suite's first kernel that may start before the launches before it are over: without
// griddepcontrol.wait it is an error that names both launches.
TEST_P(OwnKernels, AreSuspectedWithoutTheirWaitForTheGrid) {
  const suite::Suite& s = suite::suite(GetParam());
  for (const suite::Kernel& k : s.kernels) {
    const suite::PlannedCase planned = k.cases().front();
    const suite::SuiteCase c = suite::suite_case(
        planned, planned.draw(), suite::Build{capture::share_folder("kernels"), s.archs_of(k).front()});
    if (!c.chain.last_overlaps) continue;
    const launch::Launch& last = c.chain.launches.back();
    std::string text = launch::read_file(last.ptx);
    const std::string wait = "griddepcontrol.wait;";
    ASSERT_NE(text.find(wait), std::string::npos) << k.full_name;
    for (size_t at = 0; (at = text.find(wait, at)) != std::string::npos;) text.erase(at, wait.size());
    const auto mutant = std::make_shared<const isa::Module>(text);
    launch::Modules modules;
    findings::Readings readings;
    const std::string said = suspicion(
        c, c.schedules.front(),
        [&](const launch::Launch& l) { return l.entry == last.entry ? mutant : modules(l); }, readings);
    EXPECT_EQ(said.find("error grid-wait"), 0u) << k.full_name << ": " << said;
    EXPECT_NE(said.find("launch 1, '"), std::string::npos) << said;
    EXPECT_NE(said.find("launch " + std::to_string(c.chain.launches.size()) + ", '"), std::string::npos)
        << said;
    return;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const suite::Suite& s : suite::suites()) out.push_back(s.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Suites, OwnKernels, testing::ValuesIn(names()),
                         [](const auto& s) { return s.param; });

}  // namespace
}  // namespace bitwell::hazard
