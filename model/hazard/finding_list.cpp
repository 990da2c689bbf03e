#include "model/hazard/finding_list.h"

#include <utility>

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
  const bool kept = keeps(out);
  marked_.push_back(at->second);
  counted_ = counted_ && !kept;
  if (kept) {
    ++met_;
    out.met.push_back({accesses_, address, size, earlier, later});
  }
  return out;
}

bool FindingList::repeat(uint64_t times) {
  for (const size_t i : marked_)
    if (counted_) all_[i].count += times;
  return counted_;
}

void FindingList::add(std::vector<Finding> more, uint64_t accesses) {
  for (Finding& f : more) {
    const auto [at, fresh] = numbers_.try_emplace(key_of(f), all_.size());
    if (fresh) {
      if (f.met.size() > most_met_)
        f.met.erase(f.met.begin() + static_cast<std::ptrdiff_t>(most_met_), f.met.end());
      for (Finding::Met& one : f.met) one.access += accesses_;
      met_ += f.met.size();
      all_.push_back(std::move(f));
      continue;
    }
    Finding& out = all_[at->second];
    out.count += f.count;
    // As add() has it: of the last.
    if (!f.object.name.empty()) out.object = std::move(f.object);
    if (!f.where.empty()) out.where = std::move(f.where);
    for (const Finding::Met& one : f.met) {
      if (out.met.size() >= most_met_) break;
      ++met_;
      out.met.push_back(one);
      out.met.back().access += accesses_;
    }
  }
  accesses_ += accesses;
}

}  // namespace bitwell::hazard
