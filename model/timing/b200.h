// The table of a B200.
#pragma once
#include "model/timing/cost.h"

namespace bitwell::timing {

const Device& b200();

}  // namespace bitwell::timing
