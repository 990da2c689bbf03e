// The machine's own driver, behind a libcuda.so.1 that looks on.
#pragma once
#include <string_view>

namespace bitwell::driver {

// Its function of that symbol; one that gives CUDA_ERROR_NOT_SUPPORTED where it has none.
void* real_symbol(const char* symbol);
bool has_real(const char* symbol);
// What a program gets for a name with _ptsz whose other is looked at; nullptr for all else.
void* looked_at_by_thread(std::string_view symbol);

}  // namespace bitwell::driver

#define BITWELL_NAME2(f) #f
#define BITWELL_NAME(f) BITWELL_NAME2(f)
// A function of cuda.h, whose macros give it the name of its newest version, as the machine's driver has it.
#define REAL(f)                                                                        \
  (*[] {                                                                               \
    static const auto bitwell_at =                                                     \
        reinterpret_cast<decltype(&f)>(bitwell::driver::real_symbol(BITWELL_NAME(f))); \
    return bitwell_at;                                                                 \
  }())
