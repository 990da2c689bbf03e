// What the ends of threads owe to setmaxnreg.
#pragma once

namespace bitwell::isa {

class Context;

// Faults where a warp ends without its warpgroup's setmaxnreg.
void check_register_counts(Context& context);

}  // namespace bitwell::isa
