// How long single loads from DRAM take: some of it is near and some far, and banks that are refreshed wait.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "experiments/gpu/probe/probe.h"

namespace bitwell::gpu {
namespace {

// One thread loads a word of each KiB, one after the other, and writes how many cycles each took with the sum
// behind it. What it loads is 0, and has left the L2; all pages are known before.
constexpr uint32_t kLoads = 8192, kApart = 1024;
constexpr const char* kWalk = R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry walk(.param .u64 a0, .param .u64 a1)
{
  .reg .pred p;
  .reg .b32 x, to, last, took;
  .reg .b64 out, in, at, begin, now, wide;
  ld.param.u64 in, [a1];
  mov.u64 at, in;
  mov.u32 last, 0;
PAGE:
  ld.volatile.global.u32 x, [at+1048608];
  st.volatile.shared.u32 [room], x;
  add.u64 at, at, 2097152;
  add.u32 last, last, 1;
  setp.lt.u32 p, last, 4;
  @p bra PAGE;
  mov.u64 at, in;
  mov.u32 to, room;
  add.u32 last, to, 32768;
  mov.u64 begin, %clock64;
LOAD:
  ld.volatile.global.u32 x, [at];
  cvt.u64.u32 wide, x;
  add.u64 at, at, wide;
  add.u64 at, at, 1024;
  st.volatile.shared.u32 [to], x;
  mov.u64 now, %clock64;
  sub.u64 wide, now, begin;
  cvt.u32.u64 took, wide;
  mov.u64 begin, now;
  st.volatile.shared.u32 [to], took;
  add.u32 to, to, 4;
  setp.lt.u32 p, to, last;
  @p bra LOAD;
  ld.param.u64 out, [a0];
  mov.u32 to, room;
WRITE:
  ld.volatile.shared.u32 x, [to];
  st.global.u32 [out], x;
  add.u64 out, out, 4;
  add.u32 to, to, 4;
  setp.lt.u32 p, to, last;
  @p bra WRITE;
  ret;
}
)";

}  // namespace

Rows probe_latencies(device::Device& device) {
  static_assert(kLoads * sizeof(uint32_t) == 32768 && kLoads * kApart == 4 * 2097152, "as the text says");
  const auto module = device.load(kWalk);
  launch::Launch launch;
  launch.entry = "walk";
  launch.shape.grid = {1, 1, 1};
  launch.shape.block = {1, 1, 1};
  launch.shape.dynamic_shared = kLoads * sizeof(uint32_t);
  const size_t told =
      launch.add_buffer({"out", std::vector<std::byte>(kLoads * sizeof(uint32_t)), true, false, true});
  launch.add_buffer({"in", {}, true, false, false, uint64_t{1} << 30});
  device.run(*module, launch, std::chrono::seconds(20));
  std::vector<uint32_t> took(kLoads);
  std::memcpy(took.data(), launch.buffers[told].bytes.data(), kLoads * sizeof(uint32_t));
  std::sort(took.begin(), took.end());
  Rows out;
  for (const double percent : {1.0, 10.0, 25.0, 40.0, 50.0, 65.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5})
    out.push_back({"ld.volatile.global", fmt::format("latency, DRAM, of {} % at most", percent),
                   static_cast<double>(took[static_cast<size_t>(percent / 100 * (kLoads - 1))]), "cycles"});
  return out;
}

}  // namespace bitwell::gpu
