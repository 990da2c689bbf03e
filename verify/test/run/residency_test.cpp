// How many CTAs a device holds at once: against CUDA's own occupancy calculator, which its headers ship, and
// what the result says of what it rests on.
#include "model/run/turns/residency.h"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "model/isa/compile/compile.h"
#include "model/machine/arch.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"

namespace bitwell::run {
namespace {

isa::Program entry(const std::string& directives, const std::string& target = "sm_90a") {
  return isa::compile(ptx::parse(".version 9.0\n.target " + target +
                                 "\n.address_size 64\n.visible .entry e() " + directives + " {ret;}\n"),
                      "e");
}

// CTAs of a multiprocessor by cuda_occupancy.h.
uint32_t by_cuda(const machine::Arch& arch, uint32_t threads, uint32_t registers, uint64_t shared) {
  cudaOccDeviceProp device;
  device.computeMajor = arch.sm / 10;
  device.computeMinor = arch.sm % 10;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = static_cast<int>(arch.sm_threads);
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = arch.sm_shared;
  device.sharedMemPerBlockOptin = arch.shared;
  device.reservedSharedMemPerBlock = arch.sm_shared - arch.shared;
  device.numSms = 132;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = static_cast<int>(registers);
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = arch.shared;
  cudaOccDeviceState state;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state,
                                                    static_cast<int>(threads), shared),
            CUDA_OCC_SUCCESS);
  return static_cast<uint32_t>(result.activeBlocksPerMultiprocessor);
}

// Whatever its threads, registers and shared memory, as many CTAs as CUDA's calculator says; none where a
// launch is refused.
RC_GTEST_PROP(Residency, IsWhatTheOccupancyCalculatorOfCudaSays, ()) {
  const int sm = *rc::gen::element(80, 86, 90, 100);
  const machine::Arch& arch = machine::arch(sm);
  const auto threads = *rc::gen::oneOf(rc::gen::inRange<uint32_t>(1, 1025),
                                       rc::gen::element(1u, 31u, 32u, 33u, 96u, 128u, 129u, 1023u, 1024u));
  const auto registers =
      *rc::gen::oneOf(rc::gen::inRange<uint32_t>(1, 256), rc::gen::element(1u, 32u, 33u, 64u, 65u, 255u));
  const auto most = static_cast<uint32_t>(arch.shared);
  const auto shared = *rc::gen::oneOf(rc::gen::inRange<uint32_t>(0, most + 1),
                                      rc::gen::element(0u, 1u, 128u, 129u, most / 2, most));
  const isa::Program program = entry("", "sm_" + std::to_string(sm));
  const Shape shape{
      .grid = {1 << 20, 1, 1}, .block = {threads, 1, 1}, .dynamic_shared = shared, .registers = registers};
  const uint32_t expected = by_cuda(arch, threads, registers, shared);
  if (expected == 0) {
    RC_ASSERT_THROWS_AS(check_launch(program, shape, {}), machine::InputError);
    return;
  }
  check_launch(program, shape, {});
  const Residency r = residency(program, shape);
  RC_ASSERT(r.ctas_per_sm == expected);
  RC_ASSERT(r.sure_per_sm == expected);
}

// The same for every number of warps and registers.
TEST(Residency, OfEveryNumberOfWarpsAndRegisters) {
  const machine::Arch& arch = machine::arch(90);
  const isa::Program program = entry("");
  for (uint32_t warps = 1; warps <= 32; ++warps)
    for (uint32_t registers = 1; registers <= 255; ++registers) {
      const uint32_t expected = by_cuda(arch, 32 * warps, registers, 0);
      const Shape shape{.grid = {1 << 20, 1, 1}, .block = {32 * warps, 1, 1}, .registers = registers};
      ASSERT_EQ(residency(program, shape).ctas_per_sm, expected) << warps << " warps of " << registers;
    }
}

Residency of(const std::string& directives, const Shape& shape) {
  return residency(entry(directives), shape);
}

TEST(Residency, SaysWhatItRestsOn) {
  const Shape shape{.grid = {100000, 1, 1}, .block = {256, 1, 1}};
  Shape known = shape;
  known.registers = 128;
  EXPECT_EQ(of("", shape).rests_on, "threads; registers, which PTX does not tell, may allow fewer");
  EXPECT_EQ(of("", known).rests_on, "registers, 128 a thread");
  EXPECT_EQ(of("", known).ctas_per_sm, 2u);
  EXPECT_EQ(of(".maxnreg 128", shape).rests_on,
            "threads; registers may allow fewer, 2 for sure by .maxnreg 128");
  EXPECT_EQ(of(".maxntid 256 .minnctapersm 3", shape).rests_on,
            "threads; registers may allow fewer, 3 for sure by .minnctapersm 3");
  EXPECT_EQ(of(".reqntid 256", shape).rests_on, "threads; registers may allow fewer, 1 for sure by .reqntid");
  EXPECT_EQ(of(".maxnreg 32", shape).rests_on, "threads");
  EXPECT_EQ(of(".maxnreg 32", shape).sure_per_sm, 8u);
}

// A cluster lies within one of the 8 GPCs of a GH100, of 18 multiprocessors at most.
TEST(Residency, AClusterLiesInOneProcessingCluster) {
  Shape shape{.grid = {30000, 1, 1}, .cluster = {5, 1, 1}, .dynamic_shared = 227 << 10};
  EXPECT_EQ(of("", shape).clusters, 24u);  // 26 would be 130 of 132 multiprocessors
  EXPECT_NE(of("", shape).rests_on.find("; a cluster lies in one of 8 GPCs of 18 SMs at most"),
            std::string::npos);
  shape.cluster = {2, 1, 1};
  EXPECT_EQ(of("", shape).clusters, 66u);
  EXPECT_EQ(residency(entry("", "sm_100a"), shape).clusters, 74u);
}

