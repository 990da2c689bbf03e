// Formats, products of tensor cores, quantisation and layouts over arrays in the host's memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bitwell::python {

// What numbers, names and sizes of arrays refuse is machine::InputError.

std::string formats_json();
// One code of a format an element, of 1, 2, 4 or 8 bytes, as values. fp64 holds every format's values.
void decode(const std::string& format, std::span<const std::byte> codes, int bytes, std::span<double> to);
// `rounding`: PTX's names, "rn", "rna", "rz", "rm", "rp".
void encode(const std::string& format, std::span<const double> values, const std::string& rounding,
            bool saturate, int bytes, std::span<std::byte> codes);

std::string recipes_json();
struct Quantised {
  std::vector<uint8_t> codes, scale_codes;
  std::vector<float> scales, values;
  float tensor_scale = 1;
  uint64_t clipped = 0;
};
Quantised quantise(const std::string& recipe, std::span<const float> x, uint64_t seed);

std::string instructions_json();
// Rows of `k` codes of A and B, and of scales, for so many dot products; the results' codes.
void dots(const std::string& instruction, size_t k, std::span<const uint32_t> a, std::span<const uint32_t> b,
          std::span<const uint32_t> c, std::span<const uint8_t> scales_a, std::span<const uint8_t> scales_b,
          std::span<uint32_t> d);

// What the device that is shown for an architecture has.
std::string device_json(int sm);

// An expression, or the name of a layout of hardware with its parameters (JSON: names to texts). Its offsets
// are in the order of its coordinates.
struct Laid {
  std::string text;              // as CuTe prints it
  std::string facts;             // JSON
  std::vector<int64_t> extents;  // of its modes
  std::vector<int64_t> offsets;
};
Laid lay_out(const std::string& what, const std::string& parameters);
std::string layouts_json();

// cuTensorMapEncodeTiled's arguments, numbers as its enumerations have them.
struct MapArguments {
  int type;
  uint64_t address;
  std::vector<uint64_t> dims, strides;  // strides: bytes of dimension 1 and up
  std::vector<uint32_t> box, element_strides;
  int interleave, swizzle, promotion, fill;
};
std::vector<std::byte> tensor_map(const MapArguments& arguments);

}  // namespace bitwell::python
