#include "model/hazard/readers.h"

#include <bit>

namespace bitwell::hazard {

Readers ReaderSets::number(std::vector<Reader> all) {
  if (all.size() == 1 && std::has_single_bit(all[0].lanes))
    return act(all[0].record, static_cast<uint32_t>(std::countr_zero(all[0].lanes)));
  uint64_t hash = all.size();
  for (const Reader& r : all) {
    hash = (hash ^ (uint64_t{r.record} << 32 | r.lanes)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  for (auto [at, end] = numbers_.equal_range(hash); at != end; ++at)
    if (sets_[at->second & ~kMany] == all) return at->second;
  const Readers fresh = kMany | static_cast<Readers>(sets_.size());
  numbers_.emplace(hash, fresh);
  bytes_ += all.size() * sizeof(Reader) + 3 * sizeof(std::vector<Reader>);
  sets_.push_back(std::move(all));
  return fresh;
}

}  // namespace bitwell::hazard
