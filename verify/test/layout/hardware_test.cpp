// The hardware layouts against published values and formulas, and as bijections.
#include "model/layout/hardware.h"

#include <gtest/gtest.h>

#include <set>

#include "model/layout/algebra.h"
#include "model/layout/banks.h"
#include "model/layout/expression.h"
#include "model/layout/operands.h"
#include "model/layout/scale_factors.h"
#include "model/layout/scale_swizzle.h"
#include "model/layout/tensor_memory.h"

namespace bitwell::layout {
namespace {

using Items = std::vector<Tuple>;

int64_t at(const Hardware& h, int64_t a, int64_t b) { return h.layout(Items{a, b}); }
int64_t at(const Hardware& h, int64_t a, int64_t b, int64_t c) { return h.layout(Items{a, b, c}); }

// The one map of CUTLASS (Sm1xxBlockScaledConfig), cuBLASLt (VEC16_UE4M3), Transformer Engine (swizzle.cuh),
// torchao (to_blocked), FBGEMM, vLLM, TensorRT-LLM, FlashInfer, nvFuser and Triton's tutorial 10.
int64_t tiled_offset(int64_t r, int64_t c, int64_t columns) {
  return (r / 128 * ((columns + 3) / 4) + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
}

TEST(ScaleFactors, GlobalTilingIsTheLibrariesFormula) {
  for (const int64_t rows : {1, 31, 128, 129, 300, 512})
    for (const int64_t k : {16, 64, 80, 288, 1024}) {
      const Hardware h = scales_global(rows, k, 2, 16, Tiling::tile_128x4);
      const int64_t bytes = (rows + 127) / 128 * ((k / 16 + 3) / 4) * 512;
      EXPECT_EQ(h.region, 2 * bytes);
      for (int64_t l = 0; l < 2; ++l)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < k / 16; ++c)
            ASSERT_EQ(at(h, r, c, l), l * bytes + tiled_offset(r, c, k / 16))
                << rows << " " << k << " " << r << " " << c;
    }
}

TEST(ScaleFactors, PublishedOffsets) {
  const Hardware h = scales_global(128, 128, 1, 16, Tiling::tile_128x4);
  EXPECT_EQ(at(h, 5, 2, 0), 82);  // nvmath documentation
  EXPECT_EQ(at(h, 5, 5, 0), 593);
  // Strides seen on a B200: the view (32, 4, rest_m, 4, rest_k, l) of 128 rows, K = 16384.
  const Hardware b = scales_global(128, 16384, 1, 16, Tiling::tile_128x4);
  EXPECT_EQ(at(b, 1, 0, 0), 16);
  EXPECT_EQ(at(b, 32, 0, 0), 4);
  EXPECT_EQ(at(b, 0, 1, 0), 1);
  EXPECT_EQ(at(b, 0, 4, 0), 512);
  EXPECT_EQ(b.region, 131072);
}

// Layouts as CUTLASS prints them, with 16 elements a scale as a broadcast mode.
void same_as_printed(const Hardware& h, const std::string& printed, int64_t rows, int64_t scales) {
  const Layout cute = parse_layout(printed);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < scales; ++c)
      for (const int64_t e : {0, 15})
        ASSERT_EQ(cute(Items{r, 16 * c + e, 0}), h.layout(h.axes.size() == 3 ? Items{r, c, 0} : Items{r, c}))
            << printed << " at " << r << ", " << c;
}

TEST(ScaleFactors, LayoutsAreThoseThatCutlassPrints) {
  same_as_printed(scales_global(300, 288, 1, 16, Tiling::tile_128x4),
                  "(((32,4),3),((16,4),5),(1,1)):(((16,4),2560),((0,1),512),(0,7680))", 300, 18);
  // Shared memory, ((atom, n_m), 1, (1, n_k)) written out for n_m = 2, n_k = 4 in both orders.
  same_as_printed(scales_shared(256, 256, 16, SharedOrder::cutlass),
                  "(((32,4),2),((16,4),4),1):(((16,4),512),((0,1),1024),0)", 256, 16);
  same_as_printed(scales_shared(256, 256, 16, SharedOrder::dsl),
                  "(((32,4),2),((16,4),4),1):(((16,4),2048),((0,1),512),0)", 256, 16);
  // Tensor memory for M = 128: ((((32,4),4),(16,4)),1,(1,4)):((((262144,4),8388608),(0,1)),0,(0,16)).
  const Hardware h = scales_tensor(128, 256, 16);
  const Layout cute = parse_layout("((((32,4),4),(16,4)),1,(1,4)):((((262144,4),8388608),(0,1)),0,(0,16))");
  for (int64_t r = 0; r < 128; ++r)
    for (int64_t copy = 0; copy < 4; ++copy)
      for (int64_t step = 0; step < 4; ++step)
        for (int64_t j = 0; j < 4; ++j)
          ASSERT_EQ(cute(Items{Items{Items{r, copy}, 16 * j}, 0, step}), at(h, r, 4 * step + j, copy));
}

TEST(ScaleFactors, SharedOrdersAgreeForOneBlockAndDifferForTwo) {
  EXPECT_EQ(offsets(scales_shared(128, 256, 16, SharedOrder::cutlass).layout.layout),
            offsets(scales_shared(128, 256, 16, SharedOrder::dsl).layout.layout));
  EXPECT_NE(offsets(scales_shared(192, 256, 16, SharedOrder::cutlass).layout.layout),
            offsets(scales_shared(192, 256, 16, SharedOrder::dsl).layout.layout));
}

// tcgen05.cp.32x128b.warpx4 copies an atom: row i of 16 bytes to lane i, 4 columns. Either shared-memory
// order gives the same image when each atom (block b, step s) goes to columns 4 b + s * rows / 32.
TEST(ScaleFactors, CopyingAtomsGivesTheTensorImage) {
  for (const int64_t rows : {128, 256}) {
    const Hardware image = scales_tensor(rows, 256, 16);
    for (const SharedOrder order : {SharedOrder::cutlass, SharedOrder::dsl}) {
      const Hardware shared = scales_shared(rows, 256, 16, order);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < 16; ++c) {
          const int64_t from = at(shared, r, c);
          const int64_t atom = at(shared, r / 128 * 128, c / 4 * 4);  // its first byte
          const int64_t inside = from - atom;
          const int64_t column = 4 * (r / 128) + c / 4 * (rows / 32) + inside % 16 / 4;
          for (int64_t copy = 0; copy < 4; ++copy)
            ASSERT_EQ(tensor_address(at(image, r, c, copy)),
                      (TensorAddress{inside / 16 + 32 * copy, column, inside % 4}));
        }
    }
  }
}

