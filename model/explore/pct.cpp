#include "model/explore/pct.h"

#include <algorithm>
#include <cmath>

namespace bitwell::explore {
namespace {

constexpr uint64_t kMostInARow = 1 << 12;

}  // namespace

Pct::Pct(uint32_t depth, uint64_t turns, uint64_t seed) : random_(seed) {
  for (uint32_t i = 1; i < depth; ++i) changes_.push_back(1 + random_() % std::max<uint64_t>(turns, 1));
  std::sort(changes_.begin(), changes_.end());
}

int64_t& Pct::priority_of(const run::Taker& t) {
  const auto [at, fresh] = priorities_.try_emplace({t.cluster, t.warp, t.operation}, 0);
  if (fresh)
    at->second = static_cast<int64_t>(random_() >> 1) | 1;  // positive, and never that of one that fell
  return at->second;
}

size_t Pct::choose(std::span<const run::Taker> can) {
  ++turns_;
  for (const run::Taker& t : can) priority_of(t);
  const auto highest = [&] {
    return std::max_element(can.begin(), can.end(), [&](const run::Taker& a, const run::Taker& b) {
      return priority_of(a) < priority_of(b);
    });
  };
  auto best = highest();
  bool falls = in_a_row_ == kMostInARow && *best == last_;
  for (; changed_ < changes_.size() && changes_[changed_] == turns_; ++changed_) falls = true;
  if (falls) {
    priority_of(*best) = --lowest_;
    best = highest();
  }
  in_a_row_ = *best == last_ ? in_a_row_ + 1 : 1;
  if (falls) in_a_row_ = 1;
  last_ = *best;
  return static_cast<size_t>(best - can.begin());
}

double chance(const Extent& extent, uint32_t depth) {
  return 1.0 / (static_cast<double>(std::max<uint64_t>(extent.agents, 1)) *
                std::pow(static_cast<double>(std::max<uint64_t>(extent.turns, 1)), depth - 1.0));
}

}  // namespace bitwell::explore
