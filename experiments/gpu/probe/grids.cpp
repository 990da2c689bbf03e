// Whole grids: how long a launch takes that does nothing, and what all multiprocessors together read.
#include <fmt/format.h>

#include "experiments/gpu/probe/probe.h"
#include "verify/device/resident.h"
#include "verify/device/timing.h"

namespace bitwell::gpu {
namespace {

constexpr const char* kEmpty = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry empty() { ret; }
)";

// Each CTA reads `steps` stretches of `bytes` through a ring of `stages`; the CTAs take turns in the buffer,
// which begins anew behind its end.
constexpr const char* kRing = R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry ring_of_copies(.param .u64 a0, .param .u32 a1, .param .u32 a2, .param .u32 a3, .param .u64 a4)
{
  .reg .pred p, done;
  .reg .b32 tid, bytes, stages, steps, issued, taken, sh, bar, to, slot, next, parity, cta, ctas;
  .reg .b64 from, at, step, mask, offset;
  mov.u32 tid, %tid.x;
  setp.ne.u32 p, tid, 0;
  @p bra END;
  ld.param.u64 from, [a0];
  ld.param.u32 bytes, [a1];
  ld.param.u32 stages, [a2];
  ld.param.u32 steps, [a3];
  ld.param.u64 mask, [a4];
  mov.u32 sh, ring;
  mov.u32 cta, %ctaid.x;
  mov.u32 ctas, %nctaid.x;
  mul.wide.u32 offset, cta, bytes;
  mul.wide.u32 step, ctas, bytes;
  mov.u32 slot, 0;
INIT:
  mad.lo.u32 bar, slot, 8, sh;
  mbarrier.init.shared.b64 [bar], 1;
  add.u32 slot, slot, 1;
  setp.lt.u32 p, slot, stages;
  @p bra INIT;
  fence.mbarrier_init.release.cluster;
  mov.u32 issued, 0;
  mov.u32 next, 0;
  mov.u32 taken, 0;
  mov.u32 slot, 0;
  mov.u32 parity, 0;
ISSUE:
  setp.ge.u32 p, issued, steps;
  @p bra TAKE;
  mad.lo.u32 bar, next, 8, sh;
  mad.lo.u32 to, next, bytes, sh;
  add.u32 to, to, 1024;
  and.b64 at, offset, mask;
  add.u64 at, at, from;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], bytes;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [at], bytes, [bar];
  add.u64 offset, offset, step;
  add.u32 issued, issued, 1;
  add.u32 next, next, 1;
  setp.eq.u32 p, next, stages;
  @p mov.u32 next, 0;
  add.u32 tid, taken, stages;
  setp.lt.u32 p, issued, tid;
  @p bra ISSUE;
TAKE:
  mad.lo.u32 bar, slot, 8, sh;
WAIT:
  mbarrier.try_wait.parity.shared.b64 done, [bar], parity;
  @!done bra WAIT;
  add.u32 taken, taken, 1;
  add.u32 slot, slot, 1;
  setp.eq.u32 p, slot, stages;
  @p xor.b32 parity, parity, 1;
  @p mov.u32 slot, 0;
  setp.lt.u32 p, taken, steps;
  @p bra ISSUE;
END:
  ret;
}
)";

double time(device::Device& device, const char* text, launch::Launch launch, size_t repetitions) {
  const auto module = device.load(text);
  const device::Resident resident(device, {&launch, 1}, {}, {module.get()});
  return device::time_on(
             device, [&](size_t, void* stream) { resident.enqueue(stream); }, repetitions, 10)
      .median;
}

}  // namespace

Rows probe_grids(device::Device& device) {
  Rows out;
  for (const uint32_t ctas : {1U, 32U, 132U, 264U, 1056U, 4224U, 16896U})
    for (const uint32_t threads : {32U, 128U, 384U, 1024U})
      for (const uint32_t cluster : {1U, 2U}) {
        if (ctas % cluster != 0) continue;
        launch::Launch launch;
        launch.entry = "empty";
        launch.shape.grid = {ctas, 1, 1};
        launch.shape.block = {threads, 1, 1};
        launch.shape.cluster = {cluster, 1, 1};
        out.push_back({"empty kernel",
                       fmt::format("{} CTAs of {} threads, clusters of {}", ctas, threads, cluster),
                       time(device, kEmpty, launch, 64), "us"});
      }
  const auto sms = static_cast<uint32_t>(device.multiprocessors());
  for (const bool cold : {false, true})
    for (const uint32_t bytes : {2048U, 8192U, 32768U})
      for (const uint32_t stages : {1U, 2U, 4U, 6U, 16U})
        for (const uint32_t ctas : {sms / 4, sms / 2, sms}) {
          if (bytes * stages > 192 << 10) continue;
          const uint64_t buffer = cold ? uint64_t{1} << 32 : uint64_t{1} << 24;
          const double total = cold ? 2e9 : 4e9;
          const auto steps = static_cast<uint32_t>(total / ctas / bytes * (stages * bytes < 16384 ? 0.1 : 1));
          launch::Launch launch;
          launch.entry = "ring_of_copies";
          launch.shape.grid = {ctas, 1, 1};
          launch.shape.block = {32, 1, 1};
          launch.shape.dynamic_shared = 1024 + bytes * stages;
          launch.add_buffer({"from", {}, true, false, false, buffer});
          launch.add_scalar(bytes);
          launch.add_scalar(stages);
          launch.add_scalar(steps);
          launch.add_scalar(buffer - 1);
          const double us = time(device, kRing, launch, 1);
          out.push_back({cold ? "cp.async.bulk, DRAM" : "cp.async.bulk, L2",
                         fmt::format("{} CTAs, {} stages of {} bytes", ctas, stages, bytes),
                         static_cast<double>(steps) * ctas * bytes / us / 1000, "GB/s"});
        }
  return out;
}

}  // namespace bitwell::gpu
