// The clock of multiprocessors whose tensor cores are busy: it depends on the operands' values, by the power
// they draw.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "experiments/gpu/probe/probe.h"

namespace bitwell::gpu {
namespace {

constexpr int kWords = 128;  // of D in a thread, m64n256

std::string registers(const std::string& prefix) {
  std::string out;
  for (int i = 0; i < kWords; ++i) out += (i == 0 ? "" : ", ") + prefix + std::to_string(i);
  return "{" + out + "}";
}

// Two warpgroups of each CTA multiply what the buffer gives, 16 products in a group, as often as they are
// told. Thread 0 of each CTA writes both clocks before and after.
std::string text() {
  std::string products;
  for (int i = 0; i < 16; ++i)
    products += fmt::format(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {}, left, right, one, 1, 1, 0, 0;\n  ",
        registers("d"));
  return fmt::format(R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry busy(.param .u64 out, .param .u64 in, .param .u32 passes)
{{
  .reg .pred more, one, q;
  .reg .b64 to, from, at, left, right, cycles, ns, cycles_then, ns_then;
  .reg .b32 n, tid, cta, sh, x, i, d<{}>;
  ld.param.u64 to, [out];
  ld.param.u64 from, [in];
  ld.param.u32 n, [passes];
  mov.u32 tid, %tid.x;
  mov.u32 cta, %ctaid.x;
  mov.u32 sh, tiles;
  setp.eq.u32 one, 0, 0;
  mov.u32 i, tid;
FILL:
  mul.wide.u32 at, i, 4;
  add.u64 at, at, from;
  ld.global.u32 x, [at];
  mad.lo.u32 d0, i, 4, sh;
  st.shared.u32 [d0], x;
  add.u32 i, i, 256;
  setp.lt.u32 more, i, 12288;
  @more bra FILL;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 x, sh, 4; and.b32 x, x, 0x3FFF; cvt.u64.u32 left, x;
  or.b64 left, left, 0x4000004000010000; add.u64 right, left, 512;
  {}
  mov.u64 cycles, %clock64;
  mov.u64 ns, %globaltimer;
PASS:
  wgmma.fence.sync.aligned;
  {}
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  sub.u32 n, n, 1;
  setp.ne.u32 more, n, 0;
  @more bra PASS;
  mov.u64 cycles_then, %clock64;
  mov.u64 ns_then, %globaltimer;
  mov.b32 x, 0;
  {}
  setp.eq.u32 q, x, 0x12345678; @q st.global.u32 [from], x;
  setp.ne.u32 more, tid, 0;
  @more bra END;
  sub.u64 cycles, cycles_then, cycles;
  sub.u64 ns, ns_then, ns;
  mad.wide.u32 to, cta, 16, to;
  st.global.u64 [to], cycles;
  st.global.u64 [to+8], ns;
END:
  ret;
}}
)",
                     kWords, cost_probe::repeat(kWords, "mov.b32 d#, 0;"), products,
                     cost_probe::repeat(kWords, "xor.b32 x, x, d#;"));
}

// Finite binary16 values between -2 and 2, or zeros.
std::vector<std::byte> operands(bool random) {
  std::vector<std::byte> out(48 << 10);
  if (!random) return out;
  std::mt19937 draw(1);
  for (size_t i = 0; i < out.size(); i += 2) {
    const auto bits = static_cast<uint16_t>(draw() & 0xBFFF);
    std::memcpy(&out[i], &bits, 2);
  }
  return out;
}

struct Busy {
  double megahertz, cycles;  // over all CTAs: the median clock, and cycles of a product
};

Busy busy(device::Device& device, device::Device::Module& module, bool random, uint32_t passes) {
  const auto sms = static_cast<uint32_t>(device.multiprocessors());
  launch::Launch launch;
  launch.entry = "busy";
  launch.shape.grid = {sms, 1, 1};
  launch.shape.block = {256, 1, 1};
  launch.shape.dynamic_shared = 48 << 10;
  const size_t out = launch.add_buffer({"out", std::vector<std::byte>(16 * size_t{sms}), true, false, true});
  launch.add_buffer({"in", operands(random), true, false, false});
  launch.add_scalar(passes);
  device.run(module, launch, std::chrono::seconds(20));
  std::vector<double> clock, each;
  for (uint32_t c = 0; c < sms; ++c) {
    std::array<uint64_t, 2> took{};
    std::memcpy(took.data(), &launch.buffers[out].bytes[16 * c], 16);
    clock.push_back(1000.0 * static_cast<double>(took[0]) / static_cast<double>(took[1]));
    each.push_back(static_cast<double>(took[0]) / passes / 32);
  }
  std::sort(clock.begin(), clock.end());
  std::sort(each.begin(), each.end());
  return {clock[sms / 2], each[sms / 2]};
}

}  // namespace

Rows probe_clocks(device::Device& device) {
  Rows out;
  const auto module = device.load(text());
  for (const bool random : {false, true})
    for (const uint32_t passes : {32U, 256U, 2048U, 16384U, 131072U}) {
      const Busy b = busy(device, *module, random, passes);
      const std::string with =
          fmt::format("m64n256k16 f16, operands {}, {} products", random ? "at random" : "zero", 32 * passes);
      out.push_back({"clock with busy tensor cores", with, b.megahertz, "MHz"});
      out.push_back({"wgmma on all multiprocessors", with, b.cycles, "cycles"});
    }
  return out;
}

}  // namespace bitwell::gpu
