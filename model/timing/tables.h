// The tables of costs, one for each device.
#pragma once
#include "model/timing/cost.h"

namespace bitwell::timing {

const Device& h200();
const Device& b200();

}  // namespace bitwell::timing
