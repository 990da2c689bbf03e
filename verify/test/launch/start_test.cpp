// A launch that is run again and again from where it began.
#include "verify/launch/start.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "model/machine/failure.h"
#include "verify/schedules/schedules.h"

namespace bitwell::launch {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

// Takes down what it finds: a counter of the module, which it moves on, a word of a constant, the words of a
// buffer, which it changes, and the address of an object of the heap, which it does not free.
const std::string kFirst =
    kHead +
    ".extern .func (.param .b64 got) malloc(.param .b64 size);\n.visible .global .align 4 .u32 runs = 7;\n"
    ".visible .const .align 4 .u32 factor = 3;\n.visible .entry k(.param .u64 words, .param .u64 out)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %a<4>;\nld.param.u64 %a0, [words];\nld.param.u64 %a1, [out];\n"
    "ld.global.u32 %r0, [runs];\nadd.u32 %r0, %r0, 1;\nst.global.u32 [runs], %r0;\n"
    "st.global.u32 [%a1], %r0;\nld.const.u32 %r1, [factor];\nld.global.u32 %r2, [%a0];\n"
    "mul.lo.u32 %r2, %r2, %r1;\nst.global.u32 [%a0], %r2;\nst.global.u32 [%a1+4], %r2;\n"
    "{\n.param .b64 size;\n.param .b64 got;\nst.param.b64 [size], 100;\n"
    "call.uni (got), malloc, (size);\nld.param.b64 %a2, [got];\n}\n"
    "st.global.u64 [%a1+8], %a2;\nret;\n}\n";
// Of another module: its own counter, where that stands, and the word that the launch before has changed.
const std::string kSecond =
    kHead +
    ".visible .global .align 4 .u32 steps = 0;\n.visible .entry k(.param .u64 words, .param .u64 out)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %a<4>;\nld.param.u64 %a0, [words];\nld.param.u64 %a1, [out];\n"
    "ld.global.u32 %r0, [steps];\nadd.u32 %r0, %r0, 1;\nst.global.u32 [steps], %r0;\n"
    "st.global.u32 [%a1+16], %r0;\nmov.u64 %a2, steps;\ncvta.global.u64 %a2, %a2;\n"
    "st.global.u64 [%a1+24], %a2;\nld.global.u32 %r1, [%a0];\nadd.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%a0], %r1;\nst.global.u32 [%a1+20], %r1;\nret;\n}\n";

// The first, and the second twice.
Launch list() {
  Launch out;
  out.ptx = "first.ptx";
  out.module = std::make_shared<const isa::Module>(kFirst, out.ptx);
  out.entry = "k";
  out.heap = 4096;
  out.add_buffer({"words", std::vector<std::byte>(4, std::byte{5}), true});
  out.add_buffer({"out", std::vector<std::byte>(32), true, false, true});
  out.variables.push_back({"runs", std::nullopt, true, {}});
  std::vector<std::byte> factor(4);
  factor[0] = std::byte{9};
  out.variables.push_back({"factor", factor, true, {}});
  Step step;
  step.ptx = "second.ptx";
  step.entry = "k";
  step.arguments = out.arguments;
  step.module = std::make_shared<const isa::Module>(kSecond, step.ptx);
  out.then = {step, step};
  return out;
}

std::vector<std::vector<std::byte>> left_by(const Ran& ran, const Launch& launch) {
  std::vector<std::vector<std::byte>> out;
  for (size_t i = 0; i < launch.buffers.size(); ++i) out.push_back(ran.buffer(launch, i));
  for (size_t i = 0; i < launch.variables.size(); ++i) out.push_back(ran.variable(launch, i));
  return out;
}

// Whatever a list of launches changes, each run finds as the first found it: variables of both modules, which
// stand where they stood, constants, buffers, the heap. What another run has left stays its own.
TEST(Start, EveryRunFindsWhatTheFirstFound) {
  const Launch launch = list();
  const Ran plain = simulate(launch, {}, true);
  const auto wanted = left_by(plain, launch);
  uint32_t runs = 0;
  std::memcpy(&runs, wanted[1].data(), 4);
  ASSERT_EQ(runs, 8u);
  ASSERT_EQ(plain.result.notes.size(), 1u);  // of what was not freed
  const Start start(launch);
  std::vector<Ran> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(start.run({}, true));
    for (const Ran& ran : all) {
      EXPECT_EQ(left_by(ran, launch), wanted);
      EXPECT_EQ(ran.difference(all[0], 1), std::nullopt);
    }
    ASSERT_EQ(all.back().result.notes.size(), 1u);
    EXPECT_EQ(all.back().result.notes[0].text, plain.result.notes[0].text);
  }
}

