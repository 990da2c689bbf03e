// Every bug of the catalogue is found as what it is, where it is; no kernel is suspected that has none.
#include "verify/bugs/catalogue.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bitwell::verify
