// A launch of a living context comes again from the file that its recording makes, with all that it began
// with.
#include "verify/launch/output/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "verify/launch/file/launch_json.h"

namespace bitwell::launch {
namespace {

namespace fs = std::filesystem;
using isa::argument;

// y[tid] = x[tid] + count; count += 1, by thread 0.
constexpr const char* kText = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 count = 5;
.visible .entry add(.param .u64 x, .param .u64 y)
{
  .reg .b64 %a<5>; .reg .b32 %r<5>; .reg .pred %p;
  ld.param.u64 %a0, [x]; ld.param.u64 %a1, [y]; mov.u32 %r0, %tid.x; mul.wide.u32 %a2, %r0, 4;
  add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;
  ld.global.u32 %r1, [%a0]; ld.global.u32 %r2, [count]; add.u32 %r3, %r1, %r2; st.global.u32 [%a1], %r3;
  bar.sync 0; setp.ne.u32 %p, %r0, 0; @%p ret;
  add.u32 %r2, %r2, 1; st.global.u32 [count], %r2; ret;
})";

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() { fs::create_directories(folder_ / "out"); }
  ~RecordingTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, std::span<const std::byte> bytes) const {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  // The launch that is read from the files of the recording.
  Launch again(const Recording& r, const Recording::Leaves& leaves = {}) const {
    const std::string text = r.text(
        "k.ptx",
        [&](const std::string& name, std::span<const std::byte> bytes) {
          write(name, bytes);
          return name;
        },
        leaves);
    write("k.ptx", std::as_bytes(std::span(r.ptx())));
    write("l.json", std::as_bytes(std::span(text)));
    return read_launch((folder_ / "l.json").string()).launch;
  }
  std::vector<uint64_t> found(const isa::KernelLaunch& launch) {
    return reached(context_.memory(), launch.arguments);
  }

  const fs::path folder_ = fs::temp_directory_path() / ("recording_test." + std::to_string(getpid()));
  isa::Context context_;
};

TEST_F(RecordingTest, WhatALaunchBeginsWithComesAgain) {
  context_.load(kText + std::string("// another, whose variables stand where the first ones do\n"));
  const isa::ModuleHandle module = context_.load(kText);
  std::array<uint32_t, 9> host{1, 2, 3, 4, 99, 0, 0, 0, 0};  // x and y, 4 bytes from each other
  const isa::Allocation x = context_.adopt("x", host.data(), 16);
  const isa::Allocation y = context_.adopt("y", host.data() + 5, 16, false);
  isa::KernelLaunch launch{module, "add", {}, {argument(x), argument(y)}};
  launch.shape.block = {4, 1, 1};
  for (const uint32_t count : {5u, 6u}) {
    const Recording before(context_, launch, found(launch));
    context_.launch({&launch, 1});
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(host[5 + i], i + 1 + count);
    const Launch same = again(before);
    const Ran ran = simulate(same, {}, true);
    ASSERT_EQ(same.buffers.size(), 2u);
    EXPECT_EQ(same.buffers[1].address, reinterpret_cast<uintptr_t>(host.data() + 5));
    EXPECT_EQ(std::memcmp(ran.buffer(same, 1).data(), host.data() + 5, 16), 0);
    EXPECT_EQ(ran.variable(same, 0)[0], std::byte(count + 1));
    EXPECT_TRUE(before.lacks(context_.memory()).empty());
  }
  launch.shape.block = {5, 1, 1};  // the fifth reads what is between
  const Recording before(context_, launch, found(launch));
  EXPECT_THROW(context_.launch({&launch, 1}), machine::Fault);
  EXPECT_THROW(simulate(again(before), {}, true), machine::Fault);
}

TEST_F(RecordingTest, WhatIsUnwrittenStaysSoAndIsWantedOfOutputs) {
  const isa::ModuleHandle module = context_.load(kText);
  std::array<uint32_t, 8> host{};
  const isa::Allocation x = context_.adopt("x", host.data(), 16, false);
  const isa::Allocation y = context_.allocate("y", 16);
  context_.mark(x.address, 8, true);
  isa::KernelLaunch launch{module, "add", {}, {argument(x), argument(y)}};
  launch.shape.block = {2, 1, 1};
  const Recording before(context_, launch, found(launch));
  simulate(again(before), {}, true);
  EXPECT_THROW(simulate(again(before, {{y}, true}), {}, true), machine::Fault);  // bytes 8 to 15 of y
  simulate(again(before, {{y}, false}), {}, true);
  simulate(again(before, {{{y.address, 8, 0}}, true}), {}, true);  // of a part: that is not followed
  launch.shape.block = {3, 1, 1};
  const Recording third(context_, launch, found(launch));
  for (const Recording::Leaves& leaves :
       {Recording::Leaves{}, Recording::Leaves{{x}, false}, Recording::Leaves{{y}, false}})
    EXPECT_THROW(simulate(again(third, leaves), {}, true), machine::Fault);
}

TEST_F(RecordingTest, NamesAreFilesAndNoTwoAreTheSame) {
  const isa::ModuleHandle module = context_.load(kText);
  const isa::Allocation a = context_.allocate("count", 16), b = context_.allocate("count", 16);
  const isa::Allocation c = context_.allocate("../" + std::string(200, 'x'), 0);
  const isa::KernelLaunch launch{module, "add", {}, {argument(a), argument(b)}};
  const Launch same = again(Recording(context_, launch, {a.address, c.address, b.address}));
  ASSERT_EQ(same.buffers.size(), 3u);
  EXPECT_EQ(same.buffers[0].name, "count");
  EXPECT_EQ(same.buffers[1].name, "count.2");
  EXPECT_EQ(same.buffers[2].name, "_.._" + std::string(57, 'x'));
  EXPECT_THROW(Recording(context_, launch, {a.address + 4}), machine::InputError);
}

TEST_F(RecordingTest, WhatLeadsFartherIsFollowedOrSaid) {
  const isa::ModuleHandle module = context_.load(kText);
  const isa::Allocation a = context_.allocate("a", 16), large = context_.allocate("large", 2 << 20),
                        z = context_.allocate("z", 16);
  context_.write(a, std::as_bytes(std::span(&large.address, 1)), 4);
  context_.write(large, std::as_bytes(std::span(&z.address, 1)), 1 << 20);
  const isa::KernelLaunch launch{module, "add", {}, {argument(a.address + 15), argument(uint64_t{0})}};
  const std::vector<uint64_t> to = found(launch);
  EXPECT_EQ(to, (std::vector<uint64_t>{a.address, large.address}));
  const std::vector<std::string> lacks = Recording(context_, launch, to).lacks(context_.memory());
  EXPECT_EQ(lacks, std::vector<std::string>{"'z', to which 'large' points"});
}

}  // namespace
}  // namespace bitwell::launch
