// How long the place of a CTA on a multiprocessor stands empty between it and the next one.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "experiments/gpu/probe/probe.h"

namespace bitwell::gpu {
namespace {

// Each CTA waits for so many cycles and writes where it was, when it began and when it ended.
constexpr const char* kWait = R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry wait(.param .u64 a0, .param .u32 a1)
{
  .reg .pred p;
  .reg .b32 tid, cta, sm, least;
  .reg .b64 out, begin, now, span, cycles, place;
  mov.u64 begin, %clock64;
  ld.param.u32 least, [a1];
  cvt.u64.u32 cycles, least;
AGAIN:
  mov.u64 now, %clock64;
  sub.u64 span, now, begin;
  setp.lt.u64 p, span, cycles;
  @p bra AGAIN;
  mov.u32 tid, %tid.x;
  setp.ne.u32 p, tid, 0;
  @p bra END;
  ld.param.u64 out, [a0];
  mov.u32 cta, %ctaid.x;
  mov.u32 sm, %smid;
  cvt.u64.u32 place, sm;
  mad.wide.u32 out, cta, 24, out;
  st.global.u64 [out], place;
  st.global.u64 [out+8], begin;
  mov.u64 now, %clock64;
  st.global.u64 [out+16], now;
END:
  ret;
}
)";

struct Cta {
  uint64_t sm, begin, end;
};

// Cycles that one of so many places of a multiprocessor is empty for, a CTA, over all multiprocessors.
double empty(const std::vector<Cta>& ctas, uint32_t places) {
  std::map<uint64_t, std::vector<std::pair<uint64_t, int>>> by_sm;  // what begins and ends
  for (const Cta& c : ctas) {
    by_sm[c.sm].emplace_back(c.begin, 1);
    by_sm[c.sm].emplace_back(c.end, -1);
  }
  double cycles = 0, turns = 0;
  for (auto& [sm, events] : by_sm) {
    std::sort(events.begin(), events.end());
    int there = 0;
    uint64_t begun = 0, last = 0;
    const uint64_t all = events.size() / 2;
    for (const auto& [at, what] : events) {
      // Before the first ones have begun, and when none is left to begin, places are empty for other reasons.
      if (begun >= places && begun < all)
        cycles += static_cast<double>((at - last) * (places - static_cast<uint32_t>(there)));
      there += what;
      begun += what > 0 ? 1 : 0;
      last = at;
    }
    turns += static_cast<double>(all - std::min<uint64_t>(all, places));
  }
  return cycles / turns;
}

}  // namespace

Rows probe_turns(device::Device& device) {
  constexpr uint32_t kWaves = 20, kCycles = 3000, kShared = 224 << 10;
  Rows out;
  const auto module = device.load(kWait);
  for (const uint32_t threads : {32U, 256U, 1024U})
    for (const uint32_t places : {1U, 2U, 4U, 8U}) {
      if (threads * places > 2048) continue;
      launch::Launch launch;
      launch.entry = "wait";
      const uint32_t ctas = static_cast<uint32_t>(device.multiprocessors()) * places * kWaves;
      launch.shape.grid = {ctas, 1, 1};
      launch.shape.block = {threads, 1, 1};
      launch.shape.dynamic_shared = (kShared / places - 1024) & ~127U;
      const size_t told =
          launch.add_buffer({"out", std::vector<std::byte>(sizeof(Cta) * ctas), true, false, true});
      launch.add_scalar(kCycles);
      device.run(*module, launch, std::chrono::seconds(20));
      std::vector<Cta> all(ctas);
      std::memcpy(all.data(), launch.buffers[told].bytes.data(), sizeof(Cta) * ctas);
      out.push_back({"a CTA behind another", fmt::format("{} of {} threads at once", places, threads),
                     empty(all, places), "cycles"});
    }
  return out;
}

}  // namespace bitwell::gpu
