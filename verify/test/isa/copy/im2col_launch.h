// Launches that load by an im2col map, for the simulator and for a GPU.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "model/ptx/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::isa {

using machine::TensorMap;

inline constexpr size_t kPixels = 24;
inline constexpr size_t kChannels = 8;  // of 16 bits: 16 bytes a pixel

struct Window {
  std::array<int32_t, 2> lower, upper;  // W, H
  uint32_t step;                        // of W and H
};

// 16 channels, W 7, H 5, 3 images; element i of the tensor is i + 1.
inline constexpr std::array<int64_t, 4> kDims{16, 7, 5, 3};
inline uint16_t element(int64_t c, int64_t w, int64_t h, int64_t n) {
  if (w < 0 || w >= kDims[1] || h < 0 || h >= kDims[2] || n < 0 || n >= kDims[3] || c >= kDims[0]) return 0;
  return static_cast<uint16_t>(1 + c + kDims[0] * (w + kDims[1] * (h + kDims[2] * n)));
}

inline TensorMap map_of(const Window& window) {
  TensorMap m;
  m.type = machine::TensorType::u16;
  m.rank = 4;
  for (size_t d = 0; d < 4; ++d) m.dims[d] = static_cast<uint64_t>(kDims[d]);
  m.strides = {0, 32, 32 * 7, 32 * 7 * 5, 0};
  m.element_strides = {1, window.step, window.step, 1, 1};
  m.im2col.channels = kChannels;
  m.im2col.pixels = kPixels;
  for (size_t d = 0; d < 2; ++d) {
    m.im2col.lower[d] = window.lower[d];
    m.im2col.upper[d] = window.upper[d];
  }
  return m;
}

// The windows, first pixels, channels and offsets that are tried.
inline const std::vector<Window>& windows() {
  static const std::vector<Window> all{{{0, 0}, {0, 0}, 1},
                                       {{-1, -1}, {-1, -1}, 1},
                                       {{-1, -2}, {-3, -1}, 1},
                                       {{-1, -1}, {-1, -1}, 2},
                                       {{1, 2}, {1, 0}, 1}};
  return all;
}

// A launch and its PTX.
struct Im2colLaunch {
  std::string text;
  launch::Launch launch;
};

// One load from (c, w, h, n) with the offsets; thread t then stores pixel t to buffer 0.
inline Im2colLaunch im2col_launch(const TensorMap& map, const std::array<int64_t, 4>& start,
                                  const std::array<int, 2>& offsets, const std::string& mode = "im2col") {
  std::string coordinates;
  for (const int64_t c : start) coordinates += (coordinates.empty() ? "" : ", ") + std::to_string(c);
  const std::string moved =
      mode == "im2col" ? ", {" + std::to_string(offsets[0]) + ", " + std::to_string(offsets[1]) + "}" : "";
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .align 128 "
      ".b8 "
      "map[128]) {\n.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
      ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar;\n"
      "ld.param.u64 %d1, [out]; mov.b64 %d2, map; cvta.param.u64 %d2, %d2;\nmov.u32 %r0, %tid.x; setp.eq.u32 "
      "%p0, %r0, 0; mov.u32 %r1, tile;\n@%p0 mbarrier.init.shared.b64 [bar], "
      "1;\nfence.proxy.async.shared::cta;\n"
      "bar.sync 0;\n@!%p0 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
      std::to_string(kPixels * kChannels * 2) + ";\ncp.async.bulk.tensor.4d.shared::cluster.global." + mode +
      ".mbarrier::complete_tx::bytes [tile], [%d2, {" + coordinates + "}], [bar]" + moved +
      ";\nWAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n"
      "mul.wide.u32 %d3, %r0, 16; add.u64 %d1, %d1, %d3;\nmad.lo.u32 %r2, %r0, 16, %r1;\n"
      "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2];\nst.global.v4.b32 [%d1], {%r3, %r4, %r5, "
      "%r6};\nret;\n}\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {kPixels, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(16 * kPixels), true, false, true});
  std::vector<std::byte> tensor;
  for (int64_t i = 0; i < kDims[0] * kDims[1] * kDims[2] * kDims[3]; ++i)
    for (const int shift : {0, 8}) tensor.push_back(static_cast<std::byte>((i + 1) >> shift));
  l.add_tensor_map(l.add_hidden_buffer({"tensor", tensor, true, true, false}), map);
  return {text, l};
}

// The windows that a store may have, inside the tensor.
inline const std::vector<Window>& inner_windows() {
  static const std::vector<Window> all{
      {{0, 0}, {0, 0}, 1}, {{1, 2}, {-1, 0}, 1}, {{2, 0}, {0, -3}, 1}, {{0, 1}, {-2, -1}, 2}};
  return all;
}
// What a store brings: channel c of pixel i.
inline uint16_t stored(size_t pixel, size_t c) {
  return static_cast<uint16_t>(0x4000 + pixel * kChannels + c);
}

// One store, or reduction (such as ".add"), of kPixels pixels to (c, w, h, n); buffer 0 is the tensor, of
// which element i is i + 1 before.
inline Im2colLaunch im2col_store_launch(const TensorMap& map, const std::array<int64_t, 4>& start,
                                        const std::string& reduction = {}) {
  std::string coordinates;
  for (const int64_t c : start) coordinates += (coordinates.empty() ? "" : ", ") + std::to_string(c);
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 tensor, .param .u64 "
      "pixels, "
      ".param .align 128 .b8 map[128]) {\n.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
      ".shared .align 128 .b8 tile[4096];\nld.param.u64 %d1, [pixels]; mov.b64 %d2, map; cvta.param.u64 %d2, "
      "%d2;\nmov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile;\n"
      "mul.wide.u32 %d3, %r0, 16; add.u64 %d1, %d1, %d3;\nmad.lo.u32 %r2, %r0, 16, %r1;\n"
      "ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%d1];\nst.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n@!%p0 bra DONE;\ncp." +
      std::string(reduction.empty() ? "" : "reduce.") + "async.bulk.tensor.4d.global.shared::cta" +
      reduction + ".im2col_no_offs.bulk_group [%d2, {" + coordinates +
      "}], [tile];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE: ret;\n}\n";
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {kPixels, 1, 1};
  std::vector<std::byte> tensor;
  for (int64_t i = 0; i < kDims[0] * kDims[1] * kDims[2] * kDims[3]; ++i)
    for (const int shift : {0, 8}) tensor.push_back(static_cast<std::byte>((i + 1) >> shift));
  std::vector<std::byte> pixels;
  for (size_t i = 0; i < kPixels * kChannels; ++i)
    for (const int shift : {0, 8}) pixels.push_back(static_cast<std::byte>(stored(0, i) >> shift));
  l.add_buffer({"tensor", tensor, true, false, true});
  l.add_buffer({"pixels", pixels, true, true, false});
  l.add_tensor_map(0, map);
  return {text, l};
}

// The places of a window's first pixel in order: W fastest, images slowest.
inline std::vector<std::array<int64_t, 3>> places_of(const Window& window) {
  std::vector<std::array<int64_t, 3>> out;
  for (int64_t n = 0; n < 20; ++n)
    for (int64_t h = window.lower[1]; h <= kDims[2] - 1 + window.upper[1]; h += window.step)
      for (int64_t w = window.lower[0]; w <= kDims[1] - 1 + window.upper[0]; w += window.step)
        out.push_back({w, h, n});
  return out;
}

}  // namespace bitwell::isa
