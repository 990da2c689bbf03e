// Registers of a wgmma, which are its own until the warp has waited for it, and which a wgmma.fence hands
// over to it (PTX ISA 9.0, 9.7.15.7.1 and 9.7.15.7.3). What one warp does in its own order decides both.
#include "model/hazard/warpgroups.h"

#include <bit>

#include "model/hazard/knowledge/published.h"

namespace bitwell::hazard {

using machine::AccessKind;
using machine::Synchronisation;
using As = MmaRegisters::Reach::As;
using SyncKind = Synchronisation::Kind;

namespace {

Party party(const MmaRegisters::Reach& reach, const machine::Reached& r, const Warp& w) {
  const bool by_thread = reach.as == As::thread;
  return {{r.ptx_line,
           by_thread ? Actor::thread : Actor::wgmma,
           reach.written ? AccessKind::write : AccessKind::read,
           {}},
          w.cta,
          w.number,
          by_thread ? std::countr_zero(r.lanes) : -1};
}

}  // namespace

Warpgroup& Warpgroups::of(Cluster& c, const std::array<uint32_t, 3>& cta, int warp) {
  Warpgroup& g = c.warpgroups[{clusters_.rank_of(cta), warp / 4}];
  if (g.unit == 0) g.unit = ledger_.units.add(clusters_.warp_of(c, cta, warp / 4 * 4));
  return g;
}

void Warpgroups::order(const Synchronisation& s, Cluster& c) {
  Warpgroup& g = of(c, s.cta, s.warp);
  const auto share = static_cast<size_t>(s.warp % 4);
  if (s.kind == SyncKind::mma_started) {
    g.started = s.which;
    g.running = std::move(g.issued[s.which]);
    g.issued.erase(s.which);
    c.starting = &g;
    return;
  }
  Warp& w = clusters_.warp_of(c, s.cta, s.warp);
  if (s.kind == SyncKind::mma_issued) {
    // One instruction of the whole warp: what any of its threads knows.
    g.issued[s.which].push_back({&w, published(w, s.lanes), w.time++, w.ended[0]});
    g.count[share] = s.which + 1;
    registers_issued(s, w, g.count[share]);
  } else if (s.kind == SyncKind::mma_committed) {
    g.groups[share].push_back(g.count[share]);
  } else if (auto& groups = g.groups[share]; groups.size() > s.which) {
    w.mmas.ended = groups[groups.size() - 1 - s.which];
    learn(w, s.lanes, raised(nullptr, g.unit, ~0u, static_cast<uint32_t>(w.mmas.ended)));
    groups.erase(groups.begin(), groups.end() - static_cast<std::ptrdiff_t>(s.which));
  }
}

void Warpgroups::reached(const machine::Reached& r, Cluster& c) {
  Warp& w = clusters_.warp_of(c, r.cta, r.warp);
  if (registers_->fences(r.ptx_line)) {
    for (auto& [mma, reached] : w.mmas.reached) reached.what = nullptr;
    return;
  }
  const bool under_way = w.mmas.last > w.mmas.ended;
  const MmaRegisters::Reach* last = nullptr;  // of those of MMAs under way the one issued last
  uint64_t issued_last = w.mmas.ended;
  for (const MmaRegisters::Reach& reach : registers_->at(r.ptx_line)) {
    if (under_way && reach.as != As::other_shape) {
      const auto issued = w.mmas.issued.find(reach.mma);
      if (issued != w.mmas.issued.end() && issued->second > issued_last) {
        last = &reach;
        issued_last = issued->second;
      }
    }
    const bool both_read = !reach.accumulator && !reach.written;
    if (reach.as != As::operand && !both_read) w.mmas.reached[reach.mma] = {party(reach, r, w), &reach};
  }
  if (last == nullptr) return;
  const Kind kind = last->accumulator || last->written ? Kind::mma_registers : Kind::mma_fragments;
  // Whoever does not wait reaches many registers: the first instruction that does is told of.
  if (told_of_mma_.try_emplace({kind, last->mma}, r.ptx_line).first->second != r.ptx_line) return;
  const AccessKind its = last->accumulator ? AccessKind::update : AccessKind::read;
  const Party mma{{last->mma, Actor::wgmma, its, {}}, w.cta, w.number, -1};
  ledger_.findings.add(kind, mma, party(*last, r, w), 0, 0).where = "register " + last->name;
}

void Warpgroups::registers_issued(const machine::Synchronisation& s, Warp& w, uint64_t count) {
  w.mmas.issued[s.ptx_line] = w.mmas.last = count;
  const auto at = w.mmas.reached.find(s.ptx_line);
  if (at == w.mmas.reached.end() || at->second.what == nullptr) return;
  const MmaUse::Reached reached = at->second;
  const Party mma{{s.ptx_line, Actor::wgmma, AccessKind::update, {}}, w.cta, w.number, -1};
  ledger_.findings.add(Kind::mma_fence, reached.by, mma, 0, 0).where = "register " + reached.what->name;
  // The same for the MMAs behind this one would say nothing more.
  at->second.what = nullptr;
  for (auto& [line, other] : w.mmas.reached)
    if (other.by.site.ptx_line == reached.by.site.ptx_line) other.what = nullptr;
}

}  // namespace bitwell::hazard