TEST(ScaleFactors, ATileOfBStandsWhereItsRowsWereLoaded) {
  for (const int64_t n : {64, 128, 192, 256})
    for (int64_t tile = 0; tile < 8; ++tile) {
      const Hardware h = scales_b_tensor(n, 256, 16, tile);
      const AtomRange atoms = scale_b_atoms(n, tile);
      const Hardware image = scales_tensor(128 * atoms.count, 256, 16);
      for (int64_t row = 0; row < n; ++row) {
        const int64_t loaded = tile * n + row - 128 * atoms.first;
        ASSERT_GE(loaded, 0);
        ASSERT_LT(loaded, 128 * atoms.count);
        ASSERT_EQ(at(h, row, 5, 2), at(image, loaded, 5, 2))
            << "n " << n << " tile " << tile << " row " << row;
      }
    }
  EXPECT_EQ(scale_b_shift(64, 1), 2);
  EXPECT_EQ(scale_b_shift(192, 3), 2);
  EXPECT_EQ(scale_b_atoms(192, 3).first, 4);
  EXPECT_EQ(scale_b_shift(192, 2), 0);
  try {
    scales_b_tensor(32, 256, 16, 1);
    ADD_FAILURE() << "n = 32 is taken";
  } catch (const LayoutError& e) {
    EXPECT_NE(std::string(e.what()).find("multiple of 2 columns"), std::string::npos) << e.what();
  }
}

// The word and byte that an MMA is told hold the scales of its part of K, for every scale_vec.
TEST(ScaleFactors, EachMmaTakesTheScalesOfItsPartOfK) {
  for (const ScaleVec& v : kScaleVecs)
    for (const int64_t rows : {128, 256}) {
      const Hardware h = scales_tensor(rows, 512, v.vector);
      for (int64_t step = 0; step < 512 / v.vector / v.per_mma; ++step) {
        const ScaleSelection s = scale_selection(v, rows, step);
        ASSERT_EQ(s.sf_id % v.per_mma, 0);  // 1X: 0 to 3, 2X: 0 or 2, 4X: 0
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t j = 0; j < v.per_mma; ++j)
            ASSERT_EQ(tensor_address(at(h, row, step * v.per_mma + j, 0)),
                      (TensorAddress{row % 32, s.column + row / 32, s.sf_id + j}));
      }
    }
  EXPECT_EQ(scale_selection(kScaleVecs[0], 128, 5), (ScaleSelection{4, 1}));
  EXPECT_EQ(scale_selection(kScaleVecs[1], 128, 3), (ScaleSelection{4, 2}));
  EXPECT_EQ(scale_selection(kScaleVecs[2], 128, 3), (ScaleSelection{12, 0}));
}

