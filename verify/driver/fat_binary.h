// What nvcc puts into a host program: a fat binary, which is a list of PTX texts and of machine code.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace bitwell::driver {

struct FatBinary {
  std::vector<std::string> ptx;
  std::vector<std::string> machine_code;  // "sm_100": what has no PTX beside it or in it
  std::vector<std::string> trouble;       // entries that could not be read, and why
};

// Of the structure that __cudaRegisterFatBinary is given, or of what cudaLibraryLoadData is: a fat binary's
// own header, a cubin, or PTX as text.
FatBinary read_fat_binary(const void* image);

}  // namespace bitwell::driver
