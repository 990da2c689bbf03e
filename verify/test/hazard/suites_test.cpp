// The race check suspects none of bitwell's own kernels: their bits are right under every schedule, and what
// orders their accesses is what the manual promises.
#include <gtest/gtest.h>

#include <map>

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
    watch.begin(at->second.program, l.shape);
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

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Suite& s : suites()) out.push_back(s.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Suites, OwnKernels, testing::ValuesIn(names()),
                         [](const auto& s) { return s.param; });

}  // namespace
}  // namespace bitwell::verify