TEST(Operands, SwizzlesAreTheTensorMapsBytePatterns) {
  // CU_TENSOR_MAP_SWIZZLE_32B, 64B and 128B in terms of rows of `span` bytes: 16-byte chunks of the address,
  // its bits from 4 on, xored with one, two or three bits from 7 on.
  for (const int64_t bits : {4, 8, 16, 32})
    for (const SharedSwizzle swizzle : {SharedSwizzle::b32, SharedSwizzle::b64, SharedSwizzle::b128}) {
      const int span = static_cast<int>(row_of(swizzle).span);
      const int64_t across = span * 8 / bits;
      const Hardware h = operand_tile(16, across, bits, swizzle);
      for (int64_t row = 0; row < 16; ++row)
        for (int64_t k = 0; k < across; ++k) {
          const int64_t byte = k * bits / 8;
          const int64_t turn = span == 128 ? row % 8 : span == 64 ? row / 2 % 4 : row / 4 % 2;
          const int64_t expected = row * span + ((byte / 16) ^ turn) * 16 + byte % 16;
          ASSERT_EQ(at(h, row, k) * bits / 8, expected)
              << bits << " bits, span " << span << ", row " << row << ", k " << k;
        }
    }
}

TEST(Operands, NvFp4TileIsRowsOf128Bytes) {
  const Hardware h = operand_tile(128, 256, 4, SharedSwizzle::b128);
  EXPECT_EQ(h.region * h.unit_bits / 8, 16384);
  EXPECT_EQ(h.layout.swizzle, (Swizzle{3, 5, 3}));  // Swizzle<3,4,3> of bytes, in halves of a byte
  EXPECT_EQ(at(h, 1, 0), 256 + 32);                 // chunk 0 of row 1 at chunk 1
}

TEST(Operands, PairsSplitAAndBAndKeepSfbWhole) {
  EXPECT_EQ(rows_of_cta(Operand::a, 256, 128, 2), 128);
  EXPECT_EQ(rows_of_cta(Operand::b, 256, 128, 2), 64);
  EXPECT_EQ(rows_of_cta(Operand::sfa, 256, 128, 2), 128);
  EXPECT_EQ(rows_of_cta(Operand::sfb, 256, 128, 2), 128);
  EXPECT_EQ(rows_of_cta(Operand::sfb, 256, 192, 2), 256);
  const Hardware b = pair_partition(Operand::b, 256, 128, 256);
  EXPECT_EQ(at(b, 64, 0), 64 * 128);  // the first row of the peer
  const Hardware s = pair_partition(Operand::sfb, 256, 128, 256);
  EXPECT_EQ(at(s, 5, 3, 1) - at(s, 5, 3, 0), 128 * 16);
}

TEST(TensorMemory, FragmentsPlaceThreadsAndRegisters) {
  const auto place = [](const char* shape, int64_t repeat, int64_t t, int64_t r) {
    return tensor_address(at(fragment(shape, repeat, 128), t, r));
  };
  EXPECT_EQ(place("32x32b", 4, 7, 3), (TensorAddress{7, 3, 0}));
  EXPECT_EQ(place("16x64b", 1, 1, 0), (TensorAddress{8, 0, 0}));
  EXPECT_EQ(place("16x64b", 1, 2, 0), (TensorAddress{0, 1, 0}));
  EXPECT_EQ(place("16x64b", 2, 4, 1), (TensorAddress{1, 2, 0}));
  EXPECT_EQ(place("16x128b", 1, 5, 1), (TensorAddress{9, 1, 0}));
  EXPECT_EQ(place("16x128b", 2, 5, 2), (TensorAddress{1, 5, 0}));
  EXPECT_EQ(place("16x256b", 1, 6, 1), (TensorAddress{1, 5, 0}));
  EXPECT_EQ(place("16x256b", 1, 6, 2), (TensorAddress{9, 4, 0}));
  EXPECT_EQ(place("16x256b", 2, 0, 4), (TensorAddress{0, 8, 0}));
  EXPECT_EQ(place("16x32bx2", 2, 17, 1), (TensorAddress{1, 129, 0}));
  EXPECT_EQ(tensor_address(at(accumulator(256, 256, 2), 127, 255)), (TensorAddress{127, 255, 0}));
}

