// Which targets there are, and since which PTX version (PTX ISA 9.0, 11.1.2 ".target"; what ptxas 13.0
// takes), typed again.
#include "model/machine/arch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

TEST(Arch, EveryTargetHasItsVersionAndNoOtherExists) {
  struct Row {
    const char* name;
    int sm;
    char suffix;
    int version;
  };
  for (const Row& r : {Row{"sm_75", 75, 0, 63},   {"sm_80", 80, 0, 70},      {"sm_86", 86, 0, 71},
                       {"sm_87", 87, 0, 74},      {"sm_88", 88, 0, 90},      {"sm_89", 89, 0, 78},
                       {"sm_90", 90, 0, 78},      {"sm_90a", 90, 'a', 80},   {"sm_100", 100, 0, 86},
                       {"sm_100a", 100, 'a', 86}, {"sm_100f", 100, 'f', 88}, {"sm_103", 103, 0, 88},
                       {"sm_103a", 103, 'a', 88}, {"sm_103f", 103, 'f', 88}, {"sm_110", 110, 0, 90},
                       {"sm_110a", 110, 'a', 90}, {"sm_110f", 110, 'f', 90}, {"sm_120", 120, 0, 87},
                       {"sm_120a", 120, 'a', 87}, {"sm_120f", 120, 'f', 88}, {"sm_121", 121, 0, 88},
                       {"sm_121a", 121, 'a', 88}, {"sm_121f", 121, 'f', 88}}) {
    const Target t = find_target(r.name);
    EXPECT_EQ(t.arch->sm, r.sm) << r.name;
    EXPECT_EQ(t.suffix, r.suffix) << r.name;
    EXPECT_EQ(t.version, r.version) << r.name;
  }
  for (const char* name :
       {"",       "sm_",     "sm_74",  "sm_76",  "sm_79",  "sm_81",      "sm_85",  "sm_90f",
        "sm_91",  "sm_99",   "sm_101", "sm_104", "sm_122", "sm_75a",     "sm_80a", "sm_89a",
        "sm_90b", "sm_90aa", "sm_090", "sm_90 ", "SM_90",  "compute_90", "sm_-90", "sm_4294967386"})
    EXPECT_THROW(find_target(name), Unsupported) << name;
  EXPECT_THROW(arch(91), ModelBug);
}

}  // namespace
}  // namespace bitwell::machine
