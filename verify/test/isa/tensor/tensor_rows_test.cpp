// Tensor copies that came with Blackwell: 4- and 6-bit elements that get padding in shared memory (PTX
// ISA 9.0, 5.5.1.1), and rows that are named one by one (5.5.3.4). Manual, no B200 was asked.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

// 64 threads; thread 0 does `copy` ([%d2] the map, %r1 the address of `tile`) and waits for `transactions`
// bytes; then every thread does `look`: %r0 the thread, %d1 its own 16 bytes of the output.
test::Kernel kernel(const std::string& copy, uint32_t transactions, const std::string& look) {
  return {.target = "sm_100a",
          .parameters = ".param .u64 out, .param .align 128 .b8 map[128], .param .u64 tensor",
          .registers = ".reg .pred %p<4>; .reg .b32 %r<24>; .reg .b64 %d<8>; .reg .b16 %h<2>;",
          .shared = ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;",
          .start =
              "ld.param.u64 %d1, [out]; mov.b64 %d2, map; cvta.param.u64 %d2, %d2;\n"
              "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile;\n"
              "mul.wide.u32 %d3, %r0, 16; add.u64 %d1, %d1, %d3;\n"
              "@%p0 mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
              "@!%p0 bra WAIT;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
              std::to_string(transactions) + ";",
          .body = copy,
          .finish = "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n" + look,
          .shape = {.block = {64, 1, 1}},
          .buffers = {test::output(16 * 64)}};
}

struct Outcome {
  std::string what;
  std::vector<std::byte> out, tensor;
};
Outcome run(test::Kernel k, const TensorMap& map, const std::vector<std::byte>& tensor,
            run::Policy policy = run::Policy::lazy) {
  k.options.schedule = {policy, 3};
  launch::Launch l = k.launch();
  l.add_tensor_map(l.add_hidden_buffer({"tensor", tensor, true, false, true}), map);
  l.add_scalar(uint64_t{0});
  const test::Left left = k.run(l);
  return {left.fault, left.buffers[0].bytes, left.buffers[1].bytes};
}
std::vector<std::byte> random_bytes(size_t count) {
  std::mt19937 random(5);
  std::vector<std::byte> out(count);
  for (std::byte& b : out) b = static_cast<std::byte>(random());
  return out;
}
uint32_t word(const std::vector<std::byte>& bytes, size_t at) {
  uint32_t v = 0;
  std::memcpy(&v, bytes.data() + at, 4);
  return v;
}

// 256 elements by 16 rows, boxes of 128 by 8.
TensorMap padded(int bits, TensorSwizzle swizzle) {
  TensorMap m;
  m.type = bits == 4 ? TensorType::u4x16_align16b : TensorType::u6x16_align16b;
  m.rank = 2;
  m.dims = {256, 16, 1, 1, 1};
  m.strides = {0, static_cast<uint64_t>(256 * bits / 8 + 64), 0, 0, 0};  // more than a row
  m.box = {128, 8, 1, 1, 1};
  m.swizzle = swizzle;
  return m;
}
std::string load(int column, int row) {
  return "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d2, {" +
         std::to_string(column) + ", " + std::to_string(row) + "}], [bar];\n";
}
// Thread t stores `words` words of chunk t % 8 of row t / 8 from word `first` on.
std::string chunks(TensorSwizzle swizzle, int first, int words) {
  const std::string change = swizzle == TensorSwizzle::none ? "mov.u32 %r5, 0;\n"
                             : swizzle == TensorSwizzle::b128
                                 ? "shl.b32 %r5, %r3, 4;\n"
                                 // 32 bytes stay together, by the row mod 4
                                 : "and.b32 %r5, %r3, 3;\nshl.b32 %r5, %r5, 5;\n";
  std::string out = "shr.u32 %r3, %r0, 3;\nand.b32 %r4, %r0, 7;\nshl.b32 %r4, %r4, 4;\n" + change +
                    "xor.b32 %r4, %r4, %r5;\nshl.b32 %r3, %r3, 7;\nadd.u32 %r3, %r3, %r4;\n"
                    "add.u32 %r3, %r3, %r1;\n";
  for (int i = first; i < first + words; ++i)
    out += "ld.shared.u32 %r6, [%r3+" + std::to_string(4 * i) + "];\nst.global.u32 [%d1+" +
           std::to_string(4 * i) + "], %r6;\n";
  return out;
}

