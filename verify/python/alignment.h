// Where another library's allocations stand.
#pragma once
#include <cstddef>
#include <string_view>

namespace bitwell::python {

// From now on what the loaded library of that file name ("libc10.so", of torch) asks posix_memalign for
// stands at multiples of `alignment`, a power of two, at least: torch's tensors of the CPU stand at multiples
// of 64 bytes, a GPU's at 512, and kernels look. Its table of imported functions is changed (System V
// ABI, 5.2.6), nothing else of the process. False where no such library is loaded, or it does not import that
// function.
bool align_allocations_of(std::string_view library, size_t alignment);

}  // namespace bitwell::python
