// Tensor loads in im2col mode of every rank: one, two and three dimensions of pixels, each carrying into the
// next and the last into the images. Expected: the places written out as a list, slowest dimension first.
#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"

namespace bitwell::isa::im2col_rank_test {
namespace {

using machine::TensorMap;
using Place = std::array<int64_t, 5>;  // channel and pixel dimensions, then images, from the first on

constexpr uint32_t kPixels = 24;
constexpr uint32_t kChannels = 8;  // of 16 bits

struct Tensor {
  size_t rank;
  std::array<int64_t, 5> dims;
  std::array<int32_t, 3> lower, upper;
  uint32_t step;
};

uint16_t element(const Tensor& t, const Place& at) {
  int64_t index = 0;
  for (size_t d = t.rank; d-- > 0;) {
    if (at[d] < 0 || at[d] >= t.dims[d]) return 0;
    index = index * t.dims[d] + at[d];
  }
  return static_cast<uint16_t>(index + 1);
}

// All places of the window's first pixel, in order.
std::vector<Place> places_of(const Tensor& t) {
  std::vector<Place> out;
  const auto from = [&](size_t d) -> int64_t { return d + 2 < t.rank ? t.lower[d] : 0; };
  const auto to = [&](size_t d) -> int64_t { return d + 2 < t.rank ? t.dims[d + 1] - 1 + t.upper[d] : 0; };
  for (int64_t image = 0; image < 60; ++image)
    for (int64_t z = from(2); z <= to(2); z += t.step)
      for (int64_t y = from(1); y <= to(1); y += t.step)
        for (int64_t x = from(0); x <= to(0); x += t.step) {
          Place p{0, x, y, z, 0};
          p[t.rank - 1] = image;
          out.push_back(p);
        }
  return out;
}

TensorMap map_of(const Tensor& t) {
  TensorMap m;
  m.type = machine::TensorType::u16;
  m.rank = t.rank;
  uint64_t stride = 2;
  for (size_t d = 0; d < t.rank; ++d) {
    m.dims[d] = static_cast<uint64_t>(t.dims[d]);
    m.strides[d] = d == 0 ? 0 : stride;
    stride *= m.dims[d];
    m.element_strides[d] = d == 0 || d + 1 == t.rank ? 1 : t.step;
  }
  m.im2col.channels = kChannels;
  m.im2col.pixels = kPixels;
  for (size_t d = 0; d + 2 < t.rank; ++d) {
    m.im2col.lower[d] = t.lower[d];
    m.im2col.upper[d] = t.upper[d];
  }
  return m;
}

std::string listed(const int64_t* values, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return out;
}

// What thread t has of pixel t.
std::vector<uint16_t> load(const Tensor& t, const Place& start, const std::array<int64_t, 3>& offsets) {
  const test::Kernel kernel{
      .parameters = ".param .u64 out, .param .align 128 .b8 map[128]",
      .registers = ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;",
      .shared = ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar;",
      .start =
          "ld.param.u64 %d1, [out]; mov.b64 %d2, map; cvta.param.u64 %d2, %d2;\nmov.u32 %r0, %tid.x;\n"
          "setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\n"
          "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p0 bra WAIT;\n",
      .body = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(kPixels * kChannels * 2) +
              ";\ncp.async.bulk.tensor." + std::to_string(t.rank) +
              "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d2, {" +
              listed(start.data(), t.rank) + "}], [bar], {" + listed(offsets.data(), t.rank - 2) + "};\n",
      .finish =
          "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n"
          "mul.wide.u32 %d3, %r0, 16; add.u64 %d1, %d1, %d3;\nmad.lo.u32 %r2, %r0, 16, %r1;\n"
          "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2];\nst.global.v4.b32 [%d1], {%r3, %r4, %r5, %r6};\n",
      .shape = {.block = {kPixels, 1, 1}},
      .buffers = {test::output(16 * kPixels)}};
  launch::Launch l = kernel.launch();
  int64_t count = 1;
  for (size_t d = 0; d < t.rank; ++d) count *= t.dims[d];
  std::vector<std::byte> tensor;
  for (int64_t i = 0; i < count; ++i)
    for (const int shift : {0, 8}) tensor.push_back(static_cast<std::byte>((i + 1) >> shift));
  l.add_tensor_map(l.add_hidden_buffer({"tensor", tensor, true, true, false}), map_of(t));
  const test::Left left = kernel.held(std::move(l));
  return left.all<uint16_t>(0);
}

TEST(Im2colRanks, EveryDimensionOfPixelsCarriesIntoTheNext) {
  const Tensor tensors[] = {
      {3, {16, 5, 9}, {0}, {0}, 1},
      {3, {16, 7, 9}, {-1}, {-2}, 2},
      {4, {16, 5, 3, 4}, {0, 0}, {0, 0}, 1},
      {4, {16, 5, 4, 4}, {-1, 1}, {-1, 0}, 1},
      {5, {16, 3, 2, 2, 4}, {0, 0, 0}, {0, 0, 0}, 1},
      {5, {16, 3, 2, 4, 3}, {-1, 0, -1}, {-1, 0, -2}, 1},
      {5, {16, 4, 5, 3, 3}, {-1, -1, -1}, {0, 0, 1}, 2},
  };
  for (const Tensor& t : tensors) {
    const std::vector<Place> places = places_of(t);
    for (const size_t first : {0u, 1u, 7u, 13u})
      for (const std::array<int64_t, 3> offsets :
           {std::array<int64_t, 3>{0, 0, 0}, {1, 0, 0}, {0, 1, 2}, {2, 1, 1}})
        for (const int64_t channel : {0, 8}) {
          Place start = places[first];
          start[0] = channel;
          const std::vector<uint16_t> got = load(t, start, offsets);
          for (size_t pixel = 0; pixel < kPixels; ++pixel)
            for (size_t c = 0; c < kChannels; ++c) {
              Place at = places[first + pixel];
              at[0] = channel + static_cast<int64_t>(c);
              for (size_t d = 0; d + 2 < t.rank; ++d) at[d + 1] += offsets[d];
              ASSERT_EQ(got[pixel * kChannels + c], element(t, at))
                  << "rank " << t.rank << ", pixel " << pixel << " from place " << first << ", channel "
                  << channel + c;
            }
        }
  }
}

}  // namespace
}  // namespace bitwell::isa::im2col_rank_test
