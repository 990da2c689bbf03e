#include <cstdint>

#include "verify/bugs/mutation/site.h"

namespace bitwell::bugs {
namespace {

bool waits_at_mbarrier(const Parts& p) {
  return p.is("mbarrier") && (p.has("try_wait") || p.has("test_wait"));
}

bool copies(const Parts& p) {
  const bool bulk = p.is("cp") && !p.has("arrive") && !p.has("_group") && !p.has("wait");
  return bulk || p.is("tcgen05.cp") || p.is("tensormap.cp_fenceproxy") ||
         p.is("clusterlaunchcontrol.try_cancel");
}

void deletions(Site& s) {
  const Parts& p = s.parts();
  if (waits_at_mbarrier(p))
    s.add("wait deleted", (p.guard.empty() ? "" : p.guard + " ") + "mov.pred " + p.operands[0] + ", 1;");
  if (p.has("wait_group") || p.has("wait_all") || p.is("griddepcontrol.wait") ||
      p.is("barrier.cluster.wait") || p.is("tcgen05.wait::ld") || p.is("tcgen05.wait::st"))
    s.remove("wait deleted");
  if ((p.is("mbarrier") && (p.has(".arrive") || p.has(".expect_tx"))) || p.has("commit_group") ||
      p.is("barrier.cluster.arrive") || p.is("cp.async.mbarrier.arrive") || p.is("tcgen05.commit") ||
      p.is("griddepcontrol.launch_dependents"))
    s.remove("arrive deleted");
  if (p.is("bar.warp.sync"))
    s.remove("warp barrier deleted");
  else if (p.is("bar") || p.is("barrier.sync"))
    s.remove("barrier deleted");
  if (p.is("fence") || p.is("membar") || p.is("wgmma.fence") || p.is("tcgen05.fence::before_thread_sync") ||
      p.is("tcgen05.fence::after_thread_sync"))
    s.remove("fence deleted");
  if (p.is("st") || p.is("stmatrix") || p.is("red") || p.is("atom") || p.is("tcgen05.st") ||
      p.is("tensormap.replace"))
    s.remove("store deleted");
  if (copies(p)) s.remove("copy deleted");
  if (p.is("tcgen05.dealloc")) s.remove("dealloc deleted");
  if (p.is("setmaxnreg") || p.is("prefetch")) s.remove("hint deleted");
}

// The same act in a scope too narrow, or as one that orders nothing.
void scopes_and_orders(Site& s) {
  const Parts& p = s.parts();
  const bool accesses = p.is("ld") || p.is("st") || p.is("atom") || p.is("red");
  const bool of_init = p.is("fence.mbarrier_init");  // has one scope
  if (accesses || p.is("mbarrier") || (p.is("fence") && !of_init) || p.is("tensormap.cp_fenceproxy"))
    for (const char* scope : {".cluster", ".gpu", ".sys"}) s.opcode("scope narrowed", scope, ".cta");
  if (accesses || p.is("mbarrier") || p.is("barrier.cluster.arrive"))
    for (const char* order : {".release", ".acquire", ".acq_rel"})
      s.opcode("order weakened", order, ".relaxed");
  const bool stated = p.has(".release") || p.has(".acquire") || p.has(".relaxed");
  const bool meets = waits_at_mbarrier(p) || (p.is("mbarrier.arrive") && !p.has("expect_tx"));
  if (!meets || stated) return;
  for (const char* space : {".shared::cta", ".shared::cluster", ".shared"})
    s.opcode("default order weakened", space,
             (p.has("::cluster") ? ".relaxed.cluster" : ".relaxed.cta") + std::string(space));
}

void other_fences(Site& s) {
  constexpr const char* kKind = "fence of another kind";
  const Parts& p = s.parts();
  if (p.is("fence.proxy.async")) {
    s.opcode(kKind, ".shared::cta", ".global");
    s.opcode(kKind, ".global", ".shared::cta");
    s.add(kKind, "fence.proxy.alias;");
  }
  if (p.is("fence.proxy.tensormap::generic")) s.add(kKind, "fence.proxy.async.global;");
  if (p.is("fence.mbarrier_init")) s.add(kKind, "fence.acq_rel.cta;");
  if (p.is("wgmma.fence")) s.add(kKind, "fence.proxy.async.shared::cta;");
  s.opcode(kKind, "fence::before_thread_sync", "fence::after_thread_sync");
  s.opcode(kKind, "fence::after_thread_sync", "fence::before_thread_sync");
}

// The neighbour of the mbarrier that is waited at, arrived at or completed on.
void stages(Site& s) {
  constexpr int64_t kMbarrier = 8;  // bytes
  const Parts& p = s.parts();
  const bool at_one = (p.is("mbarrier") && !p.has(".init") && !p.has(".inval")) || p.is("tcgen05.commit") ||
                      p.is("cp.async.mbarrier.arrive");
  if (!at_one && !p.has("mbarrier::complete_tx")) return;
  size_t at = p.operands.size();
  while (at-- > 0)
    if (p.operands[at].front() == '[') break;
  if (at >= p.operands.size()) return;
  for (const int64_t by : {kMbarrier, -kMbarrier}) s.moved("stage off by one", at, by);
}

void amounts(Site& s) {
  const Parts& p = s.parts();
  if (waits_at_mbarrier(p) && p.has(".parity")) s.wrapped("parity flipped", 2, ".b32", "xor.b32 $, 1");
  if (p.is("mbarrier.init") || (p.is("mbarrier") && p.has(".init"))) s.around("count changed", 1, 1);
  if (p.is("mbarrier") && p.has(".arrive") && p.operands.size() == 3 && !p.has("expect_tx"))
    s.around("count changed", 2, 1);
  if ((p.is("barrier.sync") || p.is("bar.sync"))) {
    s.around("barrier number changed", 0, 1);
    if (p.operands.size() == 2) s.around("count changed", 1, 32);
  }
  if (p.has("wait_group"))
    if (const auto v = integer(p.operands[0])) s.operand("count changed", 0, std::to_string(*v + 1));
  if (p.is("tcgen05.alloc")) s.halved("count changed", 1);
  if (p.is("mbarrier") && p.has("expect_tx")) {
    s.around("bytes changed", p.operands.size() - 1, 1);
    s.around("bytes changed", p.operands.size() - 1, 16);
    s.halved("bytes changed", p.operands.size() - 1);
  }
  if (p.is("cp.async.bulk.shared::cluster") || p.is("cp.async.bulk.shared::cta") ||
      p.is("cp.async.bulk.global")) {
    s.around("bytes changed", 2, 16);
    s.halved("bytes changed", 2);
  }
}

}  // namespace

void plant_meetings(Site& s) {
  deletions(s);
  scopes_and_orders(s);
  other_fences(s);
  stages(s);
  amounts(s);
}

}  // namespace bitwell::bugs
