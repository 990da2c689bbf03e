// Limits of tensor maps (CUDA driver API, cuTensorMapEncodeTiled): each at its last legal value and one
// beyond.
#include "model/machine/tensor/tensor_map.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

// A map that holds, with what `change` changes; empty, or why it is refused.
std::string refusal_of_map(const std::function<void(TensorMap&)>& change) {
  TensorMap m;
  m.type = TensorType::u8;
  m.rank = 3;
  m.address = uint64_t{1} << 40;
  m.dims = {256, 64, 4, 1, 1};
  m.strides = {1, 256, 16384, 0, 0};
  m.box = {16, 8, 1, 1, 1};
  change(m);
  try {
    check(m);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

struct LimitOfMaps {
  std::string name;
  std::function<void(TensorMap&)> last, beyond;
  std::string says;
};

TEST(TensorMap, EveryLimitHoldsAndOneBeyondIsRefused) {
  using M = TensorMap;
  const auto rank5 = [](M& m) {
    m.rank = 5;
    m.strides = {1, 256, 16384, 65536, 65536};
  };
  std::vector<LimitOfMaps> limits{
      {"least rank", [](M& m) { m.rank = 1; }, [](M& m) { m.rank = 0; },
       "tensorRank is 0, it must be 1 to 5"},
      {"most rank", rank5, [](M& m) { m.rank = 6; }, "tensorRank is 6, it must be 1 to 5"},
      {"address", [](M& m) { m.address += 16; }, [](M& m) { m.address += 8; }, "a multiple of 16"},
      {"address in 57 bits", [](M& m) { m.address = (uint64_t{1} << 57) - 16; },
       [](M& m) { m.address = uint64_t{1} << 57; }, "it must be below 2^57"},
      {"channels",
       [](M& m) {
         m.im2col = {256, 8, {}, {}};
       },
       [](M& m) {
         m.im2col = {272, 8, {}, {}};
       },
       "channelsPerPixel is 272, it must be 1 to 256"},
      {"least pixels",
       [](M& m) {
         m.im2col = {16, 1, {}, {}};
       },
       [](M& m) {
         m.im2col = {16, 0, {}, {}};
       },
       "pixelsPerColumn is 0, it must be 1 to 1024"},
      {"most pixels",
       [](M& m) {
         m.im2col = {16, 1024, {}, {}};
       },
       [](M& m) {
         m.im2col = {16, 1025, {}, {}};
       },
       "pixelsPerColumn is 1025, it must be 1 to 1024"},
      {"row in bytes", [](M& m) { m.box[0] = 32; }, [](M& m) { m.box[0] = 24; },
       "boxDim[0] in bytes is 24, it must be a multiple of 16"},
      {"NaN fill of floating types", [](M& m) { m.type = TensorType::f16, m.fill_nan = true; },
       [](M& m) { m.fill_nan = true; }, "oobFill NaN needs a floating-point type"},
  };
  for (const size_t d : {0u, 1u, 2u, 3u, 4u}) {
    const std::string at = "[" + std::to_string(d) + "]";
    const auto with = [=](auto member, auto value) {
      return [=](M& m) {
        rank5(m);
        (m.*member)[d] = value;
      };
    };
    limits.push_back({"least dim" + at, with(&M::dims, 1u), with(&M::dims, 0u), "globalDim" + at + " is 0"});
    limits.push_back({"most dim" + at, with(&M::dims, uint64_t{1} << 32),
                      with(&M::dims, (uint64_t{1} << 32) + 1),
                      "globalDim" + at + " is 4294967297, it must be 1 to 2^32"});
    limits.push_back(
        {"least box" + at, with(&M::box, d == 0 ? 16u : 1u), with(&M::box, 0u), "boxDim" + at + " is 0"});
    limits.push_back({"most box" + at, with(&M::box, 256u), with(&M::box, 257u),
                      "boxDim" + at + " is 257, it must be 1 to 256"});
    limits.push_back({"least element stride" + at, with(&M::element_strides, 1u),
                      with(&M::element_strides, 0u), "elementStrides" + at + " is 0"});
    limits.push_back({"most element stride" + at, with(&M::element_strides, 8u),
                      with(&M::element_strides, 9u), "elementStrides" + at + " is 9, it must be 1 to 8"});
    if (d == 0) continue;
    const std::string before = "[" + std::to_string(d - 1) + "]";
    limits.push_back({"stride" + before, with(&M::strides, 272u), with(&M::strides, 264u),
                      "globalStrides" + before + " is 264, it must be a multiple of 16"});
    limits.push_back({"most stride" + before, with(&M::strides, (uint64_t{1} << 40) - 16),
                      with(&M::strides, uint64_t{1} << 40),
                      "globalStrides" + before + " is 1099511627776, it must be below 2^40"});
  }
  struct Span {
    TensorSwizzle swizzle;
    uint32_t bytes;
  };
  for (const Span& s : {Span{TensorSwizzle::b32, 32},
                        {TensorSwizzle::b64, 64},
                        {TensorSwizzle::b128, 128},
                        {TensorSwizzle::b128_atom_32b, 128},
                        {TensorSwizzle::b128_atom_64b, 128}})
    limits.push_back({"row of a swizzle over " + std::to_string(s.bytes),
                      [=](M& m) { m.swizzle = s.swizzle, m.box[0] = s.bytes; },
                      [=](M& m) { m.swizzle = s.swizzle, m.box[0] = s.bytes + 16; },
                      "it must be at most " + std::to_string(s.bytes) + " with this swizzle"});
  const auto narrow = [](M& m) {
    m.type = TensorType::u4x16_align8b;
    m.box[0] = 32;
  };
  limits.push_back({"4-bit dim", [=](M& m) { narrow(m), m.dims[0] = 254; },
                    [=](M& m) { narrow(m), m.dims[0] = 255; }, "globalDim[0] is 255, it must be even"});
  for (const TensorType type : {TensorType::u4x16_align16b, TensorType::u6x16_align16b}) {
    const auto wide = [=](M& m) {
      m.type = type;
      m.box[0] = 128;
    };
    limits.push_back({"wide dim", wide, [=](M& m) { wide(m), m.dims[0] = 384 + 64; },
                      "it must be a multiple of 128 for this type"});
    limits.push_back(
        {"wide box", wide, [=](M& m) { wide(m), m.box[0] = 112; }, "boxDim[0] is 112, it must be 128"});
    limits.push_back({"wide address", [=](M& m) { wide(m), m.address += 32; },
                      [=](M& m) { wide(m), m.address += 16; }, "a multiple of 32"});
    limits.push_back({"wide stride", [=](M& m) { wide(m), m.strides[1] = 288; },
                      [=](M& m) { wide(m), m.strides[1] = 272; }, "a multiple of 32"});
  }
  for (const LimitOfMaps& l : limits) {
    EXPECT_EQ(refusal_of_map(l.last), "") << l.name;
    EXPECT_NE(refusal_of_map(l.beyond).find(l.says), std::string::npos)
        << l.name << ": '" << refusal_of_map(l.beyond) << "'";
  }
}

// Types of which the driver makes no map of im2col, or whose copies nobody has seen.
TEST(TensorMap, PackedTypesHaveNoIm2col) {
  for (const TensorType type :
       {TensorType::u4x16_align8b, TensorType::u4x16_align16b, TensorType::u6x16_align16b}) {
    TensorMap m;
    m.type = type;
    m.rank = 3;
    m.address = uint64_t{1} << 40;
    m.dims = {256, 64, 4, 1, 1};
    m.strides = {1, 256, 16384, 0, 0};
    m.im2col = {128, 8, {}, {}};
    EXPECT_THROW(check(m), Unsupported);
  }
}

}  // namespace
}  // namespace bitwell::machine
