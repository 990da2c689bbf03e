// Tensor copies at the edges of what they name: rows that end inside 16 bytes, the last row, tensors longer
// than their buffer, barriers of other CTAs, coordinates that are none.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "copied.h"

namespace bitwell::isa {
namespace {

using machine::TensorSwizzle;

const std::string kLoad2d = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes ";

struct Swizzled {
  TensorSwizzle swizzle;
  uint32_t span;
  const char* target;
  // Where byte `x` of row `y` stands, of rows of `span` bytes from a multiple of 1,024 on (PTX ISA 9.0,
  // "Swizzling modes"; CUDA driver API, CUtensorMapSwizzle).
  uint32_t (*place)(uint32_t x, uint32_t y);
};
const Swizzled kSwizzled[] = {
    {TensorSwizzle::b32, 32, "sm_90a",
     [](uint32_t x, uint32_t y) {
       const uint32_t at = 32 * y + x;
       return at ^ (at >> 7 & 1) << 4;
     }},
    {TensorSwizzle::b64, 64, "sm_90a",
     [](uint32_t x, uint32_t y) {
       const uint32_t at = 64 * y + x;
       return at ^ (at >> 7 & 3) << 4;
     }},
    {TensorSwizzle::b128, 128, "sm_90a", [](uint32_t x, uint32_t y) { return 128 * y + (x ^ (y & 7) << 4); }},
    {TensorSwizzle::b128_atom_32b, 128, "sm_100a",
     [](uint32_t x, uint32_t y) { return 128 * y + (x ^ (y & 3) << 5); }},
    {TensorSwizzle::b128_atom_32b_flip_8b, 128, "sm_100a",
     [](uint32_t x, uint32_t y) { return 128 * y + ((x ^ (y & 3) << 5) ^ (y & 1) << 3); }},
    {TensorSwizzle::b128_atom_64b, 128, "sm_100a",
     [](uint32_t x, uint32_t y) { return 128 * y + (x ^ (y & 1) << 6); }}};

machine::TensorMap swizzled_rows(const Swizzled& s, uint32_t width, uint32_t rows) {
  machine::TensorMap m;
  m.type = machine::TensorType::u8;
  m.rank = 2;
  m.dims = {width, 16, 1, 1, 1};
  m.strides = {0, 256, 0, 0, 0};
  m.box = {s.span, rows, 1, 1, 1};
  m.swizzle = s.swizzle;
  return m;
}

// What is outside the tensor is zeros, at their places too.
TEST(TensorEdges, RowsOfAnyWidthAreSwizzled) {
  for (const Swizzled& s : kSwizzled)
    for (const uint32_t width : {1u, 7u, 8u, 15u, 16u, 17u, 31u, 33u, 63u, 100u, 127u, 128u}) {
      if (width > s.span) continue;
      const uint32_t rows = std::min(8u, 1024 / s.span);
      const std::string all = std::to_string(s.span * rows);
      const test::Left left =
          copied("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + all + ";\n@%p0 " + kLoad2d +
                     "[%r9], [%d2, {0, 2}], [bar];\nbar.warp.sync -1;\n"
                     "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\n",
                 0, 0, swizzled_rows(s, width, rows), s.target, 1024);
      ASSERT_EQ(left.end(), "held") << s.span << " " << width;
      std::vector<std::byte> want(kTile);
      for (size_t i = 0; i < want.size(); ++i) want[i] = of_tile(i);
      for (uint32_t y = 0; y < rows; ++y)
        for (uint32_t x = 0; x < s.span; ++x)
          want[s.place(x, y)] = x < width ? of_global((2 + y) * 256 + x) : std::byte{0};
      EXPECT_EQ(left.buffers[2].bytes, want) << static_cast<int>(s.swizzle) << " " << width;
    }
}

// A store meets a copy under way where a byte of its rows is still to come, and beside it no copy.
TEST(TensorEdges, StoresBetweenSwizzledRowsHold) {
  const Swizzled& s = kSwizzled[2];
  machine::TensorMap map = swizzled_rows(s, 128, 3);
  map.box[0] = 48;
  std::set<uint32_t> taken;
  for (uint32_t y = 0; y < 3; ++y)
    for (uint32_t x = 0; x < 48; ++x) taken.insert(s.place(x, y));
  for (uint32_t at = 0; at < 512; at += 8) {
    const test::Left left =
        copied("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 144; @%p0 " + kLoad2d +
                   "[%r9], [%d2, {0, 2}], [bar];\n@%p0 st.shared.u64 [tile+" + std::to_string(at) +
                   "], %d8;\nbar.warp.sync -1;\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 "
                   "bra W;\n",
               0, 0, map, s.target, 1024);
    EXPECT_EQ(left.fault.find("a write to 'tile'") != std::string::npos, taken.contains(at))
        << at << left.fault;
    EXPECT_EQ(left.fault.empty(), !taken.contains(at)) << at << left.fault;
  }
}

// All but the last row are there, or all: what is outside the tensor is zeros, outside the buffer a fault.
TEST(TensorEdges, TheLastRowsOfATensorAndOfItsBuffer) {
  for (const uint32_t rows : {32u, 64u, 128u})  // of the tensor: the buffer has 64
    for (uint32_t first = std::min(rows, 64u) - 4; first < std::min(rows, 64u); ++first) {
      machine::TensorMap map = rows_of_64(32, 3, 1);
      map.dims[1] = rows;
      const test::Left left =
          copied(loaded(96, kLoad2d + "[%r9], [%d2, {16, " + std::to_string(first) + "}], [bar];"), 0, 0, map,
                 "sm_90a");
      if (rows > 64 && first + 3 > 64) {
        EXPECT_NE(left.fault.find("the tensor map leads to 32 bytes at global address"), std::string::npos)
            << left.fault;
        continue;
      }
      ASSERT_EQ(left.end(), "held") << first;
      for (uint32_t i = 0; i < 96; ++i) {
        const uint32_t row = first + i / 32;
        EXPECT_EQ(left.buffers[2].bytes[i], row < rows ? of_global(row * 64 + 16 + i % 32) : std::byte{0})
            << first << " " << i;
      }
    }
}

// The rounding of tf32's two types (H200).
TEST(TensorEdges, BothTypesOfTf32Round) {
  for (const auto type :
       {machine::TensorType::tf32, machine::TensorType::tf32_ftz, machine::TensorType::f32}) {
    machine::TensorMap map = rows_of_64(4, 1, 1);
    map.type = type;
    map.dims[0] = 16;
    const test::Left left = copied(loaded(16, kLoad2d + "[%r9], [%d2, {4, 3}], [bar];"), 0, 0, map, "sm_90a");
    ASSERT_EQ(left.end(), "held");
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t was = 0, is = 0;
      std::array<std::byte, 4> bytes;
      for (uint32_t b = 0; b < 4; ++b) bytes[b] = of_global(3 * 64 + 16 + 4 * i + b);
      std::memcpy(&was, bytes.data(), 4);
      std::memcpy(&is, &left.buffers[2].bytes[4 * i], 4);
      const uint32_t rounded = (was + 0x0FFF + (was >> 13 & 1)) & ~0x1FFFu;
      EXPECT_EQ(is, type == machine::TensorType::f32 ? was : rounded) << std::hex << was;
    }
  }
}

TEST(TensorEdges, WhatIsNoPlaceInATensorIsRefused) {
  for (const auto& [text, taken] : std::vector<std::pair<std::string, bool>>{
           {kLoad2d + "[%r9], [%d2, {%r3, %r3}], [bar];", true},
           {kLoad2d + "[%r9], [%d2, %r3], [bar];", false},
           {kLoad2d + "[%r9], [%d2], [bar];", false},
           {kLoad2d + "[%r9], %d2, [bar];", false},
           {kLoad2d + "[%r9], [%d2, {%r3}], [bar];", false},
           {kLoad2d + "[%r9], [%d2, {%r3, %r3, %r3}], [bar];", false},
           {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r9], [%d2, "
            "{%r3, %r3, "
            "%r3}], [bar], {%h0};",
            true},
           {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r9], [%d2, "
            "{%r3, %r3, "
            "%r3}], [bar], {%h0, %h0};",
            false},
           {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r9], [%d2, "
            "{%r3, %r3, "
            "%r3}], [bar], %h0;",
            false},
           {"createpolicy.fractional.L2::evict_first.b64 %d3;", true},
           {"createpolicy.fractional.L2::evict_first.b64 %d3, 0.5;", true},
           {"createpolicy.fractional.L2::evict_first.b64 %d3, 0.5, 0.5;", false},
           {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r9], {%r3, %r3}, [bar];",
            true},
           {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r9], {%r3, %r3, %r3, %r3}, "
            "[bar];",
            true},
           {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r9], {%r3, %r3, %r3}, "
            "[bar];",
            false},
           {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r9], {%d2, %d2, %d2, %d2}, "
            "[bar];",
            false}}) {
    const test::Kernel k{.registers = ".reg .b16 %h<2>; .reg .b32 %r<12>; .reg .b64 %d<4>;",
                         .shared = ".shared .align 8 .b64 bar;",
                         .body = text};
    EXPECT_EQ(k.refusal().empty(), taken) << text << k.refusal();
  }
}

// The text of a fault names the element of a vector that is still to come.
TEST(TensorEdges, ALoadNamesTheElementThatIsStillToCome) {
  for (const uint32_t at : {16u, 32u, 40u, 48u}) {
    const test::Left left = copied(
        "@%p0 cp.async.ca.shared.global [%r9], [%d8], 8;\n@%p0 ld.shared.v2.u64 {%d3, %d4}, [tile+32]; "
        "cp.async.wait_all;\n",
        at, 0, rows_of_64(16, 1, 1), "sm_90a");
    const bool meets = at == 32 || at == 40;
    EXPECT_EQ(left.fault.empty(), !meets) << left.fault;
    if (meets) {
      EXPECT_NE(left.fault.find("a read of 'tile' + " + std::to_string(at)), std::string::npos) << left.fault;
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
