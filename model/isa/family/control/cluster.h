// What the ends of threads owe to setmaxnreg.
#pragma once

namespace bitwell::run {
class Context;
}

namespace bitwell::isa {

// Faults where a warp ends without its warpgroup's setmaxnreg.
void check_register_counts(run::Context& context);

}  // namespace bitwell::isa
