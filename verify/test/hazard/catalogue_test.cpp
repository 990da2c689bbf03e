// Every bug of the catalogue is found as what it is, where it is; no kernel is suspected that has none.
#include "verify/bugs/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include "../kernel.h"
#include "../uses_against.h"
#include "model/isa/compile/compile.h"

namespace bitwell::hazard {
namespace {

constexpr size_t kSchedules = 8;

const std::vector<bugs::Exhibit>& catalogue() {
  static const std::vector<bugs::Exhibit> all = bugs::read_catalogue(BITWELL_CATALOGUE);
  return all;
}

TEST(Catalogue, EveryBugIsFoundByItsName) {
  for (const bugs::Exhibit& e : catalogue())
    for (const bugs::Bug& bug : e.bugs) {
      const bugs::Tally t = bugs::examine(e, &bug, kSchedules);
      EXPECT_TRUE(t.as_expected) << e.name << " " << bug.name << ": expected " << bug.expected << ", got "
                                 << (t.said.empty() ? "nothing" : t.where);
    }
}

TEST(Catalogue, CleanKernelsAreSilent) {
  for (const bugs::Exhibit& e : catalogue()) {
    const bugs::Tally t = bugs::examine(e, nullptr, kSchedules);
    EXPECT_TRUE(t.as_expected) << e.name << ": " << t.where;
  }
}

// Memory is touched as the compiler says of each instruction.
TEST(Catalogue, CleanKernelsTouchWhatTheirInstructionsSay) {
  for (const bugs::Exhibit& e : catalogue()) {
    const test::Module module = test::module_of(bugs::ptx_of(e));
    const auto program = module->program("kernel");
    test::UsesAgainst against(*program);
    run::Options options;
    options.step_limit = 1 << 20;
    options.observers.push_back(against.observer());
    launch::Launch launch = e.launch;
    test::run_ptx(module, launch, options, false);
    EXPECT_EQ(against.wrong(), "") << e.name;
  }
}

}  // namespace
}  // namespace bitwell::hazard
