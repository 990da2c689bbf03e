// Limits of tensormap.replace's operands, and of what the bytes of a tensor map hold (PTX ISA 9.0, 9.7.9.28):
// each at its last legal value and one beyond.
#include <gtest/gtest.h>

#include <functional>

#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::machine {
namespace {

using Field = TensorMapField;

std::string refusal_of_fields(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& e) {
    return e.what();
  } catch (const Unsupported& e) {
    return std::string("unsupported: ") + e.what();
  }
  return "";
}

TensorMap tiles(TensorType type = TensorType::f16) {
  TensorMap m;
  m.type = type;
  m.rank = 5;
  m.address = 1 << 20;
  m.dims = {256, 64, 4, 2, 2};
  m.strides = {2, 512, 32768, 131072, 262144};
  m.box = {16, 8, 1, 1, 1};
  return m;
}

std::string replaced(Field field, uint32_t ordinal, uint64_t value, const TensorMap& map = tiles()) {
  return refusal_of_fields([&] {
    TensorMapBytes bytes = encode(map);
    replace(bytes, field, ordinal, value);
  });
}

TEST(TensorMapFields, EachTakesItsValuesAndNoOther) {
  struct Limit {
    Field field;
    uint64_t first, last;
    const char* name;
    const char* says;
  };
  const Limit limits[] = {
      {Field::global_address, 0, (uint64_t{1} << 57) - 1, "global_address", "0 to 144115188075855871"},
      {Field::rank, 0, 4, "rank", "0 to 4"},
      {Field::box_dim, 1, 256, "box_dim", "1 to 256"},
      {Field::element_stride, 1, 8, "element_stride", "1 to 8"},
      {Field::interleave_layout, 0, 2, "interleave_layout", "0 to 2"},
      {Field::swizzle_mode, 0, 3, "swizzle_mode", "0 to 3"},
      {Field::fill_mode, 0, 1, "fill_mode", "0 to 1"}};
  for (const Limit& l : limits)
    for (const uint32_t ordinal : {0u, 1u, 4u}) {
      EXPECT_EQ(replaced(l.field, ordinal, l.first), "") << l.name;
      EXPECT_EQ(replaced(l.field, ordinal, l.last), "") << l.name;
      const auto refused = [&](uint64_t value) {
        return "tensor map: " + std::string(l.name) + " is " + std::to_string(value) + ", it must be " +
               l.says;
      };
      EXPECT_EQ(replaced(l.field, ordinal, l.last + 1), refused(l.last + 1));
      if (l.first != 0) {
        EXPECT_EQ(replaced(l.field, ordinal, l.first - 1), refused(l.first - 1));
      }
    }
}

TEST(TensorMapFields, OrdinalsAreOfDimensions) {
  EXPECT_EQ(replaced(Field::global_dim, 4, 7), "");
  EXPECT_EQ(replaced(Field::global_dim, 5, 7), "tensor map: global_dim's ordinal is 5, it must be 0 to 4");
  EXPECT_EQ(replaced(Field::global_stride, 3, 32), "");
  EXPECT_EQ(replaced(Field::global_stride, 4, 32),
            "tensor map: global_stride's ordinal is 4, it must be 0 to 3");
  for (uint32_t d = 0; d < 5; ++d) {
    TensorMapBytes bytes = encode(tiles());
    replace(bytes, Field::box_dim, d, 3);
    replace(bytes, Field::element_stride, d, 2);
    replace(bytes, Field::global_dim, d, 77);
    if (d != 4) replace(bytes, Field::global_stride, d, (uint64_t{1} << 39) + 16);
    const TensorMap m = decode_tensor_map(bytes), was = tiles();
    for (uint32_t e = 0; e < 5; ++e) {
      EXPECT_EQ(m.box[e], e == d ? 3u : was.box[e]) << d << ' ' << e;
      EXPECT_EQ(m.element_strides[e], e == d ? 2u : was.element_strides[e]);
      EXPECT_EQ(m.dims[e], e == d ? 77u : was.dims[e]);
      if (e != 0) {
        EXPECT_EQ(m.strides[e], e == d + 1 ? (uint64_t{1} << 39) + 16 : was.strides[e]);
      }
    }
  }
}

TEST(TensorMapFields, StridesAreMultiplesOf16Below2To40) {
  EXPECT_EQ(replaced(Field::global_stride, 0, (uint64_t{1} << 40) - 16), "");
  EXPECT_EQ(replaced(Field::global_stride, 0, 24),
            "tensor map: global_stride is 24, it must be a multiple of 16");
  EXPECT_EQ(replaced(Field::global_stride, 0, uint64_t{1} << 40),
            "tensor map: global_stride is 1099511627776, it must be below 2^40");
}

TEST(TensorMapFields, TheTypeKeepsWhatItIsRoundedTo) {
  EXPECT_EQ(replaced(Field::elemtype, 0, 0), "");
  EXPECT_EQ(replaced(Field::elemtype, 0, 15), "");
  EXPECT_EQ(replaced(Field::elemtype, 0, 16), "tensor map: elemtype is 16, it must be 0 to 15");
  // 6 is f16, 7 f32, 11 tf32 by the instruction's numbers (PTX ISA 9.0, table of .elemtype).
  EXPECT_NE(replaced(Field::elemtype, 0, 6, tiles(TensorType::tf32))
                .find("a tf32 map's elemtype cannot be replaced by"),
            std::string::npos);
  EXPECT_EQ(replaced(Field::elemtype, 0, 6, tiles(TensorType::f32)), "");
}

TEST(TensorMapFields, BoxesOfIm2colAreNotReplaced) {
  TensorMap pixels = tiles();
  pixels.im2col = {8, 8, {-1, -1, -1}, {-1, -1, -1}};
  EXPECT_EQ(replaced(Field::box_dim, 0, 8, pixels),
            "unsupported: tensormap.replace of box_dim in a map of im2col");
  EXPECT_EQ(replaced(Field::global_dim, 0, 8, pixels), "");
}

// Sets bits of the bytes: what no map holds is refused by name.
std::string with_bits(TensorMap m, uint32_t first, uint32_t width, uint64_t value) {
  return refusal_of_fields([&] {
    TensorMapBytes bytes = encode(m);
    for (uint32_t b = 0; b < width; ++b) {
      const std::byte bit = static_cast<std::byte>(1 << (first + b) % 8);
      std::byte& at = bytes[(first + b) / 8];
      at = (value >> b & 1) != 0 ? at | bit : at & ~bit;
    }
    decode_tensor_map(bytes);
  });
}

TEST(TensorMapFields, BytesHoldNoOtherValues) {
  TensorMap pixels = tiles();
  pixels.im2col = {8, 8, {-1, -1, -1}, {-1, -1, -1}};
  EXPECT_EQ(with_bits(tiles(), 68, 3, 4), "");
  EXPECT_EQ(with_bits(tiles(), 68, 3, 5), "tensor map: tensorRank is 6, it must be 1 to 5");
  EXPECT_EQ(with_bits(pixels, 68, 3, 1), "tensor map: tensorRank is 2, it must be 3 to 5 for im2col");
  EXPECT_EQ(with_bits(tiles(), 75, 2, 3), "tensor map: interleave is 3, it must be 0 to 2");
  EXPECT_NE(with_bits(tiles(), 80, 1, 1).find("values are to be rounded to tf32, of type"),
            std::string::npos);
  EXPECT_EQ(with_bits(tiles(TensorType::f32), 80, 1, 1), "");
  EXPECT_EQ(with_bits(tiles(TensorType::f32_ftz), 80, 1, 1), "");
}

}  // namespace
}  // namespace bitwell::machine
