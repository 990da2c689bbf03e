// The driver's functions as programs look them up.
#pragma once
#include <span>

namespace bitwell::driver {

struct EntryPoint {
  const char* name;
  int since;           // the first CUDA that has it: 12000
  const char* symbol;  // "cuMemAlloc_v2"
};
// By name, and of one name by `since`.
std::span<const EntryPoint> entry_points();

// The newest of that name that CUDA `version` has, with a body or without; nullptr where it has none.
// `by_thread`: the one for which NULL is the calling thread's own stream, where there are two.
void* entry_point(const char* name, int version, bool by_thread);

}  // namespace bitwell::driver
