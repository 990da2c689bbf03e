#include "model/machine/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

constexpr uint32_t kMagic = 0x70614D54;

[[noreturn]] void beyond(const std::string& argument, uint64_t value, const std::string& limit) {
  throw InputError("tensor map: " + argument + " is " + std::to_string(value) + ", it must be " + limit);
}

bool is_tf32(TensorType t) { return t == TensorType::tf32 || t == TensorType::tf32_ftz; }

std::string element(const char* name, size_t i) { return std::string(name) + "[" + std::to_string(i) + "]"; }

// The limits of cuTensorMapEncodeIm2col.
void check_im2col(const TensorMap& m) {
  if (m.rank < 3) beyond("tensorRank", m.rank, "3 to 5 for im2col");
  if (m.padded() || m.type == TensorType::u4x16_align8b)
    throw Unsupported("im2col tensor maps of type " + m.type_name());
  if (m.im2col.channels > 256) beyond("channelsPerPixel", m.im2col.channels, "1 to 256");
  if (m.im2col.pixels < 1 || m.im2col.pixels > 1024) beyond("pixelsPerColumn", m.im2col.pixels, "1 to 1024");
  const int32_t bound = m.rank == 3 ? 1 << 15 : m.rank == 4 ? 1 << 7 : 1 << 4;
  for (size_t d = 0; d + 2 < m.rank; ++d)
    for (const auto& [name, corner] :
         {std::pair("pixelBoxLowerCorner", m.im2col.lower[d]), {"pixelBoxUpperCorner", m.im2col.upper[d]}})
      if (corner < -bound || corner >= bound)
        throw InputError("tensor map: " + element(name, d) + " is " + std::to_string(corner) +
                         ", it must be " + std::to_string(-bound) + " to " + std::to_string(bound - 1));
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

uint64_t TensorMap::pitch() const {
  return std::max<uint64_t>(row_bytes(), kTensorSwizzles[static_cast<size_t>(swizzle)].span);
}

void check(const TensorMap& m) {
  if (m.rank < 1 || m.rank > 5) beyond("tensorRank", m.rank, "1 to 5");
  if (m.im2col.channels != 0) check_im2col(m);
  const bool wide = m.padded();
  const uint64_t unit = wide ? 32 : 16;
  if (m.address % unit != 0) beyond("globalAddress", m.address, "a multiple of " + std::to_string(unit));
  for (size_t d = 0; d < m.rank; ++d) {
    if (m.dims[d] < 1 || m.dims[d] > uint64_t{1} << 32)
      beyond(element("globalDim", d), m.dims[d], "1 to 2^32");
    if (m.box[d] < 1 || m.box[d] > 256) beyond(element("boxDim", d), m.box[d], "1 to 256");
    if (m.element_strides[d] < 1 || m.element_strides[d] > 8)
      beyond(element("elementStrides", d), m.element_strides[d], "1 to 8");
    if (d > 0 && m.strides[d] % unit != 0)
      beyond(element("globalStrides", d - 1), m.strides[d], "a multiple of " + std::to_string(unit));
    if (d > 0 && m.strides[d] >= uint64_t{1} << 40)
      beyond(element("globalStrides", d - 1), m.strides[d], "below 2^40");
  }
  if (m.type == TensorType::u4x16_align8b && m.dims[0] % 2 != 0)
    beyond("globalDim[0]", m.dims[0], "even for 4-bit types");
  if (wide && m.dims[0] % 128 != 0) beyond("globalDim[0]", m.dims[0], "a multiple of 128 for this type");
  if (wide && m.box[0] != 128) beyond("boxDim[0]", m.box[0], "128 for this type");
  const uint64_t row = m.row_bytes();
  if (row % 16 != 0)
    beyond(m.im2col.channels != 0 ? "channelsPerPixel in bytes" : "boxDim[0] in bytes", row,
           "a multiple of 16");
  const uint32_t span = kTensorSwizzles[static_cast<size_t>(m.swizzle)].span;
  if (span != 0 && row > span)
    beyond(m.im2col.channels != 0 ? "channelsPerPixel in bytes" : "boxDim[0] in bytes", row,
           "at most " + std::to_string(span) + " with this swizzle");
  if (wide && m.swizzle > TensorSwizzle::b128_atom_32b)
    throw InputError("tensor map: swizzle " +
                     std::string(kTensorSwizzles[static_cast<size_t>(m.swizzle)].name) + " is not for type " +
                     m.type_name());
  if (m.fill_nan && !kTensorTypes[static_cast<size_t>(m.type)].floating)
    throw InputError("tensor map: oobFill NaN needs a floating-point type, not " +
                     std::string(kTensorTypes[static_cast<size_t>(m.type)].name));
}

TensorMapBytes encode(const TensorMap& m) {
  TensorMapBytes out{};
  size_t at = 0;
  const auto put = [&](uint64_t value, size_t bytes) {
    std::memcpy(out.data() + at, &value, bytes);
    at += bytes;
  };
  put(kMagic, 4);
  put(m.address, 8);
  put(static_cast<uint64_t>(m.type), 1);
  put(m.rank, 1);
  put(static_cast<uint64_t>(m.swizzle), 1);
  put(m.fill_nan ? 1 : 0, 1);
  for (size_t d = 0; d < 5; ++d) {
    put(m.dims[d] - 1, 4);
    put(m.strides[d], 8);
    put(m.box[d], 2);
    put(m.element_strides[d], 1);
  }
  put(m.im2col.channels, 2);
  put(m.im2col.pixels, 2);
  for (size_t d = 0; d < 3; ++d) {
    put(static_cast<uint16_t>(m.im2col.lower[d]), 2);
    put(static_cast<uint16_t>(m.im2col.upper[d]), 2);
  }
  return out;
}

std::optional<TensorMap> decode_tensor_map(std::span<const std::byte> bytes) {
  TensorMap m;
  size_t at = 0;
  const auto get = [&](size_t count) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, count);
    at += count;
    return value;
  };
  if (get(4) != kMagic) return std::nullopt;
  m.address = get(8);
  m.type = static_cast<TensorType>(get(1));
  m.rank = static_cast<uint32_t>(get(1));
  m.swizzle = static_cast<TensorSwizzle>(get(1));
  m.fill_nan = get(1) != 0;
  for (size_t d = 0; d < 5; ++d) {
    m.dims[d] = get(4) + 1;
    m.strides[d] = get(8);
    m.box[d] = static_cast<uint32_t>(get(2));
    m.element_strides[d] = static_cast<uint32_t>(get(1));
  }
  m.im2col.channels = static_cast<uint32_t>(get(2));
  m.im2col.pixels = static_cast<uint32_t>(get(2));
  for (size_t d = 0; d < 3; ++d) {
    m.im2col.lower[d] = static_cast<int16_t>(get(2));
    m.im2col.upper[d] = static_cast<int16_t>(get(2));
  }
  if (static_cast<size_t>(m.type) >= kTensorTypes.size() ||
      static_cast<size_t>(m.swizzle) >= kTensorSwizzles.size())
    return std::nullopt;
  return m;
}