// PTX ISA 9.0, 9.7.16.10.5, data paths A, B, D and F, written out.
TEST(TensorMemory, AccumulatorsPlaceRowsAndColumns) {
  for (const int64_t n : {32, 64, 256})
    for (int64_t column = 0; column < n; ++column)
      for (int64_t row = 0; row < 256; ++row) {
        const auto place = [&](int64_t m, int ctas) {
          return tensor_address(at(accumulator(m, n, ctas), row, column));
        };
        ASSERT_EQ(place(256, 2), (TensorAddress{row % 128, column, 0, row / 128}));
        if (row >= 128) continue;
        ASSERT_EQ(place(128, 1), (TensorAddress{row, column, 0}));
        ASSERT_EQ(place(128, 2),
                  (TensorAddress{row % 64 + column / (n / 2) * 64, column % (n / 2), 0, row / 64}));
        if (row >= 64) continue;
        ASSERT_EQ(place(64, 1), (TensorAddress{row % 16 + row / 16 * 32, column, 0}));
      }
}

// 9.7.16.9: where the rows go, and the quarters that multicast repeats them in.
TEST(TensorMemory, CopiesPlaceRows) {
  const auto place = [](const char* shape, int64_t row, int64_t byte, int64_t copy) {
    return tensor_address(at(copied(shape), row, byte, copy));
  };
  for (int64_t row = 0; row < 128; ++row)
    for (int64_t byte = 0; byte < 32; ++byte) {
      const int64_t column = byte / 4, rest = byte % 4;
      ASSERT_EQ(place("128x256b", row, byte, 0), (TensorAddress{row, column, rest}));
      if (row < 4) {
        ASSERT_EQ(place("4x256b", row, byte, 0), (TensorAddress{32 * row, column, rest}));
      }
      if (byte >= 16) continue;
      ASSERT_EQ(place("128x128b", row, byte, 0), (TensorAddress{row, column, rest}));
      for (int64_t copy = 0; copy < 4; ++copy) {
        if (row < 32) {
          ASSERT_EQ(place("32x128b.warpx4", row, byte, copy), (TensorAddress{row + 32 * copy, column, rest}));
        }
        if (row >= 64 || copy >= 2) continue;
        // The first half of the rows to quarters 0 and 2, the second to 1 and 3; or to 0 and 1, 2 and 3.
        ASSERT_EQ(place("64x128b.warpx2::02_13", row, byte, copy),
                  (TensorAddress{row % 32 + 32 * (row / 32 + 2 * copy), column, rest}));
        ASSERT_EQ(place("64x128b.warpx2::01_23", row, byte, copy),
                  (TensorAddress{row % 32 + 32 * (2 * (row / 32) + copy), column, rest}));
      }
    }
  EXPECT_THROW(copied("64x128b"), LayoutError);
}

// .pack::16b: a register has the low halves of two columns that follow each other, so that everything takes
// twice the columns; the gap of 16x32bx2 stays.
TEST(TensorMemory, PackedFragmentsTakeTwoColumnsARegister) {
  for (const auto& [shape, registers] :
       {std::pair("32x32b", 4), {"16x64b", 4}, {"16x128b", 8}, {"16x256b", 16}})
    for (int64_t t = 0; t < 32; ++t)
      for (int64_t r = 0; r < registers; ++r) {
        const TensorAddress plain = tensor_address(at(fragment(shape, 4, 0), t, r));
        for (int64_t half = 0; half < 2; ++half)
          ASSERT_EQ(tensor_address(at(fragment(shape, 4, 0, true), t, r, half)),
                    (TensorAddress{plain.lane, 2 * plain.column + half, 0}))
              << shape << " " << t << " " << r;
      }
  EXPECT_EQ(tensor_address(at(fragment("16x32bx2", 2, 32, true), 17, 1, 1)), (TensorAddress{1, 35, 0}));
}

