// Bulk and tensor copies between global and shared memory, issued by one thread.
#include <fmt/format.h>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {
namespace {

// Waits for the phase `parity` of the mbarrier at t_sh.
const std::string kWait =
    "W: mbarrier.try_wait.parity.shared.b64 b_done, [t_sh], parity; @!b_done bra W; xor.b32 parity, parity, "
    "1;";
const std::string kDeclare =
    ".reg .pred b_done, b_one; .reg .b32 parity, s_to, s_x; .reg .b64 g_from, g_clock, g_issue;";
const std::string kBefore =
    "mov.u32 parity, 0; add.u32 s_to, t_sh, 1024; mov.u64 g_from, t_in; mov.u64 g_issue, 0;"
    "@t_lead mbarrier.init.shared.b64 [t_sh], 1; fence.mbarrier_init.release.cluster;";

const std::string kTellIssue =
    "mov.u64 g_now, %clock64; sub.u64 g_now, g_now, g_clock; add.u64 g_issue, g_issue, g_now;";
// What it took is told in place of the time of a pass.
void tell_issue(Probe& p) {
  p.after = "add.u64 t_to, t_from, g_issue;";
  p.tells_another = true;
}

// Cycles until `copies` of `bytes`, issued one behind the other, have arrived; `advance` bytes from one to
// the next.
double load(const Cycles& cycles, int copies, int bytes, int advance, uint64_t buffer, uint32_t passes) {
  Probe p;
  p.shared = 200 << 10;
  p.buffer = buffer;
  p.declare = kDeclare;
  p.before = kBefore;
  p.body = fmt::format("@!t_lead bra DONE; {{ mbarrier.arrive.expect_tx.shared.b64 _, [t_sh], {};\n",
                       copies * bytes);
  for (int i = 0; i < copies; ++i)
    p.body += fmt::format(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s_to], [g_from], {}, [t_sh];"
        "add.u64 g_from, g_from, {};\n",
        bytes, advance);
  p.body += kWait + "} DONE:";
  return cycles(p, passes);
}

double store(const Cycles& cycles, int copies, int bytes, bool read) {
  Probe p;
  p.shared = 200 << 10;
  p.buffer = 1 << 20;
  p.declare = kDeclare;
  p.before = kBefore + "fence.proxy.async.shared::cta;";
  p.body = "@!t_lead bra DONE;";
  for (int i = 0; i < copies; ++i)
    p.body += fmt::format("cp.async.bulk.global.shared::cta.bulk_group [g_from], [s_to], {};\n", bytes);
  p.body +=
      fmt::format("cp.async.bulk.commit_group; cp.async.bulk.wait_group{} 0; DONE:", read ? ".read" : "");
  return cycles(p, kPasses);
}

// A box of 64 columns of two bytes, swizzled by 128 bytes, and so many rows. `walk`: each pass another.
// `issue`: what is told is how long the thread is busy with them. `elected`: elect.sync chose it, so that
// ptxas knows that it is one, and each copy's box stands behind the one before. `warps`: that issue as many
// each.
struct Boxes {
  int copies, rows;
  bool walk = false, issue = false, elected = false;
  uint32_t warps = 1;
};
double tensor(const Cycles& cycles, const Boxes& what, uint32_t passes) {
  const auto [copies, rows, walk, issue, elected, warps] = what;
  Probe p;
  p.warps = warps;
  p.shared = 200 << 10;
  machine::TensorMap m{};
  m.type = static_cast<decltype(m.type)>(6);  // FLOAT16
  m.rank = 2;
  const uint64_t all = walk ? 1 << 22 : 1024;
  p.buffer = all * 128;
  m.dims = {64, all, 1, 1, 1};
  m.strides = {2, 128, 0, 0, 0};
  m.box = {64, static_cast<uint32_t>(rows), 1, 1, 1};
  m.element_strides = {1, 1, 1, 1, 1};
  m.swizzle = static_cast<decltype(m.swizzle)>(3);
  p.map = m;
  p.declare = kDeclare + ".reg .b32 row; .reg .b64 g_map, g_now;";
  p.before = kBefore +
             (warps == 1 ? ""
                         : "bar.sync 0; @t_lead mbarrier.inval.shared.b64 [t_sh]; @t_lead "
                           "mbarrier.init.shared.b64 [t_sh], 2;") +
             "mov.u32 row, 0; mov.b64 g_map, map; cvta.param.u64 g_map, g_map; prefetch.tensormap [g_map];";
  if (elected) p.body = "elect.sync _|b_one, -1;";
  p.body += fmt::format("@!{} bra DONE; {{ mbarrier.arrive.expect_tx.shared.b64 _, [t_sh], {};\n",
                        elected ? "b_one" : "t_lead", copies * rows * 128);
  if (issue) p.body += "mov.u64 g_clock, %clock64;\n";
  for (int i = 0; i < copies; ++i)
    p.body += fmt::format(
        "{}cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s_to], [g_map, "
        "{{0, row}}], [t_sh];"
        "add.u32 row, row, {};\n",
        elected ? fmt::format("mov.u32 row, {};", i * rows) : "", walk ? 1056 : 0);
  if (issue) p.body += kTellIssue;
  p.body += kWait + "} DONE:";
  if (issue) tell_issue(p);
  return cycles(p, passes);
}

