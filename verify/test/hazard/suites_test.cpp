// The race check suspects none of bitwell's own kernels: their bits are right under every schedule, and what
// orders their accesses is what the manual promises.
#include <gtest/gtest.h>

#include <map>

#include "model/ptx/parse.h"
#include "verify/capture/captures.h"
#include "verify/hazard/watch.h"
#include "verify/suite/suite.h"

namespace bitwell::verify {
namespace {

// Of each kernel: the others differ in their numbers more than in who waits for whom.
constexpr size_t kCases = 2;

// The first error of a case's launches, in words, or what else failed; empty: nothing.
struct Loaded {
  isa::Program program;
  hazard::Objects objects;
};
using Registers = std::map<std::string, hazard::MmaRegisters>;  // by PTX file
std::string suspicion(const SuiteCase& c, const isa::Schedule& schedule,
                      std::map<std::string, Loaded>& programs, Registers& registers) {
  Watch watch;
  isa::Options options;
  std::vector<int> lines;
  size_t begun = 0;
  for (const Launch& l : c.chain.launches) {
    auto at = registers.find(l.ptx);
    if (at == registers.end()) at = registers.emplace(l.ptx, registers_of(read_file(l.ptx))).first;
    for (const int line : at->second.lines()) lines.push_back(line);
  }
  options.observers.push_back(watch.observer(lines));
  const auto program = [&](const Launch& l) -> const isa::Program& {
    auto at = programs.find(l.entry);
    if (at == programs.end()) {
      isa::Program loaded = load_program(l.ptx, l.entry);
      hazard::Objects objects = objects_of(read_file(l.ptx), loaded);
      at = programs.emplace(l.entry, Loaded{std::move(loaded), std::move(objects)}).first;
    }
    watch.begin(at->second.program, l.shape, c.chain.overlaps(begun++));
    watch.follow(at->second.objects);
    watch.follow(registers.at(l.ptx));
    return at->second.program;
  };
  const Tried tried = try_case(c, schedule, program, options);
  return tried.failure ? tried.failure->what : watch.error().what;
}

class OwnKernels : public testing::TestWithParam<std::string> {};

TEST_P(OwnKernels, AreNotSuspected) {
  const Suite& s = suite(GetParam());
  for (const Kernel& k : s.kernels) {
    std::map<std::string, Loaded> programs;
    Registers registers;
    size_t cases = 0;
    for (const PlannedCase& planned : k.cases()) {
      if (planned.full || cases++ == kCases) break;
      const SuiteCase c =
          suite_case(planned, planned.draw(), Build{share_folder("kernels"), s.archs_of(k).front()});
      for (const isa::Schedule* schedule : {&c.schedules.front(), &c.schedules.back()})
        EXPECT_EQ(suspicion(c, *schedule, programs, registers), "") << k.full_name << ", " << c.name;
    }
  }
}

// Of the suite's first kernel that may start before the launches before it are over: without
// griddepcontrol.wait it is an error that names both launches.
TEST_P(OwnKernels, AreSuspectedWithoutTheirWaitForTheGrid) {
  const Suite& s = suite(GetParam());
  for (const Kernel& k : s.kernels) {
    const PlannedCase planned = k.cases().front();
    const SuiteCase c =
        suite_case(planned, planned.draw(), Build{share_folder("kernels"), s.archs_of(k).front()});
    if (!c.chain.last_overlaps) continue;
    const Launch& last = c.chain.launches.back();
    std::string text = read_file(last.ptx);
    const std::string wait = "griddepcontrol.wait;";
    ASSERT_NE(text.find(wait), std::string::npos) << k.full_name;
    for (size_t at = 0; (at = text.find(wait, at)) != std::string::npos;) text.erase(at, wait.size());
    std::map<std::string, Loaded> programs;
    isa::Program mutant = isa::compile(ptx::parse(text), last.entry);
    hazard::Objects objects = objects_of(text, mutant);
    programs.emplace(last.entry, Loaded{std::move(mutant), std::move(objects)});
    Registers registers;
    const std::string said = suspicion(c, c.schedules.front(), programs, registers);
    EXPECT_EQ(said.find("error grid-wait"), 0u) << k.full_name << ": " << said;
    EXPECT_NE(said.find("launch 1, '"), std::string::npos) << said;
    EXPECT_NE(said.find("launch " + std::to_string(c.chain.launches.size()) + ", '"), std::string::npos)
        << said;
    return;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Suite& s : suites()) out.push_back(s.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Suites, OwnKernels, testing::ValuesIn(names()),
                         [](const auto& s) { return s.param; });

}  // namespace
}  // namespace bitwell::verify
