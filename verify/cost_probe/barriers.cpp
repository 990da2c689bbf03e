// What threads wait for: barriers of a CTA and of a cluster, mbarriers, other CTAs' shared memory.
#include <fmt/format.h>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {
namespace {

double one(const Cycles& cycles, uint32_t warps, uint32_t ctas, int operations, const std::string& before,
           const std::string& operation) {
  Probe p;
  p.warps = warps;
  p.ctas = ctas;
  p.declare = ".reg .b32 r<8>, s_at, s_x; .reg .b64 g<8>, b_token; .reg .pred b_done;";
  p.before = before + (ctas > 1 ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : "");
  p.body = repeat(operations, operation + "\n  ");
  p.after = "{.reg .pred q; setp.eq.u32 q, s_at, 1; @q st.global.u32 [t_in], s_at;}" +
            std::string(ctas > 1 ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : "");
  return cycles(p, kPasses) / operations;
}

const std::string kInit = "mov.u32 s_at, 0; @t_lead mbarrier.init.shared.b64 [t_sh], {};";

}  // namespace

Rows barriers(const Cycles& cycles) {
  Rows out;
  const std::string none = "mov.u32 s_at, 0;";
  for (const uint32_t warps : {1U, 2U, 4U, 8U, 16U, 32U})
    out.push_back({"bar.sync", fmt::format("{} warps", warps), one(cycles, warps, 1, 32, none, "bar.sync 1;"),
                   "cycles"});
  out.push_back({"bar.arrive",
                 "interval of a warp, one of two that the barrier counts; the other waits there",
                 one(cycles, 2, 1, 16, none,
                     "{.reg .pred q; setp.lt.u32 q, t_tid, 32; @q bar.arrive 1, 64; @!q bar.sync 1, 64; @q "
                     "bar.sync 2, 64; @!q bar.arrive 2, 64;}") /
                     2,
                 "cycles"});
  for (const uint32_t ctas : {2U, 4U, 8U, 16U})
    for (const uint32_t warps : {1U, 4U, 8U})
      out.push_back({"barrier.cluster.arrive, wait", fmt::format("{} CTAs of {} warps", ctas, warps),
                     one(cycles, warps, ctas, 16, none,
                         "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"),
                     "cycles"});
  // One thread arrives at a barrier that counts many: no phase ends.
  out.push_back({"mbarrier.arrive", "interval of one thread, token not used",
                 one(cycles, 1, 1, 32, fmt::format(fmt::runtime(kInit), 1000000),
                     "@t_lead mbarrier.arrive.shared.b64 _, [t_sh];"),
                 "cycles"});
  out.push_back({"mbarrier.arrive", "latency: until its token is there",
                 one(cycles, 1, 1, 16, fmt::format(fmt::runtime(kInit), 1000000),
                     "{.reg .b32 lo, hi; mbarrier.arrive.shared.b64 b_token, [t_sh]; mov.b64 {lo, hi}, "
                     "b_token; and.b32 lo, lo, t_zero; add.u32 t_sh, t_sh, lo;}"),
                 "cycles"});
  out.push_back({"mbarrier.arrive.expect_tx", "interval of one thread",
                 one(cycles, 1, 1, 16, fmt::format(fmt::runtime(kInit), 1000000),
                     "@t_lead mbarrier.arrive.expect_tx.shared.b64 _, [t_sh], 0;"),
                 "cycles"});
  out.push_back({"mbarrier.try_wait", "of a phase that is over",
                 one(cycles, 1, 1, 16, fmt::format(fmt::runtime(kInit), 1),
                     "{.reg .b32 x; mbarrier.try_wait.parity.shared.b64 b_done, [t_sh], 1; selp.b32 x, 0, 4, "
                     "b_done; add.u32 t_sh, t_sh, x;}"),
                 "cycles"});
  out.push_back({"mbarrier.test_wait", "of a phase that is over",
                 one(cycles, 1, 1, 16, fmt::format(fmt::runtime(kInit), 1),
                     "{.reg .b32 x; mbarrier.test_wait.parity.shared.b64 b_done, [t_sh], 1; selp.b32 x, 0, "
                     "4, b_done; add.u32 t_sh, t_sh, x;}"),
                 "cycles"});
  // Two warps hand each other the turn by two mbarriers: a round is two hand-overs.
  out.push_back({"mbarrier hand-over", "arrive in one warp until the other's try_wait is past, half a round",
                 one(cycles, 2, 1, 2,
                     "mov.u32 s_at, 0; @t_lead mbarrier.init.shared.b64 [t_sh], 1; @t_lead "
                     "mbarrier.init.shared.b64 [t_sh+8], 1; mov.u32 r0, 0;",
                     "{.reg .pred q; setp.ge.u32 q, t_tid, 32; @q bra SECOND; @t_lead "
                     "mbarrier.arrive.shared.b64 _, [t_sh];"
                     "A: mbarrier.try_wait.parity.shared.b64 b_done, [t_sh+8], r0; @!b_done bra A; bra BOTH;"
                     "SECOND: mbarrier.try_wait.parity.shared.b64 b_done, [t_sh], r0; @!b_done bra SECOND;"
                     "@t_warp_lead mbarrier.arrive.shared.b64 _, [t_sh+8]; BOTH: xor.b32 r0, r0, 1;}") /
                     2,
                 "cycles"});
  // The shared memory of the next CTA: a load whose value is the next address.
  for (const uint32_t ctas : {2U, 4U, 8U, 16U}) {
    const std::string peer = fmt::format("add.u32 r0, t_cta, 1; rem.u32 r0, r0, {};", ctas);
    out.push_back(
        {"ld.shared::cluster.u32", fmt::format("latency, the next of {} CTAs", ctas),
         one(cycles, 1, ctas, 16,
             peer +
                 "mapa.shared::cluster.u32 s_at, t_sh, r0; mov.u32 r1, s_at; sub.u32 r2, t_cta, 1;"
                 // The next CTA holds its own address, as this one sees it.
                 "add.u32 r2, t_cta, 0; mapa.shared::cluster.u32 r3, t_sh, t_cta; st.shared.u32 [t_sh], r3;",
             "ld.shared::cluster.u32 s_at, [s_at];"),
         "cycles"});
    out.push_back(
        {"mbarrier.arrive.shared::cluster",
         fmt::format("interval of one thread, at the next of {} CTAs", ctas),
         one(cycles, 1, ctas, 16,
             fmt::format(fmt::runtime(kInit), 1000000) + peer + "mapa.shared::cluster.u32 r1, t_sh, r0;",
             "@t_lead mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r1];"),
         "cycles"});
  }
  return out;
}

}  // namespace bitwell::cost_probe
