// Tensor loads in im2col mode (PTX ISA 9.0, 5.5.4): the pixels of a convolution's window, one a row of shared
// memory. Expected: all places of the window's first pixel in order, written out as a list. Manual, no GPU
// was asked.
#include <gtest/gtest.h>

#include <cstring>

#include "im2col_launch.h"
#include "model/machine/failure.h"

namespace bitwell::verify {
namespace {

struct Outcome {
  std::string what;
  std::vector<uint16_t> pixels;
};

Outcome run(const TensorMap& map, const std::array<int64_t, 4>& start, const std::array<int, 2>& offsets,
            const std::string& mode = "im2col") {
  auto [text, l] = im2col_launch(map, start, offsets, mode);
  Outcome o;
  try {
    simulate(isa::compile(ptx::parse(text), "k"), l, {}, true);
  } catch (const std::exception& e) {
    o.what = e.what();
  }
  o.pixels.resize(kPixels * kChannels);
  std::memcpy(o.pixels.data(), l.buffers[0].bytes.data(), 2 * o.pixels.size());
  return o;
}

TEST(Im2col, PixelsOfTheWindowFollowEachOtherThroughRowsAndImages) {
  for (const Window& window : windows()) {
    const auto places = places_of(window);
    for (const size_t first : {0u, 1u, 5u, 17u})
      for (const int64_t channel : {0, 8, 16})
        for (const auto& offsets : {std::array{0, 0}, {2, 0}, {1, 2}}) {
          const auto& [w, h, n] = places[first];
          const Outcome o = run(map_of(window), {channel, w, h, n}, offsets);
          ASSERT_EQ(o.what, "");
          for (size_t pixel = 0; pixel < kPixels; ++pixel)
            for (size_t c = 0; c < kChannels; ++c) {
              const auto& at = places[first + pixel];
              ASSERT_EQ(
                  o.pixels[pixel * kChannels + c],
                  element(channel + static_cast<int64_t>(c), at[0] + offsets[0], at[1] + offsets[1], at[2]))
                  << "pixel " << pixel << " from place " << first << ", channel " << channel;
            }
        }
  }
}

TEST(Im2col, MapAndInstructionAreOfOneMode) {
  const Window window{{0, 0}, {0, 0}, 1};
  EXPECT_NE(run(map_of(window), {0, 0, 0, 0}, {0, 0}, "tile").what.find("with a tensor map of im2col"),
            std::string::npos);
  TensorMap tiles = map_of(window);
  tiles.im2col = {};
  tiles.box = {8, 4, 1, 1, 1};
  EXPECT_NE(run(tiles, {0, 0, 0, 0}, {0, 0}).what.find("with a tensor map of tiles"), std::string::npos);
  EXPECT_NE(run(map_of(window), {0, 7, 0, 0}, {0, 0}).what.find("outside the box of pixels from 0 to 6"),
            std::string::npos);
}

TEST(Im2col, LimitsOfTheDriverHold) {
  const auto refusal = [](auto change) -> std::string {
    TensorMap m = map_of({{0, 0}, {0, 0}, 1});
    change(m);
    try {
      machine::check(m);
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  using M = TensorMap;
  EXPECT_EQ(refusal([](M& m) { m.im2col.lower[0] = -128; }), "");
  EXPECT_EQ(refusal([](M& m) { m.im2col.lower[0] = -129; }),
            "tensor map: pixelBoxLowerCorner[0] is -129, it must be -128 to 127");
  EXPECT_EQ(refusal([](M& m) { m.im2col.pixels = 1024; }), "");
  EXPECT_EQ(refusal([](M& m) { m.im2col.pixels = 1025; }),
            "tensor map: pixelsPerColumn is 1025, it must be 1 to 1024");
  EXPECT_EQ(refusal([](M& m) { m.im2col.channels = 4; }),
            "tensor map: channelsPerPixel in bytes is 8, it must be a multiple of 16");
  const TensorMap m = map_of({{-3, 5}, {7, -9}, 2});
  const auto again = machine::decode_tensor_map(machine::encode(m));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->im2col.lower, m.im2col.lower);
  EXPECT_EQ(again->im2col.upper, m.im2col.upper);
  EXPECT_EQ(again->im2col.pixels, m.im2col.pixels);
}

}  // namespace
}  // namespace bitwell::verify