// Every named layout, at its presets and at others: different coordinates have different addresses, the
// inverse finds each coordinate again, and addresses that hold nothing give nothing.
TEST(Named, EveryLayoutIsABijectionOntoItsImage) {
  const std::vector<std::pair<const char*, Parameters>> more{
      {"sf-global", {{"rows", "300"}, {"k", "288"}, {"batch", "3"}}},
      {"sf-global", {{"tiling", "8x4"}, {"rows", "20"}, {"k", "80"}}},
      {"sf-global", {{"tiling", "linear"}, {"rows", "7"}, {"k", "80"}}},
      {"sf-global", {{"scale-vec", "2X"}, {"k", "320"}}},
      {"sf-smem", {{"rows", "192"}, {"order", "cutlass"}}},
      {"sf-smem", {{"rows", "256"}}},
      {"sfa-tmem", {{"scale-vec", "1X"}}},
      {"sfb-tmem", {{"n", "64"}, {"tile", "1"}}},
      {"sfb-tmem", {{"n", "192"}, {"tile", "3"}}},
      {"sfb-tmem", {{"n", "256"}}},
      {"operand-smem", {{"swizzle", "64"}}},
      {"operand-smem", {{"swizzle", "32"}, {"bits", "16"}, {"k", "64"}}},
      {"operand-smem", {{"swizzle", "none"}, {"bits", "8"}}},
      {"pair", {{"operand", "a"}}},
      {"pair", {{"operand", "sfa"}}},
      {"pair", {{"operand", "sfb"}, {"n", "192"}}},
      {"acc-tmem", {{"m", "256"}, {"n", "256"}, {"ctas", "2"}}},
      {"tmem-ld", {{"shape", "16x64b"}, {"num", "x8"}}},
      {"tmem-ld", {{"shape", "16x128b"}, {"num", "x8"}}},
      {"tmem-ld", {{"shape", "16x256b"}, {"num", "x8"}}},
      {"tmem-ld", {{"shape", "16x32bx2"}, {"num", "x8"}, {"split", "64"}}},
      {"acc-tmem", {{"m", "64"}, {"n", "32"}}},
      {"acc-tmem", {{"m", "128"}, {"n", "32"}, {"ctas", "2"}}},
      {"tmem-ld", {{"shape", "16x256b"}, {"num", "8"}, {"warp", "3"}}},
      {"tmem-st", {{"shape", "16x64b"}, {"num", "x8"}, {"pack", "16b"}}},
      {"tmem-ld", {{"shape", "16x32bx2"}, {"num", "x4"}, {"pack", "16b"}, {"split", "8"}}},
      {"tmem-cp", {{"shape", "128x256b"}}},
      {"tmem-cp", {{"shape", "128x128b"}}},
      {"tmem-cp", {{"shape", "4x256b"}}},
      {"tmem-cp", {{"shape", "64x128b.warpx2::02_13"}}},
      {"tmem-cp", {{"shape", "64x128b.warpx2::01_23"}}}};
  std::vector<std::pair<const char*, Parameters>> all;
  for (const Named& n : named_layouts()) all.push_back({n.name, {}});
  all.insert(all.end(), more.begin(), more.end());
  for (const auto& [name, parameters] : all) {
    const Hardware h = named_layout(name, parameters);
    EXPECT_FALSE(h.source.empty()) << name;
    EXPECT_FALSE(h.evidence.empty()) << name;
    int64_t count = 1;
    for (const Axis& a : h.axes) count *= a.extent;
    ASSERT_EQ(count, size(h.layout.layout)) << name;
    std::set<int64_t> seen;
    for (int64_t i = 0; i < count; ++i) {
      Items coordinate;
      int64_t rest = i;
      for (const Axis& a : h.axes) {
        coordinate.emplace_back(rest % a.extent);
        rest /= a.extent;
      }
      const int64_t offset = h.layout(coordinate);
      ASSERT_TRUE(seen.insert(offset).second) << name << " " << to_string(Tuple(coordinate));
      if (i % 7 != 0) continue;
      const std::optional<Tuple> back = coordinate_at(h, offset);
      ASSERT_TRUE(back.has_value()) << name << " offset " << offset;
      ASSERT_EQ(*back, Tuple(coordinate)) << name << " offset " << offset;
    }
    for (int64_t o = 0; o < std::min<int64_t>(*seen.rbegin() + 8, 4096); ++o)
      ASSERT_EQ(coordinate_at(h, o).has_value(), seen.count(o) != 0) << name << " offset " << o;
  }
}

