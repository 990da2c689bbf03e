// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 against the GPU, over every upper word.
#include "model/isa/family/scalar/approximate_double.h"

#include <atomic>
#include <thread>

#include "gpu.h"
#include "verify/launch/launch.h"

namespace bitwell::device {
namespace {

constexpr uint32_t kChunk = 1u << 28;  // operands a launch

// y[i] = the upper word for the upper word first + i, with a lower word that changes; ~0 where the result's
// lower word is not 0.
std::string kernel(const std::string& opcode) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry apply(.param .u32 first, .param .u64 out)\n{\n"
         ".reg .b32 %r<9>; .reg .b64 %a<3>; .reg .f64 %x, %y; .reg .pred %p;\n"
         "ld.param.u32 %r0, [first];\nld.param.u64 %a0, [out];\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 256, %r2;\n"
         "add.u32 %r4, %r0, %r3;\nmul.lo.u32 %r5, %r4, 0x9E3779B1;\nmov.b64 %x, {%r5, %r4};\n" +
         opcode +
         ".approx.ftz.f64 %y, %x;\nmov.b64 {%r6, %r7}, %y;\nsetp.eq.u32 %p, %r6, 0;\n"
         "selp.b32 %r8, %r7, 0xFFFFFFFF, %p;\nmad.wide.u32 %a1, %r3, 4, %a0;\nst.global.b32 [%a1], "
         "%r8;\nret;\n}\n";
}

void every_upper_word(const std::string& opcode, uint32_t (*upper_word)(uint32_t)) {
  BITWELL_NEEDS_GPU(device);
  const auto loaded = device->load(kernel(opcode));
  std::atomic<uint64_t> wrong = 0;
  std::atomic<uint32_t> example = 0;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += kChunk) {
    launch::Launch launch;
    launch.entry = "apply";
    launch.shape.grid = {kChunk / 256, 1, 1};
    launch.shape.block = {256, 1, 1};
    launch.add_scalar(static_cast<uint32_t>(first));
    launch.add_buffer({"out", std::vector<std::byte>(size_t{4} * kChunk), false, false, true});
    device->run(*loaded, launch);
    const auto* got = reinterpret_cast<const uint32_t*>(launch.buffers.back().bytes.data());
    std::vector<std::jthread> pool;
    for (uint32_t slice = 0; slice < 16; ++slice)
      pool.emplace_back([&, slice] {
        for (uint32_t i = slice * (kChunk / 16); i < (slice + 1) * (kChunk / 16); ++i)
          if (const auto operand = static_cast<uint32_t>(first) + i; upper_word(operand) != got[i]) {
            ++wrong;
            example = operand;
          }
      });
  }
  EXPECT_EQ(wrong.load(), 0u) << opcode << " differs, for one at upper word 0x" << std::hex << example.load();
  std::printf("%s.approx.ftz.f64: 4,294,967,296 upper words, %llu mismatches with %s\n", opcode.c_str(),
              static_cast<unsigned long long>(wrong.load()), device->name().c_str());
}

TEST(ApproximateDouble, ReciprocalsAreTheGpus) { every_upper_word("rcp", isa::reciprocal_upper); }
TEST(ApproximateDouble, ReciprocalRootsAreTheGpus) { every_upper_word("rsqrt", isa::reciprocal_root_upper); }

}  // namespace
}  // namespace bitwell::device
