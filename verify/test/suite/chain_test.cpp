// Launches of a chain share one memory: what one leaves, written or not, is what the next finds.
#include "verify/suite/chain.h"

#include <gtest/gtest.h>

#include <cstring>

#include "model/machine/failure.h"

namespace bitwell::suite {
namespace {

// `first` writes the words below `count` of its 64; `second` copies `from` to `to` and counts its launches in
// a variable of the module.
constexpr const char* kText =
    ".version 9.0\n.target sm_90a\n.address_size 64\n.global .u32 launches;\n"
    ".visible .entry first(.param .u64 to, .param .u32 count)\n{\n.reg .b32 %r<4>; .reg .b64 %a<4>; .reg "
    ".pred %p;\n"
    "ld.param.u64 %a0, [to];\nld.param.u32 %r0, [count];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p, %r1, %r0;\n"
    "mul.wide.u32 %a1, %r1, 4;\nadd.u64 %a0, %a0, %a1;\n@%p st.global.u32 [%a0], %r1;\n"
    "atom.global.add.u32 %r2, [launches], 1;\nret;\n}\n"
    ".visible .entry second(.param .u64 from, .param .u64 to)\n{\n.reg .b32 %r<4>; .reg .b64 %a<4>;\n"
    "ld.param.u64 %a0, [from];\nld.param.u64 %a2, [to];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %a1, %r1, 4;\n"
    "add.u64 %a0, %a0, %a1;\nadd.u64 %a2, %a2, %a1;\nld.global.u32 %r2, [%a0];\nld.global.u32 %r3, "
    "[launches];\n"
    "mad.lo.u32 %r2, %r3, 1000, %r2;\nst.global.u32 [%a2], %r2;\nret;\n}\n";

Chain chain(uint32_t count) {
  Chain c;
  launch::Launch first;
  first.ptx = "module";
  first.entry = "first";
  first.shape.block = {64, 1, 1};
  first.add_buffer({"words", std::vector<std::byte>(256), false});
  first.add_scalar(count);
  launch::Launch second;
  second.ptx = "module";
  second.entry = "second";
  second.shape.block = {64, 1, 1};
  second.add_buffer({"words", std::vector<std::byte>(256), true, true});
  second.add_buffer({"out", std::vector<std::byte>(256), false, false, true});
  c.launches = {first, second};
  c.links = {{0, 0, 1, 0}};
  return c;
}

void run(Chain& c) {
  const auto module = std::make_shared<const isa::Module>(kText);
  simulate(
      c, [&](const launch::Launch&) { return module; }, {}, true);
}

TEST(Chain, ALaterLaunchReadsWhatAnEarlierWrote) {
  Chain c = chain(64);
  run(c);
  std::vector<uint32_t> out(64);
  std::memcpy(out.data(), c.launches[1].buffers[1].bytes.data(), 256);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 64 * 1000 + i);  // 64 threads of `first` counted
}

// Two modules of one text: an entry of each, of one name, and variables of their own.
TEST(Chain, LaunchesOfTwoModulesHaveVariablesOfTheirOwn) {
  for (const bool apart : {false, true}) {
    Chain c = chain(64);
    launch::Launch again = c.launches[0];
    again.ptx = "another module";
    c.launches.insert(c.launches.begin() + 1, again);  // counts its launches, on words of its own
    c.links = {{0, 0, 2, 0}};
    const auto one = std::make_shared<const isa::Module>(kText),
               other = std::make_shared<const isa::Module>(kText);
    simulate(
        c, [&](const launch::Launch& l) { return apart && l.ptx == again.ptx ? other : one; }, {}, true);
    uint32_t first = 0;
    std::memcpy(&first, c.launches[2].buffers[1].bytes.data(), 4);
    EXPECT_EQ(first, (apart ? 64u : 128u) * 1000);
  }
}

TEST(Chain, WhatNobodyWroteIsStillNoValue) {
  Chain c = chain(63);
  try {
    run(c);
    FAIL() << "held";
  } catch (const machine::Fault& f) {
    EXPECT_NE(std::string(f.what()).find("'words'"), std::string::npos) << f.what();
    EXPECT_NE(std::string(f.what()).find("never written"), std::string::npos) << f.what();
  }
}

}  // namespace
}  // namespace bitwell::suite
