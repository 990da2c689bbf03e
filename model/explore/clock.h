// Which turns are behind a turn: of each actor, how many.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace bitwell::explore {

// By number of an actor; missing: 0.
using Clock = std::vector<uint32_t>;

inline void join(Clock& to, const Clock& more) {
  if (to.size() < more.size()) to.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i) to[i] = std::max(to[i], more[i]);
}
inline uint32_t at(const Clock& clock, size_t actor) { return actor < clock.size() ? clock[actor] : 0; }

}  // namespace bitwell::explore
