#include "model/hazard/shadow/clusters.h"

namespace bitwell::hazard {

Cluster& Clusters::of(const std::array<uint32_t, 3>& first) {
  const uint32_t number = first[0] + grid_[0] * (first[1] + grid_[1] * first[2]);
  if (last_ != nullptr && last_->number == number) return *last_;
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

uint32_t Clusters::rank_of(const std::array<uint32_t, 3>& cta) const {
  if (!several_ctas_) return 0;
  const auto& s = size_;
  return cta[0] % s[0] + s[0] * (cta[1] % s[1] + s[1] * (cta[2] % s[2]));
}

Warp& Clusters::warp_of(Cluster& c, const std::array<uint32_t, 3>& cta, int number) {
  const uint32_t rank = rank_of(cta);
  if (Warp* const there = c.warp(rank, number); there != nullptr) return *there;
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
