// What streams are asked for, by either library: done at once, or logged where the stream is captured.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <string>

#include "verify/driver/core/state.h"

namespace bitwell::driver {

inline uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
template <class T>
uint64_t address_of(const T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// The kernel of a handle, or of a function of the program's. Refused so where it is none.
Kernel& kernel_of(State& s, const void* key, CUresult none = CUDA_ERROR_INVALID_HANDLE);
// A launch's parameters, one by one or in a buffer.
void give_parameters(State& s, Wanted& wanted, void** parameters, void** extra);

void copy(State& s, uint64_t to, uint64_t from, uint64_t bytes, const void* stream);
struct Rows {
  uint64_t width = 0, height = 1, to_pitch = 0, from_pitch = 0;
};
void copy_rows(State& s, uint64_t to, uint64_t from, const Rows& rows, const void* stream);
void fill(State& s, uint64_t to, uint32_t value, unsigned size, uint64_t count, const void* stream);
// Of a width in values: Refused where they cannot all be addressed; at once.
void check_fill(unsigned size, const Rows& rows);
void fill_now(State& s, uint64_t to, uint32_t value, unsigned size, const Rows& rows);
void fill_rows(State& s, uint64_t to, uint32_t value, unsigned size, const Rows& rows, const void* stream);
void launch(State& s, Wanted wanted);
void call_host(State& s, void (*function)(void*), void* data, const void* stream);
void synchronize(State& s, const void* stream);

// The shape of a launch, and its attributes one by one. Refused for a value that CUDA has not.
run::Shape shape_of(const Kernel& kernel, const unsigned* grid, const unsigned* block,
                    unsigned dynamic_shared);
void take_attribute(State& s, const CUlaunchAttribute& attribute, Wanted& to);

// Functions' attributes. Refused for one that there is none of.
int get_attribute(State& s, Kernel& kernel, CUfunction_attribute which);
void set_attribute(State& s, Kernel& kernel, CUfunction_attribute which, int value);
// CTAs that a multiprocessor, or clusters that the device, holds at once.
int active_blocks(State& s, Kernel& kernel, int threads, uint64_t dynamic_shared);
int active_clusters(State& s, const Wanted& wanted);
uint32_t most_in_cluster(State& s, const Kernel& kernel);
uint64_t most_threads(State& s, Kernel& kernel);

// What is known of a pointer: false where it leads to nothing of ours.
bool pointer_attribute(State& s, CUpointer_attribute which, uint64_t address, void* out);

}  // namespace bitwell::driver
