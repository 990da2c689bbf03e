#include "model/hazard/separate.h"

#include <algorithm>

#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

std::string Separate::why_not(const Checker::OfCluster& cluster) {
  const std::scoped_lock lock(mutex_);
  records_ += cluster.records;
  if (cluster.forgot_too_much) return "what may race with an operation was not remembered";
  // Where one checker has too many it says so itself.
  if (records_ >= Records::kMost) return "the race check has many accesses to tell apart";
  for (const Finding& f : cluster.findings) {
    // How many bytes a cell of the shadow has hangs on who else came near.
    if (machine::is_global(f.address)) return std::string(kInGlobal);
    (row_of(f.kind).level == Level::error ? met_ : met_by_notes_) += f.met.size();
    if (f.kind != Kind::mma_registers && f.kind != Kind::mma_fragments) continue;
    const auto [at, fresh] = first_.try_emplace({f.kind, f.earlier.site.ptx_line}, f.later.site.ptx_line);
    if (at->second != f.later.site.ptx_line) return "registers of one wgmma are reached in several ways";
  }
  if (std::max(met_, met_by_notes_) > FindingList::kMostMet)
    return "there is more to find than is kept of each";
  return "";
}

void Separate::keep(std::unique_ptr<HeldBack> spare) {
  if (spare == nullptr) return;
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(spare));
}

std::unique_ptr<HeldBack> Separate::spare() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) return nullptr;
  std::unique_ptr<HeldBack> out = std::move(spare_.back());
  spare_.pop_back();
  return out;
}

}  // namespace bitwell::hazard
