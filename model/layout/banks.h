// Shared-memory bank conflicts of one access by a warp.
#pragma once
#include <vector>

#include "model/layout/swizzle.h"

namespace bitwell::layout {

// Shared memory has 32 banks of 4 bytes. A warp's access of 8 bytes a thread is served half a warp at a
// time, of 16 bytes a quarter at a time (CUDA programming guide, shared memory; seen on V100 to H100).
struct BankPhase {
  int first_thread;
  int ways;  // how often the busiest bank is needed for different words: 1 is free of conflicts
  int bank;  // the busiest (the lowest of them)
  std::vector<int> threads;  // those that need it
};
struct BankReport {
  std::vector<BankPhase> phases;
  int wavefronts;  // sum of ways
  int ideal;       // wavefronts of an access without conflicts
};

// thread_value: (thread, value) to element offset, 32 threads; `element_bits` an element; each thread moves
// `vector_bytes` (4, 8 or 16) at the offset of its value `value`. LayoutError on a misaligned access or
// other sizes.
BankReport bank_conflicts(const Composed& thread_value, int64_t value, int64_t element_bits,
                          int64_t vector_bytes);

}  // namespace bitwell::layout
