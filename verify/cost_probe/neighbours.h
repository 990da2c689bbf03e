// What multiprocessors that read the same of L2 at about one time wait for it.
#pragma once
#include <functional>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {

// A CTA on each multiprocessor reads turns of 16384 bytes by cp.async, four under way, round a region of
// 262144 bytes. CTA i's region is that of number i / among * regions + i % regions, of which i % among /
// regions more read: each of those begins so many turns behind the one before.
struct Reading {
  uint32_t among = 1, regions = 1, apart = 0;
};

// The kernel: entry "neighbours", for sm_90a. Its first buffer gets the cycles of each CTA, 8 bytes, for
// `turns` of them; before those it goes round its region once.
const char* reading_text();
// Its launch, without a module.
launch::Launch reading(const Reading& what, uint32_t ctas, uint32_t turns);

// `ctas`: one for each multiprocessor. `cycles`: of a turn, of the average CTA.
Rows neighbours(uint32_t ctas, const std::function<double(const Reading&)>& cycles);

}  // namespace bitwell::cost_probe
