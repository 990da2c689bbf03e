// Registers of a wgmma, which are its own until the warp has waited for it, and which a wgmma.fence hands
// over to it (PTX ISA 9.0, 9.7.15.7.1 and 9.7.15.7.3). What one warp does in its own order decides both.
#include <bit>

#include "model/hazard/checker.h"

namespace bitwell::hazard {

using machine::AccessKind;
using As = MmaRegisters::Reach::As;

void Checker::registers_reached(const machine::Reached& r, Cluster& c) {
  Warp& w = warp_of(c, r.cta, r.warp);
  if (mma_registers_.fences(r.ptx_line)) return w.mmas.reached.clear();
  const MmaRegisters::Reach* last = nullptr;  // of those of MMAs under way the one issued last
  uint64_t issued_last = w.mmas.ended;
  for (const MmaRegisters::Reach& reach : mma_registers_.at(r.ptx_line)) {
    const auto issued = w.mmas.issued.find(reach.mma);
    if (reach.as != As::other_shape && issued != w.mmas.issued.end() && issued->second > issued_last) {
      last = &reach;
      issued_last = issued->second;
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
  found(kind, mma, party(*last, r, w), 0, 0).where = "register " + last->name;
}

Party Checker::party(const MmaRegisters::Reach& reach, const machine::Reached& r, const Warp& w) {
  const bool by_thread = reach.as == As::thread;
  return {{r.ptx_line,
           by_thread ? Actor::thread : Actor::wgmma,
           reach.written ? AccessKind::write : AccessKind::read,
           {}},
          w.cta,
          w.number,
          by_thread ? std::countr_zero(r.lanes) : -1};
}

void Checker::registers_issued(const machine::Synchronisation& s, Warp& w, uint64_t count) {
  w.mmas.issued[s.ptx_line] = count;
  const auto at = w.mmas.reached.find(s.ptx_line);
  if (at == w.mmas.reached.end()) return;
  const MmaUse::Reached reached = at->second;
  const Party mma{{s.ptx_line, Actor::wgmma, AccessKind::update, {}}, w.cta, w.number, -1};
  found(Kind::mma_fence, reached.by, mma, 0, 0).where = "register " + reached.what->name;
  // The same for the MMAs behind this one would say nothing more.
  std::erase_if(w.mmas.reached, [&](const auto& other) {
    return other.first == s.ptx_line || other.second.by.site.ptx_line == reached.by.site.ptx_line;
  });
}

}  // namespace bitwell::hazard
