#include "model/explore/actor.h"

namespace bitwell::explore {

std::string name_of(const Actor& actor) {
  std::string out = std::to_string(actor.cluster) + ":" + std::to_string(actor.warp);
  if (actor.operation != 0) out += "." + std::to_string(actor.operation);
  return out;
}

Names::Names(const run::Shape& shape)
    : cluster_(shape.cluster), warps_((shape.block[0] * shape.block[1] * shape.block[2] + 31) / 32) {}

Actor Names::of(const run::Taker& taker) const {
  if (taker.operation == 0) return {taker.cluster, taker.warp, 0};
  const auto at = operations_.find({taker.cluster, taker.operation});
  if (at == operations_.end()) throw machine::ModelBug("an operation takes a turn that nobody has issued");
  return at->second;
}

Actor Names::tell(uint32_t cluster, const machine::Synchronisation& s) {
  if (s.kind != machine::Synchronisation::Kind::issued) return {};
  Actor actor = warp(cluster, s.cta, s.warp);
  actor.operation = ++issued_[actor];
  operations_[{cluster, s.which}] = actor;
  return actor;
}

Actor Names::warp(uint32_t cluster, const std::array<uint32_t, 3>& cta, int warp) const {
  return {cluster, rank(cta) * warps_ + static_cast<uint32_t>(warp), 0};
}

uint32_t Names::rank(const std::array<uint32_t, 3>& cta) const {
  return cta[0] % cluster_[0] + cluster_[0] * (cta[1] % cluster_[1] + cluster_[1] * (cta[2] % cluster_[2]));
}

void Names::clear() {
  operations_.clear();
  issued_.clear();
}

}  // namespace bitwell::explore
