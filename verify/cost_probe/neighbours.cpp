#include "verify/cost_probe/neighbours.h"

namespace bitwell::cost_probe {
namespace {

constexpr const char* kReads = R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry neighbours(.param .u64 out, .param .u64 a0, .param .u32 a1, .param .u32 a2, .param .u32 a3, .param .u32 a4)
{
  .reg .pred p, lead;
  .reg .b32 tid, among, regions, apart, turns, cta, group, inside, region, piece, sh, to, at_ring, turn, of;
  .reg .b64 from, at, offset, begin, end, result;
  mov.u32 tid, %tid.x;
  mov.u32 cta, %ctaid.x;
  ld.param.u64 result, [out];
  ld.param.u64 from, [a0];
  ld.param.u32 among, [a1];
  ld.param.u32 regions, [a2];
  ld.param.u32 apart, [a3];
  ld.param.u32 turns, [a4];
  div.u32 group, cta, among;
  rem.u32 inside, cta, among;
  rem.u32 region, cta, regions;
  mad.lo.u32 region, group, regions, region;
  div.u32 piece, inside, regions;
  mul.lo.u32 piece, piece, apart;
  mul.wide.u32 offset, region, 262144;
  add.u64 from, from, offset;
  mul.wide.u32 offset, tid, 16;
  add.u64 from, from, offset;
  mov.u32 sh, ring;
  mad.lo.u32 sh, tid, 16, sh;
  setp.eq.u32 lead, tid, 0;
  add.u32 turns, turns, 16;
  mov.u32 turn, 0;
  mov.u64 begin, %clock64;
NEXT:
  setp.eq.u32 p, turn, 16;
  @p mov.u64 begin, %clock64;
  and.b32 of, piece, 15;
  mul.wide.u32 offset, of, 16384;
  add.u64 at, from, offset;
  and.b32 of, turn, 3;
  mad.lo.u32 to, of, 16384, sh;
  cp.async.cg.shared.global [to], [at], 16;
  cp.async.cg.shared.global [to+4096], [at+4096], 16;
  cp.async.cg.shared.global [to+8192], [at+8192], 16;
  cp.async.cg.shared.global [to+12288], [at+12288], 16;
  cp.async.commit_group;
  cp.async.wait_group 3;
  add.u32 piece, piece, 1;
  add.u32 turn, turn, 1;
  setp.lt.u32 p, turn, turns;
  @p bra NEXT;
  cp.async.wait_group 0;
  bar.sync 0;
  mov.u64 end, %clock64;
  sub.u64 end, end, begin;
  mul.wide.u32 offset, cta, 8;
  add.u64 result, result, offset;
  @lead st.global.u64 [result], end;
  ret;
}
)";

}  // namespace

const char* reading_text() { return kReads; }

launch::Launch reading(const Reading& what, uint32_t ctas, uint32_t turns) {
  constexpr uint64_t kRegion = 262144;
  constexpr uint32_t kThreads = 256,
                     kAlone = 160 << 10;  // bytes of shared memory, beside which is no other CTA
  launch::Launch out;
  out.entry = "neighbours";
  out.shape.grid = {ctas, 1, 1};
  out.shape.block = {kThreads, 1, 1};
  out.shape.dynamic_shared = kAlone;
  out.add_buffer({"out", std::vector<std::byte>(8 * size_t{ctas}), true, false, true});
  out.add_buffer({"from", {}, true, false, false, ctas * kRegion});
  for (const uint32_t n : {what.among, what.regions, what.apart, turns}) out.add_scalar(n);
  return out;
}

Rows neighbours(uint32_t ctas, const std::function<double(const Reading&)>& cycles) {
  Rows out;
  const auto row = [&](const std::string& with, const Reading& what) {
    if (const double value = cycles(what); value == value)
      out.push_back({"cp.async, L2, 16384 bytes of each multiprocessor", with, value, "cycles"});
  };
  row("each its own", {1, 1, 0});
  row("two of a TPC the same", {2, 1, 0});
  row("four of a TPC and its neighbour the same", {4, 1, 0});
  row("eight of a GPC the same", {8, 1, 0});
  row("four of a GPC the same", {8, 2, 0});
  row("two of a GPC the same", {4, 2, 0});
  row("two of different GPCs the same", {ctas, ctas / 2, 0});
  for (const uint32_t apart : {1U, 2U, 3U, 4U})
    row("two of a TPC the same, " + std::to_string(apart * 16384) + " bytes apart", {2, 1, apart});
  return out;
}

}  // namespace bitwell::cost_probe
