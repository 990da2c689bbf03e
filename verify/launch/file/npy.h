// NumPy's .npy, version 1.0: C order, little endian (numpy.lib.format).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bitwell::launch {

struct Array {
  std::string dtype;  // NumPy's descr without byte order: f2, f4, u1, i4, ...
  std::vector<uint64_t> shape;
  std::vector<std::byte> bytes;
};

uint64_t element_size(
    const std::string& dtype);  // bytes; InputError for a dtype that is not [biuf] and a size

// Throws InputError naming the file: not there, not .npy, Fortran order, big endian, wrong length.
Array read_npy(const std::string& path);
std::string npy_text(const Array& array);  // the file's contents

}  // namespace bitwell::launch
