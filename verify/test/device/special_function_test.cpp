// The special-function unit and the instructions made of it: the tables recorded, then simulator against GPU
// over every fp32 input.
#include "model/number/special_function.h"

#include <lzma.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "gpu.h"
#include "model/ptx/parse.h"
#include "verify/capture/digest.h"

namespace bitwell::verify {
namespace {

using number::SpecialFunction;

constexpr uint32_t kBlock = 256;
constexpr uint32_t kChunk = 1u << 24;  // inputs a launch

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

Launch launch_of(uint32_t first, uint32_t count) {
  Launch launch;
  launch.entry = "apply";
  launch.shape.grid = {count / kBlock, 1, 1};
  launch.shape.block = {kBlock, 1, 1};
  launch.add_scalar(first);
  launch.add_buffer({"out", std::vector<std::byte>(size_t{4} * count), false, false, true});
  return launch;
}

const uint32_t* words(const Launch& launch) {
  return reinterpret_cast<const uint32_t*>(launch.buffers.back().bytes.data());
}

struct Unit {
  SpecialFunction function;
  const char* name;
};
constexpr Unit kUnits[] = {{SpecialFunction::rcp, "rcp"},
                           {SpecialFunction::rsqrt, "rsqrt"},
                           {SpecialFunction::sqrt, "sqrt"},
                           {SpecialFunction::ex2, "ex2"}};

TEST(SpecialFunction, TablesAreTheGpus) {
  BITWELL_NEEDS_GPU(device);
  for (const Unit& unit : kUnits) {
    const auto loaded = device->load(kernel(std::string(unit.name) + ".approx.ftz.f32"));
    const number::TableShape shape = number::table_shape(unit.function);
    Launch launch = launch_of(shape.first_input, static_cast<uint32_t>(shape.size));
    device->run(*loaded, launch);
    size_t wrong = 0;
    std::vector<int8_t> differences(shape.size);
    for (uint32_t i = 0; i < shape.size; ++i) {
      const auto d = static_cast<int32_t>(words(launch)[i] - number::table_base(unit.function, i));
      ASSERT_LE(std::abs(d), 127) << unit.name << " entry " << i;
      differences[i] = static_cast<int8_t>(d);
      wrong += number::special_function(unit.function, shape.first_input + i) != words(launch)[i] ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0u) << unit.name << ": the recorded table is not this GPU's";
    const char* folder = std::getenv("BITWELL_CAPTURES");
    if (folder == nullptr) continue;
    std::vector<uint8_t> packed(lzma_stream_buffer_bound(shape.size));
    size_t size = 0;
    ASSERT_EQ(lzma_easy_buffer_encode(9 | LZMA_PRESET_EXTREME, LZMA_CHECK_CRC64, nullptr,
                                      reinterpret_cast<const uint8_t*>(differences.data()), shape.size,
                                      packed.data(), &size, packed.size()),
              LZMA_OK);
    std::ofstream(std::string(folder) + "/" + unit.name + ".xz", std::ios::binary)
        .write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(size));
  }
}

class EveryInput : public testing::TestWithParam<std::string> {};

TEST_P(EveryInput, SimulatorAndGpuAgree) {
  BITWELL_NEEDS_GPU(device);
  const std::string text = kernel(GetParam());
  const auto loaded = device->load(text);
  const isa::Program program = isa::compile(ptx::parse(text), "apply");
  std::atomic<uint64_t> wrong = 0;
  std::atomic<uint32_t> example = 0;
  // One launch on the GPU, then its slices on the simulator, a host thread each.
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += uint64_t{16} * kChunk) {
    Launch on_gpu = launch_of(static_cast<uint32_t>(first), 16 * kChunk);
    device->run(*loaded, on_gpu);
    std::vector<std::jthread> pool;
    for (uint32_t slice = 0; slice < 16; ++slice)
      pool.emplace_back([&, slice] {
        Launch simulated = launch_of(static_cast<uint32_t>(first) + slice * kChunk, kChunk);
        isa::Options options;
        options.checked = false;
        simulate(program, simulated, options, true);
        const uint32_t* expected = words(on_gpu) + size_t{slice} * kChunk;
        for (uint32_t i = 0; i < kChunk; ++i)
          if (words(simulated)[i] != expected[i]) {
            ++wrong;
            example = static_cast<uint32_t>(first) + slice * kChunk + i;
          }
      });
  }
  EXPECT_EQ(wrong.load(), 0u) << GetParam() << " differs, for one at input 0x" << std::hex << example.load();
  std::printf("%s: 4,294,967,296 inputs, %llu mismatches with %s\n", GetParam().c_str(),
              static_cast<unsigned long long>(wrong.load()), device->name().c_str());
}

INSTANTIATE_TEST_SUITE_P(SpecialFunction, EveryInput,
                         testing::Values("rcp.approx.ftz.f32", "rcp.approx.f32", "rsqrt.approx.ftz.f32",
                                         "rsqrt.approx.f32", "sqrt.approx.ftz.f32", "sqrt.approx.f32",
                                         "ex2.approx.ftz.f32", "ex2.approx.f32"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace bitwell::verify
