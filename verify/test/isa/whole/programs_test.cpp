// Random programs as the generator promises them: ptxas takes each, and no order of warps and no number of
// clusters at a time changes a byte of what it leaves, nor is there a race.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "../../kernel.h"
#include "verify/findings/report.h"
#include "verify/program/program.h"
#include "verify/schedules/schedules.h"

namespace bitwell::isa {

void showValue(const program::RandomProgram& p, std::ostream& out) {
  out << "seed " << p.seed << ", grid " << p.grid << ", block " << p.block << "\n"
      << program::module_of({&p, 1});
}

namespace {

uint64_t programs_wanted() {
  const char* text = std::getenv("BITWELL_PROGRAMS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 40;
}

rc::Gen<program::RandomProgram> any_program() {
  return [](const rc::Random& random, int) {
    rc::Random r = random;
    return rc::shrinkable::shrinkRecur(
        program::draw_program(r.next() % 1000000),
        [](const program::RandomProgram& p) { return rc::seq::fromContainer(program::smaller(p)); });
  };
}

TEST(Programs, PtxasTakesEach) {
  std::vector<program::RandomProgram> programs;
  size_t all = 0;
  for (uint64_t seed = 0; seed < programs_wanted(); ++seed) programs.push_back(program::draw_program(seed));
  for (const program::RandomProgram& p : programs) all += program::statements(p);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("bitwell-programs-" + std::to_string(getpid()) + ".ptx"))
          .string();
  std::ofstream(path) << program::module_of(programs);
  const std::string command = std::string(BITWELL_PTXAS) + " -arch=sm_90a -O0 -o /dev/null " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << "see " << path;
  if (!HasFailure()) std::filesystem::remove(path);
  std::printf("%zu programs of %zu statements\n", programs.size(), all);
}

TEST(Programs, LeaveTheSameUnderEverySchedule) {
  EXPECT_TRUE(rc::check("a program without races leaves the same bytes whatever the order of its warps", [] {
    const program::RandomProgram p = *any_program();
    launch::Launch launch = program::launch_of(p);
    launch.module = test::module_of(program::module_of({&p, 1}));
    if (const auto d = schedules::disagreement(launch::Start(launch), {}, launch::schedules(8)))
      RC_FAIL(d->fault + " buffer " + std::to_string(d->buffer) + ", byte " + std::to_string(d->byte) + ", " +
              launch::describe(d->second));
  }));
}

TEST(Programs, HaveNoRaces) {
  EXPECT_TRUE(
      rc::check("no two threads of a program touch a byte, one of them to write it, that nothing orders", [] {
        const program::RandomProgram p = *any_program();
        const test::Module module = test::module_of(program::module_of({&p, 1}));
        const auto compiled = module->program(program::entry_of(p));
        launch::Launch launch = program::launch_of(p);
        hazard::Checker checker = findings::checker_of(*compiled, launch.shape);
        run::Options options;
        options.observers.push_back(checker.observer());
        test::run_ptx(module, launch, options);
        for (const hazard::Finding& f : checker.findings())
          RC_FAIL(findings::describe(f, *compiled, launch.shape));
      }));
}

}  // namespace
}  // namespace bitwell::isa
