#include "model/hazard/shadow/clusters.h"

namespace bitwell::hazard {

Cluster& Clusters::numbered(uint32_t number) {
  last_ = &running_[number];
  last_->number = number;
  return *last_;
}

Cluster& Clusters::with(const std::array<uint32_t, 3>& cta) {
  if (!several_ctas_) return of(cta);
  std::array<uint32_t, 3> first = cta;
  for (size_t i = 0; i < first.size(); ++i) first[i] -= first[i] % size_[i];
  return of(first);
}

void Clusters::end(const Cluster& c) {
  running_.erase(c.number);
  last_ = nullptr;
}

Warp& Clusters::begun(Cluster& c, uint32_t rank, const std::array<uint32_t, 3>& cta, int number) {
  std::unique_ptr<Warp>& at = c.warps[{rank, number}];
  at = std::make_unique<Warp>();
  at->cta = cta;
  at->rank = rank;
  at->number = number;
  at->domain = {cta[0] + grid_[0] * (cta[1] + grid_[1] * cta[2]), c.number};
  at->unit = units_.add(*at);
  const size_t i = rank * Cluster::kMostWarps + static_cast<size_t>(number);
  if (i >= c.numbered.size()) c.numbered.resize(i + 1);
  return *(c.numbered[i] = at.get());
}

}  // namespace bitwell::hazard
