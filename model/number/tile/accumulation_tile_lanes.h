// One row against kAccumulationLanes columns, compiled for every instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

#include "model/number/accumulation.h"

namespace bitwell::number {

// Values: a[k], sfa[k / 16]; b[k][lane], sfb[k / 16][lane].
struct AccumulationStrip {
  const float* a;
  const float* sfa;
  const float* b;
  const float* sfb;
  size_t k;
  float* sums;  // room for threads_of(order, k) * kAccumulationLanes
};
using AccumulationLanes = void (*)(const Accumulation& order, const AccumulationStrip& strip, uint16_t* c);

}  // namespace bitwell::number
