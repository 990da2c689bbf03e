// nvcc's PTX for ordinary CUDA code, default and -G, against the same C++ compiled by g++.
#include "ordinary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "../../kernel.h"
#include "verify/capture/captures.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kBlock = 128;
constexpr uint32_t kGrid = 6;
constexpr uint32_t kThreads = kBlock * kGrid;

class Ordinary : public testing::TestWithParam<const char*> {
 protected:
  static launch::Launch launch(const std::string& entry, uint32_t dynamic_shared = 0) {
    launch::Launch l;
    l.ptx = capture::share_folder("test") + "/" + GetParam() + ".ptx";
    l.entry = entry;
    l.shape.grid = {kGrid, 1, 1};
    l.shape.block = {kBlock, 1, 1};
    l.shape.dynamic_shared = dynamic_shared;
    l.add_buffer({"out", std::vector<std::byte>(8 * kThreads), false, false, true});
    return l;
  }

  static uint64_t word(const launch::Launch& l, size_t i) {
    uint64_t v = 0;
    std::memcpy(&v, l.buffers[0].bytes.data() + 8 * i, 8);
    return v;
  }

  void expect(const std::string& entry, const std::function<uint64_t(uint32_t)>& value,
              uint32_t dynamic_shared = 0) {
    launch::Launch l = launch(entry, dynamic_shared);
    test::run_file(l);
    for (uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(word(l, i), value(i)) << entry << " thread " << i;
  }

  std::string fault(const std::string& entry) {
    launch::Launch l = launch(entry);
    try {
      test::run_file(l, {}, false);
    } catch (const machine::Fault& f) {
      return f.what();
    }
    return "no fault";
  }
};

TEST_P(Ordinary, ControlFlow) { expect("each_control", ordinary::control); }
TEST_P(Ordinary, Switch) { expect("each_choose", ordinary::choose); }
TEST_P(Ordinary, CallsStructsAndRecursion) { expect("each_calls", ordinary::calls); }
TEST_P(Ordinary, LocalArrays) { expect("each_local", ordinary::local); }
TEST_P(Ordinary, IntegersOfEveryWidth) { expect("each_integers", ordinary::integers); }
TEST_P(Ordinary, FloatsAndConversions) { expect("each_floats", ordinary::floats); }
TEST_P(Ordinary, IndirectCalls) {
  expect("indirect", [](uint32_t i) {
    const uint64_t v = i + 5;
    return i % 3 == 0 ? ordinary::twice(v) : i % 3 == 1 ? ordinary::square(v) : ordinary::negate(v);
  });
}

TEST_P(Ordinary, DynamicSharedMemoryAndBarriers) {
  expect(
      "block_sum",
      [](uint32_t i) {
        uint32_t sum = 0;
        for (uint32_t k = i / kBlock * kBlock; k < i / kBlock * kBlock + kBlock; ++k)
          sum += ordinary::mix(k) & 0xFFFF;
        return sum;
      },
      4 * kBlock);
}

TEST_P(Ordinary, Atomics) {
  launch::Launch l = launch("atomics");
  std::vector<std::byte> counters(24);
  std::memset(counters.data() + 8, 0xFF, 4);
  l.add_buffer({"counters", counters, true, false, true});
  test::run_file(l);
  uint32_t expected[6] = {0, 0, ~0u, 0, kThreads % 101, 3 * kThreads};
  for (uint32_t i = 0; i < kThreads; ++i) {
    expected[0] += i;
    expected[1] = std::max(expected[1], ordinary::mix(i));
    expected[2] = std::min(expected[2], ordinary::mix(i) | 1);
    expected[3] ^= ordinary::mix(i);
  }
  for (size_t n = 0; n < 6; ++n) {
    uint32_t got = 0;
    std::memcpy(&got, l.buffers[1].bytes.data() + 4 * n, 4);
    EXPECT_EQ(got, expected[n]) << "counter " << n;
  }
}

TEST_P(Ordinary, Printf) {
  launch::Launch l = launch("prints");
  l.shape.grid = {1, 1, 1};
  std::string printed;
  run::Options options;
  options.print = [&](std::string_view text) { printed += text; };
  test::run_file(l, options, false);
  EXPECT_EQ(printed, "thread 0: -7  1.50 text 123456789abc%\nthread 1: -7  1.50 text 123456789abc%\n");
}

TEST_P(Ordinary, FailedAssertionsNameTheirTextAndThread) {
  const std::string text = fault("asserts");
  EXPECT_NE(text.find("assertion failed: threadIdx.x != 5"), std::string::npos) << text;
  EXPECT_NE(text.find("thread (5,0,0)"), std::string::npos) << text;
  EXPECT_NE(text.find("ordinary.cu:"), std::string::npos) << text;
}

TEST_P(Ordinary, TrapsNameTheirThread) {
  const std::string text = fault("traps");
  EXPECT_NE(text.find("trap"), std::string::npos) << text;
  EXPECT_NE(text.find("thread (3,0,0)"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Nvcc, Ordinary, testing::Values("ordinary", "ordinary_debug"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace bitwell::isa
