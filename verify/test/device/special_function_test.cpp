// The fp32 instructions made of the special-function unit: simulator against GPU over every input. Those of
// fp16 and bf16 are enumerated by instructions_test.cpp.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/suite/parallel.h"

namespace bitwell::verify {
namespace {

constexpr uint32_t kBlock = 256;
constexpr uint32_t kSlice = 1u << 22;  // inputs a launch

// y[i] = instruction(first + i)
std::string kernel(const std::string& instruction) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry apply(.param .u32 first, .param .u64 out)\n{\n"
         ".reg .b32 %r<6>; .reg .b64 %a<3>; .reg .f32 %x, %y;\n"
         "ld.param.u32 %r0, [first];\nld.param.u64 %a0, [out];\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 256, %r2;\n"
         "add.u32 %r4, %r0, %r3;\nmov.b32 %x, %r4;\n" +
         instruction + " %y, %x;\nmad.wide.u32 %a1, %r3, 4, %a0;\nst.global.f32 [%a1], %y;\nret;\n}\n";
}

Launch launch_of(uint32_t first) {
  Launch launch;
  launch.entry = "apply";
  launch.shape.grid = {kSlice / kBlock, 1, 1};
  launch.shape.block = {kBlock, 1, 1};
  launch.add_scalar(first);
  launch.add_buffer({"out", std::vector<std::byte>(size_t{4} * kSlice), false, false, true});
  return launch;
}

const uint32_t* words(const Launch& launch) {
  return reinterpret_cast<const uint32_t*>(launch.buffers.back().bytes.data());
}

class EveryInput : public testing::TestWithParam<std::string> {};

TEST_P(EveryInput, SimulatorAndGpuAgree) {
  BITWELL_NEEDS_GPU(device);
  const std::string text = kernel(GetParam());
  const auto loaded = device->load(text);
  const isa::Program program = isa::compile(ptx::parse(text), "apply");
  std::atomic<uint64_t> wrong = 0;
  std::atomic<uint32_t> example = 0;
  std::mutex mutex;  // of the device
  each_in_parallel((uint64_t{1} << 32) / kSlice, 0, [&](size_t slice) {
    const auto first = static_cast<uint32_t>(slice * kSlice);
    Launch on_gpu = launch_of(first);
    Launch simulated = on_gpu;
    {
      const std::scoped_lock lock(mutex);
      device->run(*loaded, on_gpu);
    }
    isa::Options options;
    options.checked = false;
    simulate(program, simulated, options, true);
    for (uint32_t i = 0; i < kSlice; ++i)
      if (words(simulated)[i] != words(on_gpu)[i]) {
        ++wrong;
        example = first + i;
      }
  });
  EXPECT_EQ(wrong.load(), 0u) << GetParam() << " differs, for one at input 0x" << std::hex << example.load();
  std::printf("%s: 4,294,967,296 inputs, %llu mismatches with %s\n", GetParam().c_str(),
              static_cast<unsigned long long>(wrong.load()), device->name().c_str());
}

INSTANTIATE_TEST_SUITE_P(SpecialFunction, EveryInput,
                         testing::Values("rcp.approx.ftz.f32", "rcp.approx.f32", "rsqrt.approx.ftz.f32",
                                         "rsqrt.approx.f32", "sqrt.approx.ftz.f32", "sqrt.approx.f32",
                                         "ex2.approx.ftz.f32", "ex2.approx.f32", "lg2.approx.ftz.f32",
                                         "lg2.approx.f32", "sin.approx.ftz.f32", "sin.approx.f32",
                                         "cos.approx.ftz.f32", "cos.approx.f32", "tanh.approx.f32"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace bitwell::verify
