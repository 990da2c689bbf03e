#include "model/machine/tensor/tensor_map.h"

#include <algorithm>
#include <utility>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

constexpr uint64_t kMostBox = 227 << 10;  // bytes: all of the shared memory that a CTA may have

[[noreturn]] void beyond(const std::string& argument, uint64_t value, const std::string& limit) {
  throw InputError("tensor map: " + argument + " is " + std::to_string(value) + ", it must be " + limit);
}

std::string element(const char* name, size_t i) { return std::string(name) + "[" + std::to_string(i) + "]"; }

// The limits of cuTensorMapEncodeIm2col.
void check_im2col(const TensorMap& m) {
  if (m.rank < 3) beyond("tensorRank", m.rank, "3 to 5 for im2col");
  if (m.padded() || m.type == TensorType::u4x16_align8b)
    throw Unsupported("im2col tensor maps of type " + m.type_name());
  if (m.im2col.channels > 256) beyond("channelsPerPixel", m.im2col.channels, "1 to 256");
  if (m.im2col.pixels < 1 || m.im2col.pixels > 1024) beyond("pixelsPerColumn", m.im2col.pixels, "1 to 1024");
  const int32_t bound = m.rank == 3 ? 1 << 15 : m.rank == 4 ? 1 << 7 : 1 << 4;
  for (size_t d = 0; d + 2 < m.rank; ++d) {
    for (const auto& [name, corner] :
         {std::pair("pixelBoxLowerCorner", m.im2col.lower[d]), {"pixelBoxUpperCorner", m.im2col.upper[d]}})
      if (corner < -bound || corner >= bound)
        throw InputError("tensor map: " + element(name, d) + " is " + std::to_string(corner) +
                         ", it must be " + std::to_string(-bound) + " to " + std::to_string(bound - 1));
    // The driver adds in 32 bits, and takes a dimension further in where elements are interleaved.
    const size_t space = m.interleave == TensorInterleave::none ? d + 1 : d;
    const auto end =
        static_cast<int32_t>(static_cast<uint32_t>(m.dims[space]) + static_cast<uint32_t>(m.im2col.upper[d]));
    if (end <= m.im2col.lower[d])
      throw InputError("tensor map: " + element("pixelBoxLowerCorner", d) + " is " +
                       std::to_string(m.im2col.lower[d]) + ", it must be below " +
                       element("globalDim", space) + " + " + element("pixelBoxUpperCorner", d) + ", " +
                       std::to_string(end));
  }
}

}  // namespace

uint64_t TensorMap::row_bytes() const {
  const uint64_t elements = extent(0);
  if (padded()) return elements;  // 16 for 16
  return elements * static_cast<uint64_t>(bits()) / 8;
}

uint64_t TensorMap::rows() const {
  uint64_t count = 1;
  for (size_t d = 1; d < rank; ++d) count *= extent(d);
  return count;
}

uint64_t TensorMap::driver_box_bytes() const {
  uint64_t elements = im2col.channels != 0 ? uint64_t{im2col.channels} * im2col.pixels : 1;
  if (im2col.channels == 0)
    for (size_t d = 0; d < rank; ++d) elements *= box[d] / element_strides[d];
  return elements * static_cast<uint64_t>(bits()) / 8;
}

uint64_t TensorMap::pitch() const {
  return std::max<uint64_t>(row_bytes(), kTensorSwizzles[static_cast<size_t>(swizzle)].span);
}

void check(const TensorMap& m) {
  if (m.rank < 1 || m.rank > 5) beyond("tensorRank", m.rank, "1 to 5");
  const bool interleaved = m.interleave != TensorInterleave::none;
  if (interleaved && m.rank < 3) beyond("tensorRank", m.rank, "3 to 5 where elements are interleaved");
  const bool wide = m.padded();
  const uint64_t unit = wide || m.interleave == TensorInterleave::b32 ? 32 : 16;
  if (m.address >> 57 != 0) beyond("globalAddress", m.address, "below 2^57");
  if (m.address % unit != 0) beyond("globalAddress", m.address, "a multiple of " + std::to_string(unit));
  for (size_t d = 0; d < m.rank; ++d) {
    if (m.dims[d] < 1 || m.dims[d] > uint64_t{1} << 32)
      beyond(element("globalDim", d), m.dims[d], "1 to 2^32");
    if (m.im2col.channels == 0 && (m.box[d] < 1 || m.box[d] > 256))
      beyond(element("boxDim", d), m.box[d], "1 to 256");
    if (m.element_strides[d] < 1 || m.element_strides[d] > 8)
      beyond(element("elementStrides", d), m.element_strides[d], "1 to 8");
    if (d > 0 && m.strides[d] % unit != 0)
      beyond(element("globalStrides", d - 1), m.strides[d], "a multiple of " + std::to_string(unit));
    if (d > 0 && m.strides[d] >= uint64_t{1} << 40)
      beyond(element("globalStrides", d - 1), m.strides[d], "below 2^40");
  }
  if (m.im2col.channels != 0) check_im2col(m);
  if (m.type == TensorType::u4x16_align8b && m.dims[0] % 2 != 0)
    beyond("globalDim[0]", m.dims[0], "even for 4-bit types");
  if (wide && m.dims[0] % 128 != 0) beyond("globalDim[0]", m.dims[0], "a multiple of 128 for this type");
  if (wide && m.box[0] != 128) beyond("boxDim[0]", m.box[0], "128 for this type");
  const uint64_t row = m.row_bytes();
  if (row % 16 != 0)
    beyond(m.im2col.channels != 0 ? "channelsPerPixel in bytes" : "boxDim[0] in bytes", row,
           "a multiple of 16");
  const uint32_t span = kTensorSwizzles[static_cast<size_t>(m.swizzle)].span;
  if (span != 0 && row > span && !interleaved)
    beyond(m.im2col.channels != 0 ? "channelsPerPixel in bytes" : "boxDim[0] in bytes", row,
           "at most " + std::to_string(span) + " with this swizzle");
  if (wide && m.swizzle > TensorSwizzle::b128_atom_32b)
    throw InputError("tensor map: swizzle " +
                     std::string(kTensorSwizzles[static_cast<size_t>(m.swizzle)].name) + " is not for type " +
                     m.type_name());
  if (m.fill_nan && !kTensorTypes[static_cast<size_t>(m.type)].floating)
    throw InputError("tensor map: oobFill NaN needs a floating-point type, not " +
                     std::string(kTensorTypes[static_cast<size_t>(m.type)].name));
  if (m.driver_box_bytes() > kMostBox)
    beyond(m.im2col.channels != 0 ? "channelsPerPixel * pixelsPerColumn in bytes" : "boxDim in bytes",
           m.driver_box_bytes(), "at most " + std::to_string(kMostBox));
}

void require_modelled(const TensorMap& m) {
  if (m.interleave != TensorInterleave::none)
    throw Unsupported("tensor maps with interleave " +
                      std::string(kTensorInterleaves[static_cast<size_t>(m.interleave)]));
}

}  // namespace bitwell::machine