void replace(TensorMap& m, TensorMapField field, uint32_t ordinal, uint64_t value) {
  const std::string name(kTensorMapFields[static_cast<size_t>(field)]);
  const uint32_t most = field == TensorMapField::global_stride ? 3 : 4;
  if (ordinal > most) beyond(name + "'s ordinal", ordinal, "0 to " + std::to_string(most));
  // The instruction's numbers of element types differ from cuTensorMapEncode's after f32.
  static constexpr TensorType types[] = {TensorType::u8,
                                         TensorType::u16,
                                         TensorType::u32,
                                         TensorType::s32,
                                         TensorType::u64,
                                         TensorType::s64,
                                         TensorType::f16,
                                         TensorType::f32,
                                         TensorType::f32_ftz,
                                         TensorType::f64,
                                         TensorType::bf16,
                                         TensorType::tf32,
                                         TensorType::tf32_ftz,
                                         TensorType::u4x16_align8b,
                                         TensorType::u4x16_align16b,
                                         TensorType::u6x16_align16b};
  switch (field) {
    case TensorMapField::global_address: m.address = value; return;
    case TensorMapField::rank: m.rank = static_cast<uint32_t>(std::min<uint64_t>(value, 254)) + 1; return;
    case TensorMapField::box_dim:
      m.box[ordinal] = static_cast<uint32_t>(std::min<uint64_t>(value, 0xFFFF));
      return;
    case TensorMapField::global_dim: m.dims[ordinal] = value; return;
    case TensorMapField::global_stride: m.strides[ordinal + 1] = value; return;
    case TensorMapField::element_stride:
      m.element_strides[ordinal] = static_cast<uint32_t>(std::min<uint64_t>(value, 255));
      return;
    case TensorMapField::elemtype:
      if (value >= std::size(types)) beyond(name, value, "0 to 15");
      // An H200 goes on rounding to tf32 where the new type is f32, and stops with an illegal instruction
      // where it is another.
      if (is_tf32(m.type) && !is_tf32(types[value]))
        throw InputError("tensor map: a tf32 map's elemtype cannot be replaced by " +
                         std::string(kTensorTypes[static_cast<size_t>(types[value])].name) +
                         ", whose rounding it would keep");
      m.type = types[value];
      return;
    case TensorMapField::interleave_layout:
      if (value != 0) throw Unsupported("tensor maps with interleave " + std::to_string(value));
      return;
    case TensorMapField::swizzle_mode:
      if (value > 3) beyond(name, value, "0 to 3");
      m.swizzle = static_cast<TensorSwizzle>(value);
      return;
    case TensorMapField::fill_mode:
      if (value > 1) beyond(name, value, "0 or 1");
      m.fill_nan = value == 1;
      return;
  }
}

}  // namespace bitwell::machine
