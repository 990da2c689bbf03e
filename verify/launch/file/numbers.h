// Arrays of numbers in the formats that kernels read: fp4, fp8, bf16 and the others of model/number.
#pragma once
#include <string>
#include <vector>

#include "model/number/format.h"
#include "verify/launch/file/npy.h"

namespace bitwell::launch {

// A format whose codes lie in memory side by side: of 4 bits two a byte, the low nibble first, or of whole
// bytes. InputError for a name that is none, with those that there are.
const number::Format& packed_format(const std::string& name);
uint64_t bits_of_packed(const std::string& name);  // of an element

// The numbers of an array as codes of that format: to nearest even; what is too large becomes the largest of
// a format without infinity. InputError for an odd count of 4 bits, and for NaN where the format has none.
std::vector<std::byte> packed(const Array& array, const std::string& format);
// Codes as an array of f4, or f8 for f64. Empty `shape`: one dimension.
Array unpacked(const std::vector<std::byte>& codes, const std::string& format, std::vector<uint64_t> shape);

// An array's elements, exactly.
std::vector<long double> numbers(const Array& array);

}  // namespace bitwell::launch
