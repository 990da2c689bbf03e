// The fp32 instructions made of the special-function unit: what the simulator does for a lane against the
// GPU. Whole kernels, and the instructions of fp16 and bf16, are compared by instructions_test.cpp. 2^26
// inputs each, spread over all of fp32; BITWELL_INPUTS=4294967296 takes every one.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu.h"
#include "model/isa/family/scalar/approximate.h"
#include "verify/suite/parallel.h"

namespace bitwell::device {
namespace {

constexpr uint32_t kBlock = 256;
constexpr uint32_t kGroup = 64;        // inputs a thread
constexpr uint32_t kSlice = 1u << 24;  // inputs a launch
constexpr std::chrono::seconds kLimit{20};
constexpr uint64_t kBasis = 0xCBF29CE484222325, kPrime = 0x100000001B3;

// The n-th input, n below 2^32: each code once, any run of them spread evenly.
uint32_t input(uint32_t n) { return n * 0x9E3779B1u; }

uint64_t inputs() {
  const char* text = std::getenv("BITWELL_INPUTS");
  const uint64_t wanted = text == nullptr ? uint64_t{1} << 26 : std::strtoull(text, nullptr, 10);
  return std::clamp<uint64_t>(wanted, kSlice, uint64_t{1} << 32) / kSlice * kSlice;
}

// A digest of each kGroup results from the input of number `first` on: FNV-1a of 64 bits, a word at a time,
// which one wrong result always changes. The loop counts down: what ptxas 13.0 makes of one up to the next
// multiple of 64 does not end on the device where that is 2^32.
std::string kernel(const std::string& instruction) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry apply(.param .u32 first, .param .u64 out)\n{\n"
         ".reg .b32 %r<7>; .reg .b64 %a<5>; .reg .f32 %x, %y; .reg .pred %p;\n"
         "ld.param.u32 %r0, [first];\nld.param.u64 %a0, [out];\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 256, %r2;\n"
         "mad.lo.u32 %r4, %r3, 64, %r0;\nmov.u32 %r5, 64;\nmov.u64 %a2, 0xCBF29CE484222325;\n"
         "again:\nmul.lo.u32 %r6, %r4, 0x9E3779B1;\nmov.b32 %x, %r6;\n" +
         instruction +
         " %y, %x;\nmov.b32 %r6, %y;\ncvt.u64.u32 %a3, %r6;\nxor.b64 %a2, %a2, %a3;\n"
         "mul.lo.u64 %a2, %a2, 0x100000001B3;\nadd.u32 %r4, %r4, 1;\nsub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p, "
         "%r5, 0;\n"
         "@%p bra again;\nmad.wide.u32 %a1, %r3, 8, %a0;\nst.global.u64 [%a1], %a2;\nret;\n}\n";
}

launch::Launch launch_of(uint32_t first) {
  launch::Launch launch;
  launch.entry = "apply";
  launch.shape.grid = {kSlice / kGroup / kBlock, 1, 1};
  launch.shape.block = {kBlock, 1, 1};
  launch.add_scalar(first);
  launch.add_buffer({"out", std::vector<std::byte>(size_t{8} * (kSlice / kGroup)), false, false, true});
  return launch;
}

// What the simulator's op gives for the kGroup inputs from number `first` on, digested as the kernel does.
uint64_t digest_of_lanes(isa::Op op, uint32_t first) {
  constexpr uint32_t kLanes = 32, kRow = 4 * kLanes;
  alignas(64) std::array<std::byte, 4 * kRow> rows{};
  op.a = 2 * kRow;
  op.d = 3 * kRow;
  op.b = op.c = isa::kZero;
  uint64_t digest = kBasis;
  std::array<uint32_t, kLanes> words{};
  for (uint32_t at = 0; at < kGroup; at += kLanes) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) words[lane] = input(first + at + lane);
    std::memcpy(rows.data() + op.a, words.data(), kRow);
    op.lanes(op, rows.data(), ~0u);
    std::memcpy(words.data(), rows.data() + op.d, kRow);
    for (const uint32_t word : words) digest = (digest ^ word) * kPrime;
  }
  return digest;
}

class Inputs : public testing::TestWithParam<std::string> {};

TEST_P(Inputs, SimulatorAndGpuAgree) {
  BITWELL_NEEDS_GPU(device);
  const std::string& instruction = GetParam();
  const auto loaded = device->load(kernel(instruction));
  const std::string opcode = instruction.substr(0, instruction.find('.'));
  const std::optional<isa::Op> op =
      isa::captured_op(opcode, false, instruction.find(".ftz") != std::string::npos);
  ASSERT_TRUE(op) << opcode;
  std::atomic<uint64_t> wrong = 0;
  std::atomic<uint32_t> example = 0;
  const uint64_t all = inputs();
  for (uint64_t first = 0; first < all; first += kSlice) {
    launch::Launch on_gpu = launch_of(static_cast<uint32_t>(first));
    device->run(*loaded, on_gpu, kLimit);
    const std::vector<std::byte>& digests = on_gpu.buffers.back().bytes;
    constexpr uint32_t kPiece = 1u << 11;  // groups
    suite::each_in_parallel(kSlice / kGroup / kPiece, 0, [&](size_t piece) {
      for (size_t group = piece * kPiece; group < (piece + 1) * kPiece; ++group) {
        const auto number = static_cast<uint32_t>(first + group * kGroup);
        uint64_t expected = 0;
        std::memcpy(&expected, digests.data() + 8 * group, 8);
        if (digest_of_lanes(*op, number) == expected) continue;
        ++wrong;
        example = number;
      }
    });
  }
  EXPECT_EQ(wrong.load(), 0u) << instruction << " differs, for one in the " << kGroup
                              << " inputs from number 0x" << std::hex << example.load();
  std::printf("%s: %llu inputs, %llu groups of %u with a mismatch with %s\n", instruction.c_str(),
              static_cast<unsigned long long>(all), static_cast<unsigned long long>(wrong.load()), kGroup,
              device->name().c_str());
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(SpecialFunction, Inputs,
                         testing::Values("lg2.approx.f32", "tanh.approx.f32", "sin.approx.f32",
                                         "cos.approx.f32", "lg2.approx.ftz.f32", "sin.approx.ftz.f32",
                                         "cos.approx.ftz.f32", "ex2.approx.f32", "rcp.approx.f32",
                                         "rsqrt.approx.f32", "sqrt.approx.f32", "ex2.approx.ftz.f32",
                                         "rcp.approx.ftz.f32", "rsqrt.approx.ftz.f32", "sqrt.approx.ftz.f32"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace bitwell::device
