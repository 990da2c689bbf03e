// The 128 bytes of tensor maps against what the driver of an H200 wrote for 14,766 sets of arguments of
// cuTensorMapEncodeTiled, Im2col and Im2colWide: the same bytes, the same maps back, the same refusals.
#include "model/machine/tensor/tensor_map_bytes.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/capture/captures.h"
#include "verify/capture/packed.h"

namespace bitwell::machine {
namespace {

// A line of the record: what the driver was given, and the bytes in hexadecimal digits or "error N".
struct Row {
  std::string line, mode, result;
  std::map<std::string, std::vector<int64_t>> arguments;
  bool refused() const { return result.starts_with("error"); }
};

std::vector<Row> recorded() {
  std::istringstream text(capture::read_packed(capture::share_folder("captures") + "/tensor_maps.txt.xz"));
  std::vector<Row> out;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("#")) continue;
    const size_t colon = line.find(" : ");
    Row row{line, {}, line.substr(colon + 3), {}};
    std::istringstream words(line.substr(0, colon));
    words >> row.mode;
    for (std::string name, values; words >> name >> values;) {
      std::istringstream list(values);
      for (std::string v; std::getline(list, v, ',');)
        row.arguments[name].push_back(static_cast<int64_t>(std::stoull(v[0] == '-' ? v.substr(1) : v)) *
                                      (v[0] == '-' ? -1 : 1));
    }
    out.push_back(std::move(row));
  }
  return out;
}

// The driver's arguments as a map. Of what is wide, it takes the corners of W alone.
TensorMap map_of(const Row& row) {
  const auto& a = row.arguments;
  const auto one = [&](const char* name) { return static_cast<uint32_t>(a.at(name)[0]); };
  TensorMap m;
  m.type = static_cast<TensorType>(one("type"));
  m.rank = one("rank");
  m.address = static_cast<uint64_t>(a.at("address")[0]);
  m.swizzle = static_cast<TensorSwizzle>(one("swizzle"));
  m.fill_nan = one("fill") != 0;
  m.interleave = static_cast<TensorInterleave>(one("interleave"));
  m.promotion = static_cast<L2Promotion>(one("promotion"));
  for (size_t d = 0; d < m.rank; ++d) {
    m.dims[d] = static_cast<uint64_t>(a.at("dims")[d]);
    m.element_strides[d] = static_cast<uint32_t>(a.at("element_strides")[d]);
    if (d > 0) m.strides[d] = static_cast<uint64_t>(a.at("strides")[d - 1]);
    if (row.mode == "tiled") m.box[d] = static_cast<uint32_t>(a.at("box")[d]);
  }
  if (row.mode == "tiled") return m;
  m.im2col.channels = one("channels");
  m.im2col.pixels = one("pixels");
  const size_t corners = row.mode == "im2col_wide" ? 1 : 3;
  for (size_t d = 0; d < corners && d + 2 < m.rank; ++d) {
    m.im2col.lower[d] = static_cast<int32_t>(a.at("lower")[d]);
    m.im2col.upper[d] = static_cast<int32_t>(a.at("upper")[d]);
  }
  return m;
}

// Blackwell's types and swizzles, which an H200's driver does not take.
bool is_blackwells(const TensorMap& m) {
  return m.type >= TensorType::u4x16_align8b || m.swizzle > TensorSwizzle::b128;
}

TensorMapBytes bytes_of(const std::string& digits) {
  TensorMapBytes out;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  return out;
}