// A run that faults leaves nothing to the next.
TEST(Start, AFaultIsForgotten) {
  Launch launch = list();
  launch.then.clear();
  const Start start(launch);
  run::Options hangs;
  hangs.step_limit = 3;
  const auto wanted = left_by(start.run({}, false), launch);
  EXPECT_THROW(start.run(hangs, false), machine::Fault);
  EXPECT_EQ(left_by(start.run({}, false), launch), wanted);
}

TEST(Start, RefusesBeforeAnythingRuns) {
  Launch launch = list();
  launch.arguments.pop_back();
  EXPECT_THROW(Start{launch}, machine::InputError);
  launch = list();
  launch.memory_limit = 16;
  EXPECT_THROW(Start{launch}, machine::InputError);
}

constexpr uint64_t kPages = 2560, kPage = 4096;  // that are touched: 10 MiB
constexpr uint64_t kAll = uint64_t{2} << 30;

// Each thread doubles a word of a page of its own and counts the CTA in another, far behind it.
const std::string kTouches =
    kHead +
    ".visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<6>;\n.reg .b64 %a<4>;\nld.param.u64 %a0, [x];\n"
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r2, %r0, 128, %r1;\n"
    "mul.wide.u32 %a1, %r2, 4096;\nadd.u64 %a1, %a0, %a1;\nld.global.u32 %r3, [%a1];\n"
    "add.u32 %r3, %r3, %r3;\nst.global.u32 [%a1], %r3;\n"
    "red.global.add.u32 [%a0+2000000000], 1;\nret;\n}\n";

uint64_t resident() {
  uint64_t all = 0, here = 0;
  std::ifstream("/proc/self/statm") >> all >> here;
  return here * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// 2 GiB of which a launch touches 10 MiB: 16 schedules take the memory of one run and little more, and so
// does the comparison of what they leave.
TEST(Start, SixteenSchedulesCostWhatOneTouches) {
  Launch launch;
  launch.ptx = "k.ptx";
  launch.module = std::make_shared<const isa::Module>(kTouches, launch.ptx);
  launch.entry = "k";
  launch.shape.grid = {kPages / 128, 1, 1};
  launch.shape.block = {128, 1, 1};
  Buffer x{"x", std::vector<std::byte>(kPages * kPage, std::byte{1}), true, false, true};
  x.blank = kAll - x.bytes.size();
  launch.add_buffer(std::move(x));
  const uint64_t before = resident();
  uint64_t most = 0;
  run::Options options;
  options.progress = [&](const auto&) { most = std::max(most, resident()); };
  simulate(launch, options, true);
  const uint64_t one = most - before;
  EXPECT_LT(one, uint64_t{40} << 20);
  most = 0;
  const Start start(launch);
  std::optional<Ran> first;
  const auto differs = schedules::disagreement(
      start, options, schedules(16), [&](size_t, const auto&) { most = std::max(most, resident()); }, &first);
  most = std::max(most, resident());
  EXPECT_FALSE(differs);
  EXPECT_LT(most - before, one + 3 * kPages * kPage);
  EXPECT_EQ(first->byte(0, 0), std::byte{2});
  EXPECT_EQ(first->byte(0, 2000000000), std::byte{kPages % 256});
}

// A byte that one of two schedules leaves otherwise is found, be it in a page that one run alone has touched.
TEST(Start, FindsWhatTwoRunsLeaveOtherwise) {
  for (const uint64_t size : {uint64_t{4096}, uint64_t{8} << 20}) {
    Launch launch;
    launch.ptx = "k.ptx";
    // The last CTA to come says which it was, at a place of its own too.
    launch.module = std::make_shared<const isa::Module>(
        kHead +
            ".visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<6>;\n.reg .b64 %a<4>;\n"
            "ld.param.u64 %a0, [x];\nmov.u32 %r0, %clock;\nmov.u32 %r1, %ctaid.x;\n"
            "st.global.u32 [%a0], %r1;\nret;\n}\n",
        launch.ptx);
    launch.entry = "k";
    launch.shape.grid = {8, 1, 1};
    Buffer x{"x", std::vector<std::byte>(64, std::byte{1}), true, false, true};
    x.blank = size - x.bytes.size();
    launch.add_buffer(std::move(x));
    const Start start(launch);
    const auto differs = schedules::disagreement(start, {}, schedules(16));
    ASSERT_TRUE(differs) << size;
    EXPECT_EQ(differs->byte, 0u);
    EXPECT_EQ(differs->of_first, std::byte{7});
    EXPECT_NE(differs->of_second, std::byte{7});
    // The first in their order, on any number of threads.
    for (const unsigned threads : {2U, 7U, 16U}) {
      run::Options options;
      options.threads = threads;
      for (int again = 0; again < 4; ++again) {
        const auto same = schedules::disagreement(start, options, schedules(16));
        ASSERT_TRUE(same);
        EXPECT_EQ(describe(same->second), describe(differs->second));
        EXPECT_EQ(same->of_second, differs->of_second);
      }
    }
  }
}

}  // namespace
}  // namespace bitwell::launch
