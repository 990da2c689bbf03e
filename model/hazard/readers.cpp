#include "model/hazard/readers.h"

#include <bit>

namespace bitwell::hazard {

Readers ReaderSets::number(const std::vector<Reader>& all) {
  if (all.size() == 1 && std::has_single_bit(all[0].lanes))
    return act(all[0].record, static_cast<uint32_t>(std::countr_zero(all[0].lanes)));
  uint64_t hash = all.size();
  for (const Reader& r : all) {
    hash = (hash ^ (uint64_t{r.record} << 32 | r.lanes)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  for (;; ++hash) {  // another set may have the hash
    const auto [at, fresh] = numbers_.try_emplace(hash, kMany | static_cast<Readers>(begins_.size() - 1));
    const size_t set = at->second & ~kMany;
    if (fresh) {
      readers_.insert(readers_.end(), all.begin(), all.end());
      begins_.push_back(readers_.size());
      return at->second;
    }
    if (std::equal(all.begin(), all.end(), readers_.begin() + static_cast<std::ptrdiff_t>(begins_[set]),
                   readers_.begin() + static_cast<std::ptrdiff_t>(begins_[set + 1])))
      return at->second;
  }
}

}  // namespace bitwell::hazard