TEST(Named, WhatNoHardwareHasIsRefusedByName) {
  const auto refused = [](const char* name, const Parameters& p) {
    try {
      named_layout(name, p);
    } catch (const LayoutError& e) {
      return std::string(e.what());
    }
    return std::string("taken");
  };
  EXPECT_NE(refused("sfc-tmem", {}).find("there are sf-atom"), std::string::npos);
  EXPECT_NE(refused("sfb-tmem", {{"m", "1"}}).find("no parameter 'm'"), std::string::npos);
  EXPECT_NE(refused("sfb-tmem", {{"n", "96"}}).find("expected 64, 128, 192 or 256"), std::string::npos);
  EXPECT_NE(refused("sfb-tmem", {{"k", "40"}}).find("no multiple of the 16"), std::string::npos);
  EXPECT_NE(refused("acc-tmem", {{"m", "32"}}).find("m = 32"), std::string::npos);
  EXPECT_NE(refused("tmem-ld", {{"num", "3"}}).find("power of two"), std::string::npos);
  EXPECT_NE(refused("operand-smem", {{"k", "128"}}).find("256 elements that 128 bytes hold"),
            std::string::npos);
  EXPECT_NE(refused("operand-smem", {{"bits", "12"}}).find("expected one of: 4, 8, 16, 32"),
            std::string::npos);
}

TEST(Banks, ConflictsAreCountedWithTheirThreads) {
  // Rows of 128 bytes read down a column of 16-byte vectors: 8 threads of a quarter on the same 4 banks.
  const BankReport down = bank_conflicts(parse_composed("(32,4):(32,1)"), 0, 32, 16);
  EXPECT_EQ(down.wavefronts, 32);
  EXPECT_EQ(down.ideal, 4);
  EXPECT_EQ(down.phases[1].first_thread, 8);
  EXPECT_EQ(down.phases[1].threads, (std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15}));
  // The 128-byte swizzle takes the conflicts away: S<3,4,3> of bytes is S<3,2,3> of words.
  EXPECT_EQ(bank_conflicts(parse_composed("S<3,2,3> o 0 o (32,4):(32,1)"), 0, 32, 16).wavefronts, 4);
  EXPECT_EQ(bank_conflicts(parse_composed("(32,1):(1,1)"), 0, 32, 4).wavefronts, 1);
  EXPECT_EQ(bank_conflicts(parse_composed("(32,1):(2,1)"), 0, 32, 4).wavefronts, 2);
  EXPECT_EQ(bank_conflicts(parse_composed("(32,1):(0,1)"), 0, 32, 4).wavefronts, 1);  // a broadcast
  EXPECT_EQ(bank_conflicts(parse_composed("(32,1):(33,1)"), 0, 32, 4).wavefronts, 1);
  EXPECT_THROW(bank_conflicts(parse_composed("(32,1):(1,1)"), 0, 32, 16), LayoutError);
  EXPECT_THROW(bank_conflicts(parse_composed("(16,1):(1,1)"), 0, 32, 4), LayoutError);
}

TEST(ScaleSwizzle, IsTheLayoutAndItsInverse) {
  for (const size_t rows : {1, 127, 128, 130, 256, 384})
    for (const size_t scales : {1, 4, 6, 16, 64}) {
      const Hardware h = scales_global(static_cast<int64_t>(rows), static_cast<int64_t>(16 * scales), 1, 16,
                                       Tiling::tile_128x4);
      std::vector<uint8_t> linear(rows * scales);
      for (size_t i = 0; i < linear.size(); ++i) linear[i] = static_cast<uint8_t>(i * 37 + i / 251 + 1);
      std::vector<uint8_t> tiled(tiled_size(rows, scales), 0xEE);
      ASSERT_EQ(static_cast<int64_t>(tiled.size()), h.region);
      swizzle_scales(linear, rows, scales, tiled, 0xAA);
      std::vector<uint8_t> expected(tiled.size(), 0xAA);
      for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < scales; ++c)
          expected[static_cast<size_t>(at(h, static_cast<int64_t>(r), static_cast<int64_t>(c), 0))] =
              linear[r * scales + c];
      ASSERT_EQ(tiled, expected) << rows << " x " << scales;
      std::vector<uint8_t> back(linear.size());
      unswizzle_scales(tiled, rows, scales, back);
      ASSERT_EQ(back, linear);
    }
  std::vector<uint8_t> small(3);
  EXPECT_THROW(swizzle_scales(small, 128, 4, small), LayoutError);
}

}  // namespace
}  // namespace bitwell::layout
