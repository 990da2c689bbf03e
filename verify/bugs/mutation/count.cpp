#include "verify/bugs/mutation/count.h"

namespace bitwell::bugs {

void Count::add(const Count& c) {
  sites += c.sites;
  planted += c.planted;
  named += c.named;
  wrong_bits += c.wrong_bits;
  runs_on += c.runs_on;
  race += c.race;
  noted += c.noted;
  unsupported += c.unsupported;
  not_ptx += c.not_ptx;
  missed += c.missed;
  equivalent += c.equivalent;
  gap += c.gap;
}

std::string percent_killed(const Count& count) {
  if (count.not_equivalent() == 0) return "-";
  const size_t tenths = 1000 * count.killed() / count.not_equivalent();
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

}  // namespace bitwell::bugs
