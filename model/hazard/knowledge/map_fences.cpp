#include "model/hazard/knowledge/map_fences.h"

#include <algorithm>

namespace bitwell::hazard {

namespace {

size_t widest(machine::Scope scope) { return std::min<size_t>(static_cast<size_t>(scope), 2); }

void join(ByScope& to, const ByScope& more, size_t last = 2) {
  for (size_t i = 0; i <= last; ++i) to[i].join(more[i]);
}

}  // namespace

void MapFences::release(const Clock& happened, machine::Scope scope) {
  for (size_t i = 0; i <= widest(scope); ++i) released[i].join(happened);
}

void MapFences::acquire(uint64_t map, machine::Scope scope) { join(acquired[map], released, widest(scope)); }

KnownMaps joined(const KnownMaps& a, const KnownMaps& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto out = counted<MapFences>(*a);
  join(out->released, b->released);
  for (const auto& [map, seen] : b->acquired) join(out->acquired[map], seen);
  return out;
}

}  // namespace bitwell::hazard
