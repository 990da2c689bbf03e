#include "verify/cost_probe/cost.h"

#include <fmt/format.h>

namespace bitwell::cost_probe {

std::string text_of(const Probe& p) {
  return fmt::format(R"(.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 t_shared[];
.visible .entry probe(.param .u64 out, .param .u64 in, .param .u32 passes{})
{{
  .reg .pred t_more, t_lead, t_warp_lead;
  .reg .b64 t_out, t_in, t_from, t_to;
  .reg .b32 t_passes, t_tid, t_lane, t_warp, t_cta, t_sh, t_zero;
  {}
  ld.param.u64 t_out, [out];
  ld.param.u64 t_in, [in];
  ld.param.u32 t_passes, [passes];
  ld.global.u32 t_zero, [t_in];
  mov.u32 t_tid, %tid.x;
  mov.u32 t_cta, %ctaid.x;
  mov.u32 t_sh, t_shared;
  and.b32 t_lane, t_tid, 31;
  shr.u32 t_warp, t_tid, 5;
  setp.eq.u32 t_lead, t_tid, 0;
  setp.eq.u32 t_warp_lead, t_lane, 0;
  {}
  bar.sync 0;
  mov.u64 t_from, %clock64;
PASS:
  {}
  sub.u32 t_passes, t_passes, 1;
  setp.ne.u32 t_more, t_passes, 0;
  @t_more bra PASS;
  mov.u64 t_to, %clock64;
  mad.wide.u32 t_out, t_warp, 16, t_out;
  {}
  setp.ne.or.u32 t_more, t_cta, 0, !t_warp_lead;
  @t_more bra END;
  st.global.u64 [t_out], t_from;
  st.global.u64 [t_out+8], t_to;
END:
  ret;
}}
)",
                     p.map ? ", .param .align 64 .b8 map[128]" : "", p.declare, p.before, p.body, p.after);
}

launch::Launch launch_of(const Probe& p, uint32_t passes) {
  launch::Launch launch;
  launch.entry = "probe";
  launch.shape.grid = {p.ctas, 1, 1};
  launch.shape.block = {32 * p.warps, 1, 1};
  launch.shape.cluster = {p.ctas, 1, 1};
  launch.shape.non_portable_cluster = p.ctas > 8;
  launch.shape.dynamic_shared = p.shared;
  launch.add_buffer({"out", std::vector<std::byte>(16 * size_t{p.warps} + 4096), true, false, true});
  const size_t in = launch.add_buffer({"in", {}, true, false, false, p.buffer});
  launch.add_scalar(passes);
  if (p.map) launch.add_tensor_map(in, *p.map);
  return launch;
}

std::string repeat(int n, const std::string& text) {
  std::string out;
  for (int i = 0; i < n; ++i)
    for (const char c : text)
      if (c == '#')
        out += std::to_string(i);
      else
        out += c;
  return out;
}

}  // namespace bitwell::cost_probe
