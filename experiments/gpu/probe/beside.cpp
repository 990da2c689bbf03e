// What a load waits for while all multiprocessors stream copies out of L2.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "experiments/gpu/probe/probe.h"

namespace bitwell::gpu {
namespace {

// Thread 0 of each CTA keeps a ring of `stages` copies of `bytes` under way, the CTAs taking turns in the
// first 16 MiB of the buffer; with no stages, it does nothing. Thread 32 meanwhile loads `loads` words, one
// after the other, each from a line of its own in the 16 MiB behind, which it has read before, and writes how
// many cycles that took; then it ends the copies.
constexpr const char* kBeside = R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry beside(.param .u64 out, .param .u64 a0, .param .u32 a1, .param .u32 a2, .param .u32 a3)
{
  .reg .pred p, done;
  .reg .b32 tid, bytes, stages, issued, taken, sh, bar, to, slot, next, parity, cta, ctas, loads, left, x, stop;
  .reg .b64 from, at, step, offset, begin, end, chase, result, wide;
  mov.u32 tid, %tid.x;
  ld.param.u64 from, [a0];
  ld.param.u64 result, [out];
  ld.param.u32 bytes, [a1];
  ld.param.u32 stages, [a2];
  ld.param.u32 loads, [a3];
  mov.u32 sh, ring;
  mov.u32 cta, %ctaid.x;
  mov.u32 ctas, %nctaid.x;
  setp.ne.u32 p, tid, 0;
  @!p st.shared.u32 [sh+512], 0;
  bar.sync 0;
  setp.eq.u32 p, tid, 0;
  @p bra COPIES;
  setp.ne.u32 p, tid, 32;
  @p bra END;
  mul.wide.u32 chase, cta, 65536;
  add.u64 chase, chase, from;
  add.u64 chase, chase, 16777216;
  mov.u32 x, 0;
  mov.u32 left, 0;
WARM:
  mul.wide.u32 offset, left, 128;
  add.u64 at, chase, offset;
  ld.global.cg.u32 x, [at];
  add.u32 left, left, 1;
  setp.lt.u32 p, left, 512;
  @p bra WARM;
  mov.u64 begin, %clock64;
  mov.u32 left, 0;
LOAD:
  mad.lo.u32 next, left, 37, x;
  and.b32 next, next, 511;
  mul.wide.u32 offset, next, 128;
  add.u64 at, chase, offset;
  ld.global.cg.u32 x, [at];
  add.u32 left, left, 1;
  setp.lt.u32 p, left, loads;
  @p bra LOAD;
  add.u32 x, x, left;
  setp.eq.u32 p, x, 0;
  @p st.shared.u32 [sh+516], x;
  mov.u64 end, %clock64;
  sub.u64 end, end, begin;
  mul.wide.u32 offset, cta, 8;
  add.u64 result, result, offset;
  st.global.u64 [result], end;
  mov.u32 x, 1;
  st.volatile.shared.u32 [sh+512], x;
  bra END;
COPIES:
  setp.eq.u32 p, stages, 0;
  @p bra END;
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
  mov.u32 stop, 0;
ISSUE:
  setp.ne.u32 p, stop, 0;
  @p bra TAKE;
  mad.lo.u32 bar, next, 8, sh;
  mad.lo.u32 to, next, bytes, sh;
  add.u32 to, to, 1024;
  and.b64 at, offset, 16777215;
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
  ld.volatile.shared.u32 stop, [sh+512];
  add.u32 taken, taken, 1;
  add.u32 slot, slot, 1;
  setp.eq.u32 p, slot, stages;
  @p xor.b32 parity, parity, 1;
  @p mov.u32 slot, 0;
  setp.lt.u32 p, taken, issued;
  @p bra ISSUE;
END:
  ret;
}
)";

}  // namespace

Rows probe_beside(device::Device& device) {
  Rows out;
  const auto module = device.load(kBeside);
  const auto sms = static_cast<uint32_t>(device.multiprocessors());
  constexpr uint32_t kLoads = 2000;
  for (const auto& [bytes, stages] : {std::pair{8192U, 0U},
                                      {8192U, 1U},
                                      {8192U, 2U},
                                      {8192U, 4U},
                                      {8192U, 8U},
                                      {8192U, 16U},
                                      {8192U, 24U},
                                      {32768U, 1U},
                                      {32768U, 2U},
                                      {32768U, 6U}}) {
    launch::Launch launch;
    launch.entry = "beside";
    launch.shape.grid = {sms, 1, 1};
    launch.shape.block = {64, 1, 1};
    launch.shape.dynamic_shared = 1024 + bytes * std::max(stages, 1U);
    const size_t result =
        launch.add_buffer({"out", std::vector<std::byte>(8 * size_t{sms}), true, false, true});
    launch.add_buffer({"from", {}, true, false, false, uint64_t{32} << 20});
    launch.add_scalar(bytes);
    launch.add_scalar(stages);
    launch.add_scalar(kLoads);
    device.run(*module, launch, std::chrono::seconds(20));
    std::vector<uint64_t> all(sms);
    std::memcpy(all.data(), launch.buffers[result].bytes.data(), 8 * all.size());
    std::nth_element(all.begin(), all.begin() + sms / 2, all.end());
    out.push_back({"ld.global.cg, L2, beside copies of all multiprocessors",
                   fmt::format("{} stages of {} bytes", stages, bytes),
                   static_cast<double>(all[sms / 2]) / kLoads, "cycles"});
  }
  return out;
}

}  // namespace bitwell::gpu
