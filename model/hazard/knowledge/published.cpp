#include "model/hazard/knowledge/published.h"

#include <algorithm>
#include <bit>

namespace bitwell::hazard {

void add_operations(Knowledge& to, const Warp& w, uint32_t lane, const Numbers& ended) {
  for (size_t s = 0; s < kStreams; ++s) {
    if (w.streams[s] == 0) continue;
    const bool all = of_warp(static_cast<Stream>(s));
    if (ended[s] != 0) to.happened.raise(w.streams[s], all ? ~0u : 1u << lane, ended[s]);
    if (const uint32_t latest = w.latest[s]; all && latest > ended[s])
      to.unwaited.raise(w.streams[s], ~0u, latest);
    if (static_cast<Stream>(s) == Stream::tensor_load && w.loads_used > ended[s])
      to.used.raise(w.streams[s], ~0u, w.loads_used);
  }
}

Counted<Knowledge> published(const Warp& w, uint32_t lane, const Known& known, uint32_t time,
                             const Numbers& ended) {
  auto out = known == nullptr ? counted<Knowledge>() : counted<Knowledge>(*known);
  out->happened.raise(w.unit, 1u << lane, time);
  add_operations(*out, w, lane, ended);
  add_sc_order(*out, w, 1u << lane);
  return out;
}

Known published(const Warp& w, uint32_t lanes) {
  auto out = counted<Knowledge>();
  publish(*out, w, lanes);
  return out;
}

void publish(Knowledge& to, const Warp& w, uint32_t lanes, const Knowledge* last) {
  const bool issued = std::any_of(w.streams.begin(), w.streams.end(), [](UnitId unit) { return unit != 0; });
  for (uint32_t rest = w.known.alike() && !issued ? lanes & -lanes : lanes; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(rest));
    const Knowledge* const known = w.known[i].get();
    if (known != nullptr && known != last) join(to, *known);
    last = known;
    if (issued) add_operations(to, w, i, w.ended[i]);
  }
  to.happened.raise(w.unit, lanes, w.time);
  add_sc_order(to, w, lanes);
}

void learn(Warp& w, uint32_t lanes, const Known& more) {
  w.known.change(lanes, [&](const Known& known) { return joined(known, more); });
}

}  // namespace bitwell::hazard