std::string refusal(const TensorMap& m) {
  try {
    machine::check(m);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

// In one line, as the driver's documentation calls it.
bool names_an_argument(const std::string& refusal) {
  static const std::regex line(
      "tensor map: "
      "(tensorRank|globalAddress|globalDim\\[\\d\\]|globalStrides\\[\\d\\]|boxDim|boxDim\\[\\d\\]|"
      "oobFill NaN|pixelBox(Lower|Upper)Corner\\[\\d\\]|channelsPerPixel|elementStrides\\[\\d\\])[^\n]*");
  return std::regex_match(refusal, line);
}

bool same(const TensorMap& a, const TensorMap& b) {
  return a.type == b.type && a.rank == b.rank && a.address == b.address && a.dims == b.dims &&
         a.strides == b.strides && a.box == b.box && a.element_strides == b.element_strides &&
         a.swizzle == b.swizzle && a.fill_nan == b.fill_nan && a.interleave == b.interleave &&
         a.promotion == b.promotion && a.im2col.channels == b.im2col.channels &&
         a.im2col.pixels == b.im2col.pixels && a.im2col.lower == b.im2col.lower &&
         a.im2col.upper == b.im2col.upper;
}

TEST(TensorMapBytes, AreTheDriversOfEveryArgumentAndReadBack) {
  size_t written = 0;
  size_t refused = 0;
  for (const Row& row : recorded()) {
    const TensorMap m = map_of(row);
    if (row.refused()) {
      ++refused;
      if (!is_blackwells(m)) {
        ASSERT_TRUE(names_an_argument(refusal(m))) << refusal(m) << "\n" << row.line;
      }
      continue;
    }
    ++written;
    ASSERT_EQ(refusal(m), "") << row.line;
    const TensorMapBytes bytes = bytes_of(row.result);
    const TensorMapBytes ours = machine::encode(m);
    for (size_t i = 0; i < bytes.size(); ++i)
      ASSERT_EQ(ours[i], bytes[i]) << "byte " << i << ": " << row.line;
    ASSERT_TRUE(same(machine::decode_tensor_map(bytes), m)) << row.line;
  }
  EXPECT_EQ(written, 9025u);
  EXPECT_EQ(refused, 5741u);
}

// A bit in none of the fields, or a value that no driver writes, is refused by name.
TEST(TensorMapBytes, UnknownBitsAreRefusedOneByOne) {
  TensorMap tiles;
  tiles.type = TensorType::f16;
  tiles.rank = 5;
  TensorMap pixels = tiles;
  pixels.im2col = {8, 8, {-1, -1, -1}, {-1, -1, -1}};
  for (const TensorMap& m : {tiles, pixels}) {
    const bool im2col = m.im2col.channels != 0;
    std::vector<bool> known(1024);
    for (const TensorMapBitsRow& row : machine::kTensorMapBits)
      if (row.mode != (im2col ? TensorMapMode::tile : TensorMapMode::im2col))
        for (uint32_t i = 0; i < row.bits.count; ++i)
          for (uint32_t b = 0; b < row.bits.width; ++b) known[row.bits.first + i * row.bits.step + b] = true;
    if (im2col) known[448 + 15] = known[464 + 15] = false;  // three corners of 5 bits
    const TensorMapBytes bytes = machine::encode(m);
    for (size_t bit = 0; bit < known.size(); ++bit) {
      if (known[bit]) continue;
      TensorMapBytes other = bytes;
      other[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      if (bit >= 8 * machine::kMapBytesRead) {  // that no copy reads
        EXPECT_TRUE(same(machine::decode_tensor_map(other), m)) << bit;
        continue;
      }
      std::string why;
      try {
        machine::decode_tensor_map(other);
      } catch (const InputError& e) {
        why = e.what();
      }
      EXPECT_EQ(why, "tensor map: bit " + std::to_string(bit) + " (byte " + std::to_string(bit / 8) +
                         ") is set, which no driver has been seen to write");
    }
  }
}

// tensormap.replace of every field of 128 zero bytes, as it was done on an H200: its first 64 bytes were the
// driver's of the same arguments.
TEST(TensorMapBytes, ReplacedOnZerosAreThoseOfTheDriver) {
  using F = TensorMapField;
  struct Step {
    F field;
    uint32_t ordinal;
    uint64_t value;
  };
  TensorMapBytes bytes{};
  for (const Step& s : {Step{F::swizzle_mode, 0, 3},
                        {F::global_dim, 1, 64},
                        {F::elemtype, 0, 6},
                        {F::global_address, 0, 0x7F8561E00000},
                        {F::box_dim, 0, 64},
                        {F::box_dim, 1, 8},
                        {F::global_dim, 0, 256},
                        {F::global_stride, 0, 512},
                        {F::element_stride, 0, 1},
                        {F::element_stride, 1, 1},
                        {F::rank, 0, 1},
                        {F::interleave_layout, 0, 0},
                        {F::fill_mode, 0, 0}})
    machine::replace(bytes, s.field, s.ordinal, s.value);
  const TensorMapBytes driver = bytes_of(
      "0000e061857f0000106300002000000000000000000000000000000000000000"
      "ff0000003f0000000000000000000000000000000000003f0700000000000000" +
      std::string(128, '0'));
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(bytes[i], driver[i]) << "byte " << i;
}

// As the CuTe DSL makes them for sm_100a: bit 65 is set, 16U4_ALIGN8B has the number 11, and what no copy
// reads is whatever stood there.
TEST(TensorMapBytes, OfTheCuteDslForSm100AreMaps) {
  for (const TensorType type : {TensorType::u8, TensorType::f16, TensorType::f32, TensorType::bf16,
                                TensorType::f32_ftz, TensorType::u4x16_align8b})
    for (const uint32_t rank : {1u, 2u, 3u, 5u}) {
      TensorMap m;
      m.type = type;
      m.rank = rank;
      m.address = 0x7F8561E00000;
      m.swizzle = TensorSwizzle::b128;
      for (size_t d = 0; d < rank; ++d) {
        m.dims[d] = 256 + 2 * d;
        m.box[d] = d == 0 ? 64 : d;
        if (d > 0) m.strides[d] = 512 * d;
      }
      TensorMap usual = m;  // whose bytes differ in bit 65 and the type's number
      if (type == TensorType::u4x16_align8b) usual.type = TensorType::u8;
      TensorMapBytes bytes = machine::encode(usual);
      bytes[8] |= std::byte{2};
      if (type == TensorType::u4x16_align8b) {
        bytes[8] |= static_cast<std::byte>((11 & 1) << 7);
        bytes[9] |= static_cast<std::byte>(11 >> 1);
      }
      for (size_t i = 64; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xA5 + 7 * i);
      EXPECT_TRUE(same(machine::decode_tensor_map(bytes), m)) << rank;
      // Bit 85 is set where the kernel stores by it, and nowhere else known.
      TensorMapBytes stored = bytes;
      stored[10] |= std::byte{1 << 5};
      EXPECT_TRUE(same(machine::decode_tensor_map(stored), m)) << rank;
      stored[8] &= ~std::byte{2};
      EXPECT_THROW(machine::decode_tensor_map(stored), InputError) << rank;
      // A field that is replaced changes no other, and none of the bytes behind.
      TensorMapBytes changed = bytes;
      machine::replace(changed, TensorMapField::global_address, 0, 0x1000);
      m.address = 0x1000;
      EXPECT_TRUE(same(machine::decode_tensor_map(changed), m)) << rank;
      EXPECT_TRUE(std::equal(changed.begin() + 7, changed.end(), bytes.begin() + 7)) << rank;
      machine::replace(changed, TensorMapField::elemtype, 0, 13);
      m.type = TensorType::u4x16_align8b;
      EXPECT_TRUE(same(machine::decode_tensor_map(changed), m)) << rank;
      EXPECT_THROW(machine::replace(changed, TensorMapField::elemtype, 0, 14), Unsupported);
    }
  // Of other numbers nobody has said what they are.
  for (const unsigned number : {12u, 13u, 14u, 15u}) {
    TensorMapBytes bytes = machine::encode(TensorMap{});
    bytes[8] |= static_cast<std::byte>(2 | (number & 1) << 7);
    bytes[9] |= static_cast<std::byte>(number >> 1);
    EXPECT_THROW(machine::decode_tensor_map(bytes), InputError) << number;
  }
}

// A map that only Blackwell has is read back; once the mark is gone its type is none, and its swizzle the one
// whose atoms are of 16 bytes.
TEST(TensorMapBytes, OfBlackwellAreMarkedAsBitwells) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::b128, TensorSwizzle::b128_atom_32b,
                                      TensorSwizzle::b128_atom_32b_flip_8b, TensorSwizzle::b128_atom_64b})
    for (const TensorType type : {TensorType::f16, TensorType::u4x16_align8b, TensorType::u4x16_align16b,
                                  TensorType::u6x16_align16b}) {
      TensorMap m;
      m.type = type;
      m.swizzle = swizzle;
      TensorMapBytes bytes = machine::encode(m);
      EXPECT_TRUE(same(machine::decode_tensor_map(bytes), m));
      if (!is_blackwells(m)) continue;
      bytes[120] = std::byte{0};
      m.swizzle = TensorSwizzle::b128;
      if (type == TensorType::f16)
        EXPECT_TRUE(same(machine::decode_tensor_map(bytes), m));
      else
        EXPECT_THROW(machine::decode_tensor_map(bytes), InputError);
    }
}

}  // namespace
}  // namespace bitwell::machine
