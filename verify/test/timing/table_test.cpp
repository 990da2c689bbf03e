// What the table of a device says a probe of ours measured there is what it measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/timing/cost.h"
#include "probed.h"

namespace bitwell::timing {
namespace {

void expect_probe(const std::string& what, const std::string& with, double value, double times = 1) {
  const auto at = probes().find({what, with});
  ASSERT_NE(at, probes().end()) << what << ", " << with;
  EXPECT_NEAR(value * times, at->second, 0.006 * times) << what << ", " << with;
}

// All but what the file says in its head or its names, and what shapes of wgmma have in common, of which
// WarpgroupProducts asks.
const std::set<Key> kFromSeveral{Key::clock,
                                 Key::sms,
                                 Key::few_sms,
                                 Key::wgmma_long,
                                 Key::wgmma_registers,
                                 Key::wgmma_a,
                                 Key::wgmma_least,
                                 Key::wgmma_issue,
                                 Key::wgmma_issue_shared,
                                 Key::wgmma_turn,
                                 Key::wgmma_turn_shared,
                                 Key::wgmma_beside};

TEST(Table, CostsAreWhatWasProbed) {
  size_t probed = 0;
  for (const Cost& c : h200().costs) {
    if (c.source != Source::device || kFromSeveral.contains(c.key)) continue;
    expect_probe(std::string(c.what), std::string(c.with), c.value);
    ++probed;
  }
  EXPECT_GE(probed, 34U);
}

TEST(Table, EveryCostHasARowWithinItsRange) {
  for (const Device& d : devices()) {
    for (size_t k = 0; k < kKeys; ++k) {
      const auto key = static_cast<Key>(k);
      const auto rows =
          std::count_if(d.costs.begin(), d.costs.end(), [&](const Cost& c) { return c.key == key; });
      EXPECT_EQ(rows, is_of(key, d.sm) ? 1 : 0) << d.name << " " << k;
    }
    for (const Cost& c : d.costs) {
      EXPECT_LE(c.low, c.value) << d.name << ", " << c.name;
      EXPECT_GE(c.high, c.value) << d.name << ", " << c.name;
    }
  }
}

// Where no probe of ours has run, each row says who measured it, or that nobody did.
TEST(Table, NoRowOfABlackwellIsAProbeOfOurs) {
  const auto said = [](Source source, std::string_view who) {
    EXPECT_NE(source, Source::device) << who;
    EXPECT_TRUE(source == Source::guess || !who.empty());
  };
  for (const Cost& c : b200().costs) said(c.source, c.what);
  for (const OpCost& c : b200().ops) said(c.source, c.what);
  for (const WarpMmaCost& c : b200().mmas) said(c.source, c.what);
  for (const TensorMmaCost& c : b200().tensors) said(c.source, c.what);
  for (const CopyCost& c : b200().copies) said(c.source, "a range");
  EXPECT_EQ(b200().op("xor.b32")->source, Source::guess) << "as an H200";
  EXPECT_EQ(b200().op("shfl.sync.idx.b32")->latency, 24);
}

// More is never faster.
TEST(Table, ProductsInTensorMemoryGrowWithTheirShape) {
  for (const uint32_t ctas : {1U, 2U})
    for (const uint32_t m : {64 * ctas, 128 * ctas}) {
      TensorMmaCost before{};
      for (uint32_t n = 8; n <= 256; n += 8) {
        const TensorMmaCost now = b200().tensor_mma(ctas, m, n);
        EXPECT_GE(now.interval, before.interval) << ctas << " " << m << " " << n;
        EXPECT_GE(now.elsewhere, before.elsewhere) << ctas << " " << m << " " << n;
        EXPECT_GE(now.latency, before.latency) << ctas << " " << m << " " << n;
        EXPECT_GE(now.interval, now.elsewhere) << ctas << " " << m << " " << n;
        before = now;
      }
    }
  EXPECT_EQ(b200().tensor_mma(1, 128, 128).interval, 64);
  EXPECT_EQ(b200().tensor_mma(1, 128, 192).interval, 96);
  EXPECT_EQ(b200().tensor_mma(1, 128, 192).source, Source::published);
  EXPECT_EQ(b200().tensor_mma(1, 128, 24).source, Source::guess);
}

TEST(Table, DevicesByTheirCode) {
  EXPECT_EQ(device_for("sm_90a").name, "h200");
  EXPECT_EQ(device_for("sm_100a").name, "b200");
  EXPECT_EQ(device_for("sm_80").name, "h200");
  EXPECT_EQ(device_for("sm_120a").name, "h200") << "nobody runs it";
  EXPECT_TRUE(runs(h200(), "sm_90"));
  EXPECT_FALSE(runs(h200(), "sm_100a"));
  EXPECT_FALSE(runs(h200(), "sm_100"));
  EXPECT_TRUE(runs(b200(), "sm_90"));
  EXPECT_FALSE(runs(b200(), "sm_90a"));
  EXPECT_TRUE(runs(b200(), "sm_100f"));
  EXPECT_FALSE(runs(b200(), "sm_120f"));
}

TEST(Table, CopiesAreWhatWasProbed) {
  for (const CopyCost& c : h200().copies) {
    expect_probe("cp.async.bulk", std::to_string(c.bytes) + " bytes, latency, L2", c.l2);
    expect_probe("cp.async.bulk", std::to_string(c.bytes) + " bytes, latency, DRAM", c.dram);
  }
  for (const CopyCost& c : h200().tensor_copies) {
    const std::string box = "2d, " + std::to_string(c.bytes / 128) + " x 128 bytes, latency, ";
    expect_probe("cp.async.bulk.tensor", box + "L2", c.l2);
    expect_probe("cp.async.bulk.tensor", box + "DRAM", c.dram);
  }
}

TEST(Table, MoreBytesAreNeverFaster) {
  for (const Device& d : devices())
    for (const bool map : {false, true}) {
      double before = 0, far = 0;
      for (uint64_t bytes = 0; bytes < 200000; bytes = bytes * 5 / 4 + 1) {
        const double now = d.copy_latency(bytes, false, map), from_dram = d.copy_latency(bytes, true, map);
        EXPECT_GE(now, before) << d.name << " " << bytes;
        EXPECT_GE(from_dram, std::max(far, now)) << d.name << " " << bytes;
        far = from_dram;
        before = now;
      }
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
    EXPECT_NEAR(h200().wgmma_interval(n, false), of("wgmma bf16 SS", "1 in a group, 3 left under way"), 1)
        << n;
    EXPECT_NEAR(h200().wgmma_latency(n, false), of("wgmma bf16 SS", "1 in a group, wait for it"), 2) << n;
    EXPECT_NEAR(h200().wgmma_latency(n, true), of("wgmma bf16 RS", "1 in a group, wait for it"), 5) << n;
    // Of e4m3, with as many bytes of k, the same.
    const std::string narrow = "m64n" + std::to_string(n) + "k32, ";
    const auto of_e4m3 = [&](const char* what, const std::string& with) {
      return all.at({what, narrow + with});
    };
    constexpr double kGroup = 4;  // of 16 that begin together, a part of the first one's latency
    EXPECT_NEAR(h200().wgmma_interval(n, false), of_e4m3("wgmma e4m3 SS", "16 in a group"), kGroup) << n;
    EXPECT_NEAR(h200().wgmma_latency(n, false), of_e4m3("wgmma e4m3 SS", "1 in a group, wait for it"), 2)
        << n;
    EXPECT_NEAR(h200().wgmma_latency(n, true), of_e4m3("wgmma e4m3 RS", "1 in a group, wait for it"), 5) << n;
  }
}

// How long warps stand that hand products over: in the probe nothing else is different from a loop alone.
TEST(Table, WarpgroupsHandProductsOver) {
  const auto all = probes();
  for (const uint32_t warpgroups : {1U, 2U}) {
    const std::string of = std::to_string(warpgroups) + " warpgroups";
    const double loop = all.at({"a loop of dependent operations", "64 rounds, " + of});
    for (const uint32_t n : {64U, 128U, 256U})
      for (const bool registers : {false, true}) {
        const double alone =
            n * h200().value(Key::wgmma_issue) - (registers ? 0 : h200().value(Key::wgmma_issue_shared));
        const double turn = h200().value(registers ? Key::wgmma_turn : Key::wgmma_turn_shared);
        const double each = warpgroups == 1 ? alone : warpgroups * (alone + turn);
        for (const int many : {1, 4}) {
          const std::string with = "m64n" + std::to_string(n) + "k16, " + std::to_string(many) +
                                   " in a group, 64 rounds before the wait, " + of;
          constexpr double kFences = 3;
          EXPECT_NEAR(all.at({registers ? "wgmma f16 RS" : "wgmma f16 SS", with}) - loop,
                      many * each + kFences, 7)
              << with << (registers ? " RS" : " SS");
        }
      }
  }
}

// Which arithmetic products slow down, and by how much: not that of fp32, and hardly functions.
TEST(Table, ArithmeticBesideProducts) {
  const auto all = probes();
  const Cost& times = h200().cost(Key::wgmma_beside);
  const auto slower = [&](const std::string& what, const std::string& products) {
    return all.at({what, "beside a warpgroup's products " + products}) /
           all.at({what, "beside a warpgroup without products"});
  };
  for (const std::string products :
       {"m64n64k16 SS", "m64n128k16 SS", "m64n256k16 SS", "m64n64k16 RS", "m64n128k16 RS", "m64n256k16 RS"}) {
    for (const char* what :
         {"lop3.b32 of three registers", "add.u32 of two registers", "mad.lo.u32 of three registers",
          "fma.rn.f16x2 of three registers", "cvt.rn.f16x2.e4m3x2"}) {
      EXPECT_GE(slower(what, products), times.low) << what << ", " << products;
      EXPECT_LE(slower(what, products), times.high + 0.03) << what << ", " << products;
    }
    EXPECT_NEAR(slower("fma.rn.f32 of three registers", products), 1, 0.05) << products;
    EXPECT_LT(slower("ex2.approx.ftz.f32", products), 1.15) << products;
  }
}

// Which row an instruction has.
TEST(Table, RowsByName) {
  EXPECT_EQ(h200().op("add.f32")->what, "add.f32");
  EXPECT_EQ(h200().op("add.rn.f16x2")->what, "add.f16x2");
  EXPECT_EQ(h200().op("add.s32")->what, "add.s32, xor.b32");
  EXPECT_EQ(h200().op("mul.hi.u32")->what, "mul.hi.u32");
  EXPECT_FALSE(h200().op("addc.u32"));
  EXPECT_FALSE(h200().op("nonsense"));
  EXPECT_EQ(device("h200"), &devices()[0]);
  EXPECT_EQ(device("h100"), nullptr);
}

// A locked clock changes what a multiprocessor does in a second, not what it does in a cycle.
TEST(Table, ALockedClock) {
  const Device* const locked = device("b200@1300");
  ASSERT_NE(locked, nullptr);
  EXPECT_EQ(locked, device("b200@1300"));
  EXPECT_EQ(locked->name, "b200@1300");
  EXPECT_EQ(locked->value(Key::clock), 1300);
  EXPECT_EQ(locked->value(Key::loaded_clock), 1300);
  EXPECT_EQ(locked->value(Key::l2_latency), b200().value(Key::l2_latency));
  EXPECT_EQ(locked->value(Key::memory_clock_free_bandwidth), b200().value(Key::memory_clock_free_bandwidth));
  EXPECT_NEAR(locked->value(Key::few_sms_bandwidth) / 1300,
              b200().value(Key::few_sms_bandwidth) / b200().value(Key::clock), 1e-9);
  for (const char* name : {"b200@", "b200@fast", "b200@12", "b200@1300 ", "h100@1300", "@1300"})
    EXPECT_EQ(device(name), nullptr) << name;
}

}  // namespace
}  // namespace bitwell::timing
