#include "model/hazard/finding_list.h"

namespace bitwell::hazard {

Finding& FindingList::add(Kind kind, const Party& earlier, const Party& later, uint64_t address,
                          uint64_t size, uint32_t launches_before) {
  const auto [at, fresh] =
      numbers_.try_emplace({kind, earlier.site.ptx_line, later.site.ptx_line, launches_before}, all_.size());
  if (fresh) {
    all_.push_back({kind, earlier, later, Side::either, address, size});
    all_.back().launches_before = launches_before;
  } else {
    ++all_[at->second].count;
  }
  Finding& out = all_[at->second];
  if (out.met.size() < most_met_ && (out.met.size() < kAlways || met_ < kMostMet)) {
    ++met_;
    out.met.push_back({accesses_, address, size, earlier, later});
  }
  return out;
}

}  // namespace bitwell::hazard
