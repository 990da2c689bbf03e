#include "model/hazard/readers.h"

#include <bit>

namespace bitwell::hazard {

Readers ReaderSets::number(std::vector<Reader> all) {
  if (all.size() == 1 && std::has_single_bit(all[0].lanes))
    return act(all[0].record, static_cast<uint32_t>(std::countr_zero(all[0].lanes)));
  std::sort(all.begin(), all.end());
  const auto [at, fresh] = numbers_.try_emplace(all, kMany | static_cast<Readers>(sets_.size()));
  if (fresh) {
    bytes_ += 2 * all.size() * sizeof(Reader) + 3 * sizeof(std::vector<Reader>);
    sets_.push_back(std::move(all));
  }
  return at->second;
}

}  // namespace bitwell::hazard