TEST(PaddedTensors, SixteenElementsGoToSixteenBytes) {
  for (const int bits : {4, 6})
    for (const TensorSwizzle swizzle :
         {TensorSwizzle::none, TensorSwizzle::b128, TensorSwizzle::b128_atom_32b})
      for (const int column : {0, 128, 256, -128})
        for (const int row : {0, 5, 12, -3})
          for (const run::Policy policy : {run::Policy::lazy, run::Policy::random}) {
            const TensorMap map = padded(bits, swizzle);
            const std::vector<std::byte> tensor = random_bytes(16 * map.strides[1]);
            const Outcome o = run(kernel(load(column, row), static_cast<uint32_t>(8 * 128 * bits / 8),
                                         chunks(swizzle, 0, bits / 2)),
                                  map, tensor, policy);
            ASSERT_EQ(o.what, "");
            for (int t = 0; t < 64; ++t)
              for (int i = 0; i < bits / 2; ++i) {
                const int r = row + t / 8;
                const int c = column + t % 8 * 16;
                const bool inside = r >= 0 && r < 16 && c >= 0 && c < 256;
                const uint32_t want = inside ? word(tensor, static_cast<size_t>(r) * map.strides[1] +
                                                                static_cast<size_t>(c * bits / 8 + 4 * i))
                                             : 0;
                ASSERT_EQ(word(o.out, static_cast<size_t>(16 * t + 4 * i)), want)
                    << bits << " bits, column " << column << ", row " << row << ", chunk " << t << ", word "
                    << i;
              }
          }
}

TEST(PaddedTensors, ThePaddingHoldsNothing) {
  for (const int bits : {4, 6}) {
    // Even where something stood before.
    const std::string before =
        "mov.u32 %r8, %r1;\nFILL: st.shared.v4.u32 [%r8], {1, 2, 3, 4};\nadd.u32 %r8, %r8, 16;\n"
        "sub.u32 %r9, %r8, %r1;\nsetp.lt.u32 %p2, %r9, 4096;\n@%p2 bra "
        "FILL;\nfence.proxy.async.shared::cta;\n" +
        load(0, 0);
    const Outcome o =
        run(kernel(before, static_cast<uint32_t>(128 * bits), chunks(TensorSwizzle::none, bits / 2, 1)),
            padded(bits, TensorSwizzle::none), random_bytes(16 * 256));
    EXPECT_NE(o.what.find("never written"), std::string::npos) << bits << " bits: " << o.what;
  }
}

TEST(PaddedTensors, WhatTheyAreNotForIsRefusedByName) {
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {0, 0}], [tile];\n";
  const auto what = [](int bits, const std::string& copy, TensorSwizzle swizzle = TensorSwizzle::none) {
    return run(kernel(copy, 0, ""), padded(bits, swizzle), random_bytes(16 * 256)).what;
  };
  EXPECT_NE(what(4, store).find("u4x16_align16b can only be loaded"), std::string::npos) << what(4, store);
  EXPECT_NE(what(6, store).find("a store of .b6p2x16"), std::string::npos) << what(6, store);
  EXPECT_NE(what(4, load(64, 0)).find("starts at element 64"), std::string::npos) << what(4, load(64, 0));
  const std::string flipped = what(4, load(0, 0), TensorSwizzle::b128_atom_32b_flip_8b);
  EXPECT_NE(flipped.find("is not for type u4x16_align16b"), std::string::npos) << flipped;
  const std::string small = what(6, load(0, 0), TensorSwizzle::b64);
  EXPECT_NE(small.find("with this swizzle"), std::string::npos) << small;
}

// Rows of 64 bf16 of a tensor of 96 by 20.
TensorMap rows_of(TensorSwizzle swizzle, uint32_t box_rows = 1) {
  TensorMap m;
  m.type = TensorType::bf16;
  m.rank = 2;
  m.dims = {96, 20, 1, 1, 1};
  m.strides = {0, 192, 0, 0, 0};
  m.box = {64, box_rows, 1, 1, 1};
  m.swizzle = swizzle;
  return m;
}
std::string gather(const std::string& coordinates, const std::string& space = "cluster",
                   const std::string& group = "") {
  return "cp.async.bulk.tensor.2d.shared::" + space + ".global.tile::gather4.mbarrier::complete_tx::bytes" +
         group + " [tile], [%d2, {" + coordinates + "}], [bar];\n";
}