// An RTX PRO 6000 has 188 multiprocessors of 48 warps and 100 KiB, of which a CTA may have 99; a GB10 has 48.
TEST(Residency, RtxBlackwellCardsHaveLessOfEverythingOnAMultiprocessor) {
  const auto clusters = [](const char* target, Shape shape) {
    shape.grid = {30000, 1, 1};
    return residency(entry("", target), shape).clusters;
  };
  EXPECT_EQ(clusters("sm_120a", {.dynamic_shared = 99 << 10}), 188u);
  EXPECT_EQ(clusters("sm_120a", {.dynamic_shared = 49 << 10}), 2 * 188u);
  EXPECT_EQ(clusters("sm_120a", {.block = {1024, 1, 1}}), 188u);
  EXPECT_EQ(clusters("sm_120a", {.block = {768, 1, 1}}), 2 * 188u);
  EXPECT_EQ(clusters("sm_120a", {.block = {32, 1, 1}}), 24 * 188u);
  EXPECT_EQ(clusters("sm_121a", {.dynamic_shared = 99 << 10}), 48u);
}

TEST(Residency, ACooperativeLaunchThatRegistersDoNotLetFitIsRefused) {
  const isa::Program program = entry("");
  machine::Memory memory;
  Shape shape{.grid = {2 * 132 + 1, 1, 1}, .block = {256, 1, 1}, .registers = 128};
  shape.cooperative = true;
  try {
    run(program, shape, {}, memory);
    ADD_FAILURE() << "it runs";
  } catch (const machine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("265 CTAs, of which 264 are resident at once at most (limited by "
                                         "registers, 128 a thread)"),
              std::string::npos)
        << e.what();
  }
  shape.grid[0] = 2 * 132;
  run(program, shape, {}, memory);
}

// PTX ISA 9.0, 11.4, ".blocksareclusters": the grid of the launch counts clusters.
TEST(BlocksAreClusters, TheGridCountsClustersAndTheBlockIsTheEntrys) {
  const isa::Program program = entry(".blocksareclusters .reqntid 32, 2 .reqnctapercluster 2, 3");
  const Shape full = full_shape(program, {.grid = {5, 1, 7}});
  EXPECT_EQ(full.grid, (std::array<uint32_t, 3>{10, 3, 7}));
  EXPECT_EQ(full.block, (std::array<uint32_t, 3>{32, 2, 1}));
  EXPECT_EQ(full.cluster, (std::array<uint32_t, 3>{2, 3, 1}));
  check_launch(program, {.grid = {5, 1, 7}}, {});
  check_launch(program, {.grid = {5, 1, 7}, .block = {32, 2, 1}, .cluster = {2, 3, 1}}, {});
  EXPECT_THROW(check_launch(program, {.grid = {5, 1, 7}, .block = {64, 1, 1}}, {}), machine::InputError);
  EXPECT_THROW(check_launch(program, {.grid = {5, 1, 7}, .cluster = {3, 2, 1}}, {}), machine::InputError);
  EXPECT_THROW(check_launch(program, {.grid = {1u << 30, 1, 1}}, {}), machine::InputError) << "2^31 CTAs";
}

// Every CTA is there once, with the numbers that the grid of CTAs has.
TEST(BlocksAreClusters, EveryCtaRunsOnce) {
  const isa::Program program = isa::compile(ptx::parse(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry e(.param .u64 out) .blocksareclusters .reqntid 1 .reqnctapercluster 2 {
.reg .b32 %r<4>; .reg .b64 %d<3>;
ld.param.u64 %d0, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nclusterid.x;
mad.lo.u32 %r1, %r1, 100, %r2; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;
atom.global.add.u32 %r3, [%d0], %r1; ret; })"),
                                            "e");
  machine::Memory memory;
  const uint64_t out = memory.allocate("out", 24).base();
  memory.write(out, std::vector<std::byte>(24));
  std::vector<std::byte> argument(8);
  std::memcpy(argument.data(), &out, 8);
  run(program, {.grid = {3, 1, 1}}, {argument}, memory);
  std::vector<std::byte> bytes(24);
  memory.read(out, bytes);
  std::array<uint32_t, 6> words{};
  std::memcpy(words.data(), bytes.data(), 24);
  EXPECT_EQ(words, (std::array<uint32_t, 6>{603, 603, 603, 603, 603, 603}));
}

// Before compute capability 8.0 shared memory is given in units of 256 bytes, since then of 128.
TEST(Residency, SharedMemoryIsGivenInUnits) {
  for (const auto& [sm, unit] : {std::pair{75, 256u}, {70, 256u}, {80, 128u}, {90, 128u}, {100, 128u}}) {
    EXPECT_EQ(allocated_shared(sm, 0), 0u) << sm;
    for (const uint64_t units : {1u, 2u, 7u}) {
      EXPECT_EQ(allocated_shared(sm, units * unit), units * unit) << sm;
      EXPECT_EQ(allocated_shared(sm, units * unit - unit + 1), units * unit) << sm;
    }
  }
}

// 256 registers are allotted of 255: eight warps fill a multiprocessor's 65,536. More no thread has.
TEST(Residency, APromiseOfRegistersCountsUpToTheMostThatThereAre) {
  Shape shape;
  shape.grid = shape.block = {1, 1, 1};
  EXPECT_EQ(residency(entry(".maxnreg 255"), shape).sure_per_sm, 8u);
  EXPECT_EQ(residency(entry(".maxnreg 300"), shape).sure_per_sm, 0u);
}

}  // namespace
}  // namespace bitwell::run
