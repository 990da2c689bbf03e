// Tensor loads, stores and reductions in im2col mode (PTX ISA 9.0, 5.5.4): the pixels of a convolution's
// window, one a row of shared memory. Expected: all places of the window's first pixel in order, written out
// as a list. Manual, no GPU was asked.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "../../kernel.h"
#include "im2col_launch.h"
#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::isa {
namespace {

struct WindowOutcome {
  std::string what;
  std::vector<uint16_t> pixels;
};

WindowOutcome run_window(const TensorMap& map, const std::array<int64_t, 4>& start,
                         const std::array<int, 2>& offsets, const std::string& mode = "im2col") {
  auto [text, l] = im2col_launch(map, start, offsets, mode);
  WindowOutcome o;
  try {
    test::run_ptx(text, l);
  } catch (const std::exception& e) {
    o.what = e.what();
  }
  o.pixels.resize(kPixels * kChannels);
  std::memcpy(o.pixels.data(), l.buffers[0].bytes.data(), 2 * o.pixels.size());
  return o;
}

// The same tensor and copies as words of 32 bits, which reductions take.
TensorMap reducible(TensorMap map) {
  map.type = machine::TensorType::u32;
  map.dims[0] /= 2;
  map.im2col.channels /= 2;
  return map;
}

TEST(Im2col, PixelsOfTheWindowFollowEachOtherThroughRowsAndImages) {
  for (const Window& window : windows()) {
    const auto places = places_of(window);
    for (const size_t first : {0u, 1u, 5u, 17u})
      for (const int64_t channel : {0, 8, 16})
        for (const auto& offsets : {std::array{0, 0}, {2, 0}, {1, 2}}) {
          const auto& [w, h, n] = places[first];
          const WindowOutcome o = run_window(map_of(window), {channel, w, h, n}, offsets);
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
  EXPECT_NE(run_window(map_of(window), {0, 0, 0, 0}, {0, 0}, "tile").what.find("with a tensor map of im2col"),
            std::string::npos);
  TensorMap tiles = map_of(window);
  tiles.im2col = {};
  tiles.box = {8, 4, 1, 1, 1};
  EXPECT_NE(run_window(tiles, {0, 0, 0, 0}, {0, 0}).what.find("with a tensor map of tiles"),
            std::string::npos);
  EXPECT_NE(
      run_window(map_of(window), {0, 7, 0, 0}, {0, 0}).what.find("outside the box of pixels from 0 to 6"),
      std::string::npos);
}

// What a store leaves of the tensor: "" or what the run says, and its elements.
WindowOutcome store(const TensorMap& map, const std::array<int64_t, 4>& start,
                    const std::string& reduction = {}) {
  auto [text, l] = im2col_store_launch(map, start, reduction);
  WindowOutcome o;
  try {
    test::run_ptx(text, l);
  } catch (const std::exception& e) {
    o.what = e.what();
  }
  o.pixels.resize(l.buffers[0].bytes.size() / 2);
  std::memcpy(o.pixels.data(), l.buffers[0].bytes.data(), 2 * o.pixels.size());
  return o;
}

// Each pixel goes where a load would have it from; images behind the last one and channels that are not there
// are left out, and nothing else is touched.
TEST(Im2col, StoresGoWhereLoadsComeFrom) {
  for (const Window& window : inner_windows()) {
    const auto places = places_of(window);
    for (const size_t first : {0u, 1u, 5u})
      for (const int64_t channel : {0, 8, 16})
        for (const std::string reduction : {"", ".max", ".and"}) {
          TensorMap map = map_of(window);
          if (!reduction.empty()) map = reducible(map);
          const auto& [w, h, n] = places[first];
          const int64_t at = reduction.empty() ? channel : channel / 2;
          const WindowOutcome o = store(map, {at, w, h, n}, reduction);
          ASSERT_EQ(o.what, "");
          std::map<std::array<int64_t, 3>, size_t> pixel_at;
          for (size_t pixel = 0; pixel < kPixels; ++pixel) pixel_at[places[first + pixel]] = pixel;
          for (int64_t i = 0; i < static_cast<int64_t>(o.pixels.size()); ++i) {
            const int64_t c = i % kDims[0];
            const std::array<int64_t, 3> place{i / kDims[0] % kDims[1], i / kDims[0] / kDims[1] % kDims[2],
                                               i / kDims[0] / kDims[1] / kDims[2]};
            const auto found = pixel_at.find(place);
            const auto was = static_cast<uint16_t>(i + 1);
            uint16_t want = was;
            if (found != pixel_at.end() && c >= channel && c < channel + static_cast<int64_t>(kChannels)) {
              const uint16_t now = stored(found->second, static_cast<size_t>(c - channel));
              want = reduction == ".and" ? static_cast<uint16_t>(was & now)
                                         : now;  // of 32 bits the larger is what is stored
            }
            ASSERT_EQ(o.pixels[static_cast<size_t>(i)], want)
                << "element " << i << reduction << ", from place " << first << ", channel " << channel;
          }
        }
  }
}

TEST(Im2col, StoresStayInTheTensor) {
  const Window whole{{0, 0}, {0, 0}, 1};
  EXPECT_EQ(store(map_of(whole), {0, 0, 0, 0}).what, "");
  const auto expect = [](const Window& window, const std::array<int64_t, 4>& start, const char* says) {
    const std::string what = store(map_of(window), start).what;
    EXPECT_NE(what.find(says), std::string::npos) << what;
  };
  expect({{-1, 0}, {0, 0}, 1}, {0, 0, 0, 0}, "has pixels from -1 to 0 past the last in dimension 1");
  expect({{0, 0}, {0, 1}, 1}, {0, 0, 0, 0}, "has pixels from 0 to 1 past the last in dimension 2");
  expect(whole, {-8, 0, 0, 0}, "starts at coordinate -8 of dimension 0");
  expect(whole, {0, 0, 0, -1}, "starts at coordinate -1 of dimension 3");
  expect(whole, {0, 7, 0, 0}, "outside the box of pixels from 0 to 6");
  TensorMap odd = map_of(whole);
  odd.dims[0] = 12;
  EXPECT_EQ(store(odd, {0, 0, 0, 0}).what, "");
  EXPECT_NE(store(odd, {8, 0, 0, 0}).what.find("past the last of 12 channels"), std::string::npos);
  TensorMap tiles = map_of(whole);
  tiles.im2col = {};
  tiles.box = {8, 4, 1, 1, 1};
  EXPECT_NE(store(tiles, {0, 0, 0, 0}).what.find("an .im2col copy with a tensor map of tiles"),
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
  const machine::TensorMap again = machine::decode_tensor_map(machine::encode(m));
  EXPECT_EQ(again.im2col.lower, m.im2col.lower);
  EXPECT_EQ(again.im2col.upper, m.im2col.upper);
  EXPECT_EQ(again.im2col.pixels, m.im2col.pixels);
}

}  // namespace
}  // namespace bitwell::isa
