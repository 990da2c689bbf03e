// What the table of a device says a probe of ours measured there is what it measured.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "model/timing/h200.h"

namespace bitwell::timing {
namespace {

// By what was probed, and with what.
std::map<std::pair<std::string, std::string>, double> probes() {
  std::map<std::pair<std::string, std::string>, double> out;
  std::ifstream in(BITWELL_PROBES);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '"') continue;
    const size_t first = line.find("\",\""), second = line.find("\",", first + 3);
    const std::string what = line.substr(1, first - 1), with = line.substr(first + 3, second - first - 3);
    out[{what, with}] = std::stod(line.substr(second + 2));
  }
  return out;
}

void expect_probe(const std::string& what, const std::string& with, double value, double times = 1) {
  static const auto all = probes();
  const auto at = all.find({what, with});
  ASSERT_NE(at, all.end()) << what << ", " << with;
  EXPECT_NEAR(value * times, at->second, 0.006 * times) << what << ", " << with;
}

TEST(Table, CostsAreWhatWasProbed) {
  size_t probed = 0;
  for (const Cost& c : h200().costs) {
    EXPECT_LE(c.low, c.value) << c.name;
    EXPECT_GE(c.high, c.value) << c.name;
    if (c.source != Source::device || c.with.empty()) continue;
    expect_probe(std::string(c.what), std::string(c.with), c.value);
    ++probed;
  }
  EXPECT_GE(probed, 34U);
}

TEST(Table, EveryCostHasARow) {
  for (int k = 0; k <= static_cast<int>(Key::cp_async_latency); ++k)
    EXPECT_NO_THROW(h200().cost(static_cast<Key>(k))) << k;
}

TEST(Table, CopiesAreWhatWasProbed) {
  for (const CopyCost& c : h200().copies) {
    expect_probe("cp.async.bulk", std::to_string(c.bytes) + " bytes, latency, L2", c.l2);
    expect_probe("cp.async.bulk", std::to_string(c.bytes) + " bytes, latency, DRAM", c.dram);
  }
  // Between the probes it goes up.
  double before = 0;
  for (uint64_t bytes = 16; bytes < 200000; bytes = bytes * 5 / 4 + 1) {
    EXPECT_GE(h200().copy_latency(bytes, true), before) << bytes;
    before = h200().copy_latency(bytes, true);
  }
}

TEST(Table, InstructionsAreWhatWasProbed) {
  size_t probed = 0;
  for (const OpCost& o : h200().ops) {
    if (o.source != Source::device) continue;
    expect_probe(std::string(o.what), "latency: each needs the one before", o.latency, o.times);
    expect_probe(std::string(o.what), "interval of a multiprocessor, 16 warps, 8 chains", o.interval,
                 o.times);
    ++probed;
  }
  EXPECT_GE(probed, 30U);
  for (const WarpMmaCost& m : h200().mmas) {
    expect_probe(std::string(m.what), "latency", m.latency);
    expect_probe(std::string(m.what), "interval of a multiprocessor, 16 warps, 4 chains", m.interval);
  }
}

// The formulas of wgmma, against each shape.
TEST(Table, WarpgroupProducts) {
  for (const uint32_t n : {16U, 64U, 128U, 256U}) {
    const std::string shape = "m64n" + std::to_string(n) + "k16, ";
    static const auto all = probes();
    const auto of = [&](const char* what, const std::string& with) { return all.at({what, shape + with}); };
    EXPECT_NEAR(Device::wgmma_interval(n, false), of("wgmma bf16 SS", "1 in a group, 3 left under way"), 1)
        << n;
    EXPECT_NEAR(h200().wgmma_latency(n, false), of("wgmma bf16 SS", "1 in a group, wait for it"), 2) << n;
    EXPECT_NEAR(h200().wgmma_latency(n, true), of("wgmma bf16 RS", "1 in a group, wait for it"), 5) << n;
  }
}

// Which row an instruction has.
TEST(Table, RowsByName) {
  EXPECT_EQ(h200().op("add.f32")->what, "add.f32");
  EXPECT_EQ(h200().op("add.rn.f16x2")->what, "add.f16x2");
  EXPECT_EQ(h200().op("add.s32")->what, "add.s32, xor.b32");
  EXPECT_EQ(h200().op("mul.hi.u32")->what, "mul.hi.u32");
  EXPECT_EQ(h200().op("addc.u32"), nullptr);
  EXPECT_EQ(h200().op("nonsense"), nullptr);
  EXPECT_EQ(device("h200"), &devices()[0]);
  EXPECT_EQ(device("b200"), nullptr);
}

}  // namespace
}  // namespace bitwell::timing
