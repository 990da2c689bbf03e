// Every bug of the catalogue is found as what it is, where it is; no kernel is suspected that has none.
#include "verify/bugs/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include "../kernel.h"
#include "../uses_against.h"
#include "model/isa/compile/compile.h"

namespace bitwell::verify {
namespace {

constexpr size_t kSchedules = 8;

const std::vector<Exhibit>& catalogue() {
  static const std::vector<Exhibit> all = read_catalogue(BITWELL_CATALOGUE);
  return all;
}

TEST(Catalogue, EveryBugIsFoundByItsName) {
  for (const Exhibit& e : catalogue())
    for (const Bug& bug : e.bugs) {
      const Tally t = examine(e, &bug, kSchedules);
      EXPECT_TRUE(t.as_expected) << e.name << " " << bug.name << ": expected " << bug.expected << ", got "
                                 << (t.said.empty() ? "nothing" : t.where);
    }
}

TEST(Catalogue, CleanKernelsAreSilent) {
  for (const Exhibit& e : catalogue()) {
    const Tally t = examine(e, nullptr, kSchedules);
    EXPECT_TRUE(t.as_expected) << e.name << ": " << t.where;
  }
}

// Memory is touched as the compiler says of each instruction.
TEST(Catalogue, CleanKernelsTouchWhatTheirInstructionsSay) {
  for (const Exhibit& e : catalogue()) {
    const test::Module module = test::module_of(ptx_of(e));
    const auto program = module->program("kernel");
    UsesAgainst against(*program);
    isa::Options options;
    options.step_limit = 1 << 20;
    options.observers.push_back(against.observer());
    Launch launch = e.launch;
    test::run_ptx(module, launch, options, false);
    EXPECT_EQ(against.wrong(), "") << e.name;
  }
}

}  // namespace
}  // namespace bitwell::verify