TEST(RowsByName, AreGatheredOneBehindTheOther) {
  struct Case {
    int column;
    std::array<int, 4> rows;
  };
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::b128})
    for (const Case& c :
         {Case{0, {3, 17, 3, 0}}, {32, {19, 18, 1, 2}}, {48, {5, 20, -1, 6}}, {-8, {0, 1, 2, 9}}})
      for (const auto& [space, group] :  // FlashMLA names the group
           {std::pair{"cluster", ""}, {"cta", ""}, {"cluster", ".cta_group::1"}, {"cta", ".cta_group::1"}}) {
        const TensorMap map = rows_of(swizzle);
        const std::vector<std::byte> tensor = random_bytes(192 * 20);
        std::string coordinates = std::to_string(c.column);
        for (const int r : c.rows) coordinates += ", " + std::to_string(r);
        const Outcome o = run(kernel(gather(coordinates, space, group), 512,
                                     "setp.ge.u32 %p2, %r0, 32;\n@%p2 ret;\n" + chunks(swizzle, 0, 4)),
                              map, tensor);
        ASSERT_EQ(o.what, "");
        for (size_t t = 0; t < 32; ++t)
          for (size_t i = 0; i < 8; ++i) {
            const int row = c.rows[t / 8];
            const int column = c.column + static_cast<int>(t % 8 * 8 + i);
            uint16_t want = 0;
            if (row >= 0 && row < 20 && column >= 0 && column < 96)
              std::memcpy(&want, tensor.data() + 192 * row + 2 * column, 2);
            uint16_t got = 0;
            std::memcpy(&got, o.out.data() + 16 * t + 2 * i, 2);
            ASSERT_EQ(got, want) << "row " << row << ", column " << column;
          }
      }
}

TEST(RowsByName, AreScatteredFromOneBehindTheOther) {
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::b128}) {
    // Chunk t % 8 of row t / 8 of the box holds 256 * t + 1 .. 256 * t + 4, where the swizzle puts it.
    const std::string fill =
        std::string("mov.u32 %r8, 0;\nFILL:\nshr.u32 %r3, %r8, 3;\nand.b32 %r4, %r8, 7;\n") +
        (swizzle == TensorSwizzle::none ? "" : "xor.b32 %r4, %r4, %r3;\n") +
        "shl.b32 %r4, %r4, 4;\nshl.b32 %r3, %r3, 7;\nadd.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, %r1;\n"
        "shl.b32 %r9, %r8, 8;\nadd.u32 %r10, %r9, 1;\nadd.u32 %r11, %r9, 2;\nadd.u32 %r12, %r9, 3;\n"
        "add.u32 %r13, %r9, 4;\nst.shared.v4.u32 [%r3], {%r10, %r11, %r12, %r13};\nadd.u32 %r8, %r8, 1;\n"
        "setp.lt.u32 %p2, %r8, 32;\n@%p2 bra FILL;\nfence.proxy.async.shared::cta;\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d2, {48, 7, 19, 0, 20}], "
        "[tile];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
    const std::vector<std::byte> tensor = random_bytes(192 * 20);
    const Outcome o = run(kernel(fill, 0, ""), rows_of(swizzle), tensor);
    ASSERT_EQ(o.what, "");
    std::vector<std::byte> want = tensor;
    constexpr std::array<size_t, 3> rows{7, 19, 0};  // 20 is outside, and so are columns from 96 on
    for (size_t r = 0; r < rows.size(); ++r)
      for (size_t c = 0; c < 6; ++c)
        for (uint32_t i = 0; i < 4; ++i) {
          const auto v = static_cast<uint32_t>(256 * (8 * r + c)) + i + 1;
          std::memcpy(want.data() + 192 * rows[r] + 96 + 16 * c + 4 * i, &v, 4);
        }
    EXPECT_EQ(o.tensor, want);
  }
}

TEST(RowsByName, NeedABoxOfOneRow) {
  const std::string what =
      run(kernel(gather("0, 1, 2, 3, 4"), 512, ""), rows_of(TensorSwizzle::none, 2), random_bytes(192 * 20))
          .what;
  EXPECT_NE(what.find("needs a box of 1 in dimension 1, it has 2"), std::string::npos) << what;
}

}  // namespace
}  // namespace bitwell::isa
