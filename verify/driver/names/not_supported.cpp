// Every function of CUDA's driver and runtime: one that has no body elsewhere names itself when it is called.
#include "verify/driver/names/not_supported.h"

#include "verify/driver/names/entry_points.h"

// Arguments are left alone, whatever they are.
#define FUNCTION(name) \
  extern "C" __attribute__((weak)) int name() { return bitwell::driver::not_supported(#name); }
#include "verify/driver/names/functions.inc"
#undef FUNCTION

namespace bitwell::driver {

std::span<const EntryPoint> entry_points() {
  static constexpr EntryPoint all[] = {
#include "verify/driver/names/entry_points.inc"
  };
  return all;
}

}  // namespace bitwell::driver
