// Which targets there are, and since which PTX version (PTX ISA 9.0, 11.1.2 ".target"; what ptxas 13.0
// takes), typed again.
#include "model/machine/arch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/machine/failure.h"
#include "model/machine/product.h"

namespace bitwell::machine {
namespace {

TEST(Arch, EveryTargetHasItsVersionAndNoOtherExists) {
  struct Row {
    const char* name;
    int sm;
    char suffix;
    int version;
  };
  for (const Row& r : {Row{"sm_30", 30, 0, 30},   {"sm_32", 32, 0, 40},      {"sm_35", 35, 0, 31},
                       {"sm_37", 37, 0, 41},      {"sm_50", 50, 0, 40},      {"sm_52", 52, 0, 41},
                       {"sm_53", 53, 0, 42},      {"sm_60", 60, 0, 50},      {"sm_61", 61, 0, 50},
                       {"sm_62", 62, 0, 50},      {"sm_70", 70, 0, 51},      {"sm_72", 72, 0, 61},
                       {"sm_75", 75, 0, 63},      {"sm_80", 80, 0, 70},      {"sm_86", 86, 0, 71},
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
       {"",        "sm_",    "sm_10",  "sm_21",  "sm_36",      "sm_51",  "sm_52a",       "sm_63",
        "sm_73",   "sm_74",  "sm_76",  "sm_79",  "sm_81",      "sm_85",  "sm_90f",       "sm_91",
        "sm_99",   "sm_101", "sm_104", "sm_122", "sm_75a",     "sm_80a", "sm_89a",       "sm_90b",
        "sm_90aa", "sm_090", "sm_90 ", "SM_90",  "compute_90", "sm_-90", "sm_4294967386"})
    EXPECT_THROW(find_target(name), Unsupported) << name;
  EXPECT_THROW(arch(91), ModelBug);
}

// Multiprocessors by the data sheets' counts of cores: 64 each on Turing and GA100, else 128.
TEST(Products, EachHasTheMultiprocessorsOfItsName) {
  struct Row {
    int sm;
    const char* name;
    uint32_t cores;
  };
  const std::vector<Row> rows{{75, "NVIDIA T4", 64 * 40},
                              {80, "NVIDIA A100-SXM4-80GB", 6'912},
                              {86, "NVIDIA A40", 10'752},
                              {89, "NVIDIA L40S", 18'176},
                              {90, "NVIDIA H200", 16'896},
                              {100, "NVIDIA B200", 128 * 148},
                              {103, "NVIDIA B300", 128 * 148},
                              {110, "NVIDIA Thor", 2'560},
                              {120, "NVIDIA RTX PRO 6000 Blackwell", 24'064},
                              {121, "NVIDIA GB10", 6'144}};
  ASSERT_EQ(kProducts.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Product& p = kProducts[i];
    EXPECT_EQ(p.sm, rows[i].sm);
    EXPECT_EQ(p.name, rows[i].name);
    EXPECT_EQ(p.size.sms * (p.sm <= 80 ? 64 : 128), rows[i].cores) << p.name;
  }
}

// A launch has the size of its architecture's device; where that is older than Hopper, of one at least as
// large, so that what a program is told fits on what it runs on.
TEST(Products, ALaunchFitsWhatItsProgramWasTold) {
  for (const Product& p : kProducts) {
    EXPECT_GE(arch(p.sm).device.sms, p.size.sms) << p.name;
    EXPECT_GE(arch(p.sm).device.memory, p.size.memory) << p.name;
    if (p.sm < 90) continue;
    EXPECT_EQ(arch(p.sm).device.sms, p.size.sms) << p.name;
    EXPECT_EQ(arch(p.sm).device.memory, p.size.memory) << p.name;
    EXPECT_EQ(arch(p.sm).device.cluster, p.size.cluster) << p.name;
  }
  EXPECT_EQ(arch(75).device.sms, 132u);
  EXPECT_EQ(arch(89).device.sms, 142u);
}

}  // namespace
}  // namespace bitwell::machine
