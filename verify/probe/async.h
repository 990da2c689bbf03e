// Hopper's asynchronous instructions one family at a time: kernels drawn at random from a seed. The GPU runs
// the same kernels, and its memory must be the simulator's, byte for byte.
#pragma once
#include <string>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::probe {

struct AsyncCase {
  std::string ptx;  // module text; cases of a family share few of them
  launch::Launch launch;
  std::string description;  // what was drawn, for a failure
};
struct AsyncFamily {
  std::string name;
  AsyncCase (*draw)(uint64_t seed);
};
std::vector<AsyncFamily> async_families();

// Cases of a family whose digest a device run records: seeds 1 and up.
inline constexpr uint64_t kAsyncRecorded = 40;

}  // namespace bitwell::probe