// Of one thread, how long it is busy until the next one can be issued: 8 copies, then the clock, then the
// wait.
double issue(const Cycles& cycles, int bytes, bool elected) {
  Probe p;
  p.shared = 200 << 10;
  p.buffer = 1 << 20;
  p.declare = kDeclare + ".reg .b64 g_now;";
  p.before = kBefore;
  p.body = fmt::format(
      "{} bra DONE; {{ mbarrier.arrive.expect_tx.shared.b64 _, [t_sh], {}; mov.u64 g_clock, "
      "%clock64;\n",
      elected ? "elect.sync _|b_one, -1; @!b_one" : "@!t_lead", 8 * bytes);
  for (int i = 0; i < 8; ++i)
    p.body += fmt::format(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s_to], [g_from], {}, [t_sh];\n",
        bytes);
  p.body += kTellIssue + kWait + "} DONE:";
  tell_issue(p);
  return cycles(p, kPasses) / 8;
}

}  // namespace

Rows copies(const Cycles& cycles) {
  Rows out;
  constexpr uint64_t kCold = uint64_t{1} << 30;
  for (const int bytes : {16, 128, 1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
    const auto with = [&](const char* what) { return fmt::format("{} bytes, {}", bytes, what); };
    out.push_back({"cp.async.bulk", with("latency, L2"), load(cycles, 1, bytes, 0, 1 << 20, 64), "cycles"});
    out.push_back(
        {"cp.async.bulk", with("latency, DRAM"), load(cycles, 1, bytes, 135168, kCold, 512), "cycles"});
    if (bytes <= 32768)
      out.push_back({"cp.async.bulk", with("8 at once, L2, of each"),
                     load(cycles, 8, bytes, 0, 1 << 20, 64) / 8, "cycles"});
    out.push_back({"cp.async.bulk", with("issue of each"), issue(cycles, bytes, false), "cycles"});
    out.push_back(
        {"cp.async.bulk", with("of an elected thread, issue of each"), issue(cycles, bytes, true), "cycles"});
    out.push_back({"cp.async.bulk to global", with("until read"), store(cycles, 1, bytes, true), "cycles"});
    out.push_back(
        {"cp.async.bulk to global", with("until written"), store(cycles, 1, bytes, false), "cycles"});
  }
  for (const int rows : {8, 32, 64, 128, 256}) {
    const auto with = [&](const char* what) { return fmt::format("2d, {} x 128 bytes, {}", rows, what); };
    out.push_back({"cp.async.bulk.tensor", with("latency, L2"), tensor(cycles, {1, rows}, 64), "cycles"});
    out.push_back(
        {"cp.async.bulk.tensor", with("latency, DRAM"), tensor(cycles, {1, rows, true}, 256), "cycles"});
    out.push_back({"cp.async.bulk.tensor", with("4 at once, L2, of each"), tensor(cycles, {4, rows}, 64) / 4,
                   "cycles"});
  }
  for (const int rows : {8, 64})
    for (const int copies : {8, 16, 32}) {
      if (copies * rows > 1024) continue;
      const auto with = [&](const char* what) {
        return fmt::format("2d, {} x 128 bytes, {} {}", rows, copies, what);
      };
      out.push_back({"cp.async.bulk.tensor", with("of an elected thread, L2, of each"),
                     tensor(cycles, {copies, rows, false, false, true}, 64) / copies, "cycles"});
      out.push_back({"cp.async.bulk.tensor", with("of elected threads of two warps each, L2, of each"),
                     tensor(cycles, {copies, rows, false, false, true, 2}, 64) / copies, "cycles"});
      out.push_back({"cp.async.bulk.tensor", with("of an elected thread, issue of each"),
                     tensor(cycles, {copies, rows, false, true, true}, 64) / copies, "cycles"});
      out.push_back({"cp.async.bulk.tensor", with("at once, issue of each"),
                     tensor(cycles, {copies, rows, false, true}, 64) / copies, "cycles"});
    }
  return out;
}

}  // namespace bitwell::cost_probe
