// The table of an H200.
#pragma once
#include "model/timing/cost.h"

namespace bitwell::timing {

const Device& h200();

}  // namespace bitwell::timing
