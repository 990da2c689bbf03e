#include "verify/findings/act.h"

namespace bitwell::findings {

using hazard::Actor;
using machine::Access;

bool meets(const Access& a, int lane, uint64_t address, uint64_t bytes) {
  if (a.rows != 0) {
    const uint64_t place = a.addresses[a.lanes == 0 ? 0 : static_cast<size_t>(__builtin_ctz(a.lanes))];
    const uint64_t column = place & 0xFFFF, first = place >> 16 & 0xFFFF;
    const uint64_t cell = address >> 16 & 0xFFFF;
    return place >> 32 == address >> 32 && (address & 0xFFFF) - column < a.bytes / 4 &&
           cell < first + a.rows && first < cell + bytes;
  }
  const auto at = [&](uint64_t from) { return from < address + bytes && address < from + a.bytes; };
  if (a.lanes == 0) return at(a.addresses[0]);
  for (uint32_t lanes = a.lanes; lanes != 0; lanes &= lanes - 1) {
    const int i = __builtin_ctz(lanes);
    if ((lane < 0 || lane == i) && at(a.addresses[static_cast<size_t>(i)])) return true;
  }
  return false;
}

bool is_of(const Access& a, const hazard::Party& p) {
  const bool operation = p.site.actor != Actor::thread && !hazard::is_move(p.site.actor);
  if (a.ptx_line != p.site.ptx_line || a.kind != p.site.kind || (a.operation != 0) != operation) return false;
  if (p.warp < 0) return true;
  if (a.cta != p.cta) return false;
  return p.site.actor == Actor::wgmma ? a.warp / 4 == p.warp / 4 : a.warp == p.warp;
}

}  // namespace bitwell::findings
