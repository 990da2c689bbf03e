// Every bug of the catalogue is found as what it is, where it is; no kernel is suspected that has none.
#include "verify/bugs/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include "../uses_against.h"
#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

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
    const isa::Program program = isa::compile(ptx::parse(ptx_of(e)), "kernel");
    UsesAgainst against(program);
    isa::Options options;
    options.step_limit = 1 << 20;
    options.observers.push_back(against.observer());
    Launch launch = e.launch;
    simulate(program, launch, options, false);
    EXPECT_EQ(against.wrong(), "") << e.name;
  }
}

}  // namespace
}  // namespace bitwell::verify
