#include "model/machine/tensor/tensor_map_bytes.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

// The instruction's numbers of element types, which the bytes have: those of cuTensorMapEncode differ after
// f32.
constexpr TensorType kTypes[] = {TensorType::u8,
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
constexpr uint64_t kFirstOwn = 13;  // type that no H200 has
// In a map of sm_100, the one type from here on whose number is known.
constexpr uint64_t kFourBitsOfSm100 = 11;

// Bytes 120 to 127 of a map that no H200 has: this name, then by how much the swizzle is beyond 128b.
constexpr std::string_view kMark = "bitwell";
constexpr size_t kMarkAt = 120, kAtomAt = 127;

constexpr const TensorMapBits& bits_of(MapBits which) {
  return kTensorMapBits[static_cast<size_t>(which)].bits;
}

constexpr uint64_t ones(uint32_t width) { return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

// No field crosses a word of 64 bits.
constexpr bool in_one_word() {
  for (const TensorMapBitsRow& row : kTensorMapBits)
    for (uint32_t i = 0; i < row.bits.count; ++i) {
      const uint32_t first = row.bits.first + i * row.bits.step;
      if (first / 64 != (first + row.bits.width - 1) / 64) return false;
    }
  return true;
}
static_assert(in_one_word());

using Words = std::array<uint64_t, 16>;

Words words_of(std::span<const std::byte, 128> bytes) {
  Words out;
  std::memcpy(out.data(), bytes.data(), sizeof out);
  return out;
}

uint64_t get(const Words& words, const TensorMapBits& b, uint32_t i = 0) {
  const uint32_t at = b.first + i * b.step;
  return words[at / 64] >> at % 64 & ones(b.width);
}

uint64_t get(const Words& words, MapBits which, uint32_t i = 0) { return get(words, bits_of(which), i); }

void put(Words& words, MapBits which, uint64_t value, uint32_t i = 0) {
  const TensorMapBits& b = bits_of(which);
  const uint32_t at = b.first + i * b.step;
  const uint64_t mask = ones(b.width) << at % 64;
  words[at / 64] = (words[at / 64] & ~mask) | (value << at % 64 & mask);
}

void store(const Words& words, TensorMapBytes& bytes) {
  std::memcpy(bytes.data(), words.data(), sizeof words);
}

// Bits of one corner of im2col.
uint32_t corner_bits(uint32_t rank) { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }

// All the corners of a rank from the innermost on.
uint64_t corners(const std::array<int32_t, 3>& values, uint32_t rank) {
  const uint32_t width = corner_bits(rank);
  uint64_t out = 0;
  for (uint32_t d = 0; d + 2 < rank; ++d)
    out |= (static_cast<uint64_t>(values[d]) & ones(width)) << d * width;
  return out;
}

std::array<int32_t, 3> corners_of(uint64_t word, uint32_t rank) {
  const uint32_t width = corner_bits(rank);
  std::array<int32_t, 3> out{};
  for (uint32_t d = 0; d + 2 < rank; ++d) {
    const auto value = static_cast<int32_t>(word >> d * width & ones(width));
    out[d] = value >> (width - 1) != 0 ? value - (1 << width) : value;
  }
  return out;
}

bool is_tf32(TensorType t) { return t == TensorType::tf32 || t == TensorType::tf32_ftz; }

uint64_t number_of(TensorType type) {
  return static_cast<uint64_t>(std::find(std::begin(kTypes), std::end(kTypes), type) - std::begin(kTypes));
}

void put_type(Words& words, uint64_t number) {
  const TensorType type = kTypes[number];
  put(words, MapBits::tf32, is_tf32(type) ? 1 : 0);
  put(words, MapBits::type,
      type == TensorType::tf32       ? number_of(TensorType::f32)
      : type == TensorType::tf32_ftz ? number_of(TensorType::f32_ftz)
                                     : number);
}

bool marked(std::span<const std::byte, 128> bytes) {
  return std::memcmp(bytes.data() + kMarkAt, kMark.data(), kMark.size()) == 0;
}

// Marks the bytes as bitwell's own, or no more, by their type and the swizzle's atom.
void mark(TensorMapBytes& bytes, uint64_t type, uint8_t atom) {
  const bool own = type >= kFirstOwn || atom != 0;
  if (!own && !marked(bytes)) return;
  for (size_t i = 0; i < kMark.size(); ++i)
    bytes[kMarkAt + i] = own ? static_cast<std::byte>(kMark[i]) : std::byte{0};
  bytes[kAtomAt] = static_cast<std::byte>(atom);
}

[[noreturn]] void refuse(const std::string& what) { throw InputError("tensor map: " + what); }

[[noreturn]] void refuse_beyond(const std::string& argument, uint64_t value, const std::string& limit) {
  refuse(argument + " is " + std::to_string(value) + ", it must be " + limit);
}

// The first bit set, of those that copies read, that no field has: what no driver writes there.
void refuse_unknown_bits(const Words& words, bool im2col, uint32_t rank) {
  Words known{};
  for (const TensorMapBitsRow& row : kTensorMapBits) {
    if (row.mode == (im2col ? TensorMapMode::tile : TensorMapMode::im2col)) continue;
    if (&row.bits == &bits_of(MapBits::sm_100_store) && get(words, MapBits::sm_100) == 0) continue;
    TensorMapBits b = row.bits;
    if (&row.bits == &bits_of(MapBits::lower) || &row.bits == &bits_of(MapBits::upper))
      b.width = corner_bits(rank) * (rank - 2);
    for (uint32_t i = 0; i < b.count; ++i) {
      const uint32_t at = b.first + i * b.step;
      known[at / 64] |= ones(b.width) << at % 64;
    }
  }
  for (uint32_t w = 0; w < kMapBytesRead / 8; ++w)
    if (const uint64_t unknown = words[w] & ~known[w]; unknown != 0) {
      const auto at = 64 * w + static_cast<uint32_t>(__builtin_ctzll(unknown));
      refuse("bit " + std::to_string(at) + " (byte " + std::to_string(at / 8) +
             ") is set, which no driver has been seen to write");
    }
}

}  // namespace

uint64_t bits_in(std::span<const std::byte, 128> bytes, const TensorMapBits& field, uint32_t i) {
  return get(words_of(bytes), field, i);
}

TensorMapBytes encode(const TensorMap& m) {
  Words w{};
  const bool im2col = m.im2col.channels != 0;
  const auto swizzle = static_cast<uint8_t>(m.swizzle);
  const auto most = static_cast<uint8_t>(TensorSwizzle::b128);
  put(w, MapBits::address, m.address);
  put(w, MapBits::im2col, im2col ? 1 : 0);
  put(w, MapBits::rank, m.rank - 1);
  put_type(w, number_of(m.type));
  put(w, MapBits::interleave, static_cast<uint64_t>(m.interleave));
  put(w, MapBits::swizzle, std::min(swizzle, most));
  put(w, MapBits::fill, m.fill_nan ? 1 : 0);
  put(w, MapBits::promotion, static_cast<uint64_t>(m.promotion));
  for (uint32_t d = 0; d < 5; ++d) {
    put(w, MapBits::dim, m.dims[d] - 1, d);
    put(w, MapBits::element_stride, m.element_strides[d] - 1, d);
    if (d == 0) continue;
    put(w, MapBits::stride, m.strides[d] >> 4, d - 1);
    put(w, MapBits::high_stride, m.strides[d] >> 36, d - 1);
    if (!im2col) put(w, MapBits::box, m.box[d] - 1, d - 1);
  }
  if (im2col) {
    put(w, MapBits::channels, m.im2col.channels - 1);
    put(w, MapBits::lower, corners(m.im2col.lower, m.rank));
    put(w, MapBits::upper, corners(m.im2col.upper, m.rank));
    put(w, MapBits::pixels, m.im2col.pixels - 1);
  } else {
    put(w, MapBits::box_row, m.box[0] - 1);
  }
  put(w, MapBits::box_bytes, m.driver_box_bytes());
  const uint32_t span = kTensorSwizzles[swizzle].span;
  put(w, MapBits::alignment, span == 0 ? 16 : 8 * span);
  TensorMapBytes out;
  store(w, out);
  mark(out, number_of(m.type), static_cast<uint8_t>(swizzle - std::min(swizzle, most)));
  return out;
}

TensorMap decode_tensor_map(std::span<const std::byte, 128> bytes) {
  const Words w = words_of(bytes);
  TensorMap m;
  const bool im2col = get(w, MapBits::im2col) != 0;
  const bool own = marked(bytes);
  m.rank = static_cast<uint32_t>(get(w, MapBits::rank)) + 1;
  if (m.rank > 5) refuse_beyond("tensorRank", m.rank, "1 to 5");
  if (im2col && m.rank < 3) refuse_beyond("tensorRank", m.rank, "3 to 5 for im2col");
  refuse_unknown_bits(w, im2col, m.rank);
  m.address = get(w, MapBits::address);
  uint64_t type = get(w, MapBits::type);
  if (get(w, MapBits::sm_100) != 0 && type >= kFourBitsOfSm100) {
    if (type != kFourBitsOfSm100)
      refuse("the type's bits are " + std::to_string(type) + " in a map of sm_100, of which bitwell knows " +
             std::to_string(kFourBitsOfSm100) + " and those below");
    type = number_of(TensorType::u4x16_align8b);
  } else if (type >= kFirstOwn && !own) {
    refuse("type " + std::string(kTensorTypes[static_cast<size_t>(kTypes[type])].name) +
           " in bytes that bitwell has not made: what Blackwell's driver writes is not known");
  }
  if (is_tf32(kTypes[type]))
    refuse("the type's bits are " + std::to_string(type) + ", which no driver writes");
  m.type = kTypes[type];
  if (get(w, MapBits::tf32) != 0) {
    if (m.type != TensorType::f32 && m.type != TensorType::f32_ftz)
      refuse("values are to be rounded to tf32, of type " + m.type_name());
    m.type = m.type == TensorType::f32 ? TensorType::tf32 : TensorType::tf32_ftz;
  }
  m.interleave = static_cast<TensorInterleave>(get(w, MapBits::interleave));
  if (static_cast<size_t>(m.interleave) >= kTensorInterleaves.size())
    refuse_beyond("interleave", 3, "0 to 2");
  const uint64_t swizzle = get(w, MapBits::swizzle) + (own ? static_cast<uint64_t>(bytes[kAtomAt]) : 0);
  if (swizzle >= kTensorSwizzles.size()) refuse_beyond("swizzle", swizzle, "0 to 6");
  m.swizzle = static_cast<TensorSwizzle>(swizzle);
  m.fill_nan = get(w, MapBits::fill) != 0;
  m.promotion = static_cast<L2Promotion>(get(w, MapBits::promotion));
  for (uint32_t d = 0; d < 5; ++d) {
    m.dims[d] = get(w, MapBits::dim, d) + 1;
    m.element_strides[d] = static_cast<uint32_t>(get(w, MapBits::element_stride, d)) + 1;
    if (d == 0) continue;
    m.strides[d] = get(w, MapBits::stride, d - 1) << 4 | get(w, MapBits::high_stride, d - 1) << 36;
    if (!im2col) m.box[d] = static_cast<uint32_t>(get(w, MapBits::box, d - 1)) + 1;
  }
  if (im2col) {
    m.im2col.channels = static_cast<uint32_t>(get(w, MapBits::channels)) + 1;
    m.im2col.pixels = static_cast<uint32_t>(get(w, MapBits::pixels)) + 1;
    m.im2col.lower = corners_of(get(w, MapBits::lower), m.rank);
    m.im2col.upper = corners_of(get(w, MapBits::upper), m.rank);
  } else {
    m.box[0] = static_cast<uint32_t>(get(w, MapBits::box_row)) + 1;
  }
  return m;
}

void replace(TensorMapBytes& bytes, TensorMapField field, uint32_t ordinal, uint64_t value) {
  const TensorMap before = decode_tensor_map(bytes);
  const std::string name(kTensorMapFields[static_cast<size_t>(field)]);
  const uint32_t most = field == TensorMapField::global_stride ? 3 : 4;
  if (ordinal > most) refuse_beyond(name + "'s ordinal", ordinal, "0 to " + std::to_string(most));
  const auto within = [&](uint64_t first, uint64_t last) {
    if (value < first || value > last)
      refuse_beyond(name, value, std::to_string(first) + " to " + std::to_string(last));
    return value - first;
  };
  auto atom = static_cast<uint8_t>(bytes[kAtomAt]);
  Words w = words_of(bytes);
  switch (field) {
    case TensorMapField::global_address:
      put(w, MapBits::address, within(0, ones(bits_of(MapBits::address).width)));
      break;
    case TensorMapField::rank: put(w, MapBits::rank, within(0, 4)); break;
    case TensorMapField::box_dim:
      if (before.im2col.channels != 0) throw Unsupported("tensormap.replace of box_dim in a map of im2col");
      put(w, ordinal == 0 ? MapBits::box_row : MapBits::box, within(1, 256), ordinal == 0 ? 0 : ordinal - 1);
      break;
    case TensorMapField::global_dim: put(w, MapBits::dim, value - 1, ordinal); break;
    case TensorMapField::global_stride:
      if (value % 16 != 0) refuse_beyond(name, value, "a multiple of 16");
      if (value >> 40 != 0) refuse_beyond(name, value, "below 2^40");
      put(w, MapBits::stride, value >> 4, ordinal);
      put(w, MapBits::high_stride, value >> 36, ordinal);
      break;
    case TensorMapField::element_stride: put(w, MapBits::element_stride, within(1, 8), ordinal); break;
    case TensorMapField::elemtype:
      within(0, std::size(kTypes) - 1);
      // An H200 goes on rounding to tf32 where the new type is f32, and stops with an illegal instruction
      // where it is another.
      if (is_tf32(before.type) && !is_tf32(kTypes[value]))
        refuse("a tf32 map's elemtype cannot be replaced by " +
               std::string(kTensorTypes[static_cast<size_t>(kTypes[value])].name) +
               ", whose rounding it would keep");
      if (get(w, MapBits::sm_100) != 0 && value >= kFourBitsOfSm100) {
        if (kTypes[value] != TensorType::u4x16_align8b)
          throw Unsupported("tensormap.replace of elemtype by " + std::to_string(value) +
                            " in a map as the CuTe DSL makes them for sm_100a");
        put(w, MapBits::type, kFourBitsOfSm100);
        break;
      }
      put_type(w, value);
      break;
    case TensorMapField::interleave_layout: put(w, MapBits::interleave, within(0, 2)); break;
    case TensorMapField::swizzle_mode:
      if (value != 3) atom = 0;
      put(w, MapBits::swizzle, within(0, 3));
      break;
    case TensorMapField::fill_mode: put(w, MapBits::fill, within(0, 1)); break;
  }
  store(w, bytes);
  if (get(w, MapBits::sm_100) == 0) mark(bytes, get(w, MapBits::type), atom);
}

}  // namespace bitwell::machine
