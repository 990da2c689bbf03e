// ldmatrix of 8-bit elements, and of 4- and 6-bit ones with padding (PTX ISA 9.0, 9.7.14.5.15). Which thread
// gives which row and gets which byte: CuTe's layouts of these instructions (SM100_U8x8_LDSM_T and
// SM100_SU4_DU8x16_x1_LDSM_N in CUTLASS 4.2), written out here by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

struct NarrowOutcome {
  std::string what;
  std::vector<uint32_t> out;  // [thread][register]
};
// One register of one thread.
struct Value {
  size_t thread, number;
};
// Thread t points at row `(5 * t) % 32` of 32 rows of 16 bytes, of which the first `filled` are written. All
// that is loaded is stored, or `only` one register of one thread.
NarrowOutcome load_narrow(const std::string& form, size_t registers, const std::vector<uint32_t>& rows,
                          int filled = 16, std::optional<Value> only = {}) {
  test::Kernel kernel{
      .target = "sm_100a",
      .parameters = ".param .u64 in, .param .u64 out",
      .registers = ".reg .pred %p0; .reg .b32 %r<12>; .reg .b32 %v<4>; .reg .b64 %a<4>;",
      .shared = ".shared .align 16 .b8 sm[512];",
      .start =
          "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %a2, %r0, "
          "16;\n"
          "add.u64 %a0, %a0, %a2;\nadd.u64 %a1, %a1, %a2;\nld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a0];\n"
          "mov.u32 %r5, sm;\nshl.b32 %r6, %r0, 4;\nadd.u32 %r6, %r6, %r5;\n"};
  std::string& text = kernel.body;
  for (int i = 0; i < filled / 4; ++i)
    text += "st.shared.b32 [%r6+" + std::to_string(4 * i) + "], %r" + std::to_string(1 + i) + ";\n";
  text +=
      "bar.warp.sync -1;\nmul.lo.u32 %r7, %r0, 5;\nand.b32 %r7, %r7, 31;\nshl.b32 %r7, %r7, 4;\n"
      "add.u32 %r7, %r7, %r5;\n" +
      form + " {";
  for (size_t i = 0; i < registers; ++i) text += (i == 0 ? "%v" : ", %v") + std::to_string(i);
  text += "}, [%r7];\n";
  if (only) text += "setp.ne.u32 %p0, %r0, " + std::to_string(only->thread) + ";\n@%p0 ret;\n";
  for (size_t i = 0; i < registers; ++i)
    if (!only || only->number == i)
      text += "st.global.b32 [%a1+" + std::to_string(4 * i) + "], %v" + std::to_string(i) + ";\n";
  std::vector<std::byte> bytes(512);
  std::memcpy(bytes.data(), rows.data(), bytes.size());
  kernel.buffers = {test::input(bytes), test::output(512)};
  const test::Left left = kernel.run();
  return {left.fault, left.all<uint32_t>(1)};
}
std::vector<uint32_t> random_rows() {
  std::mt19937 random(3);
  std::vector<uint32_t> out(128);
  for (uint32_t& v : out) v = random();
  return out;
}
// Element e of the row that thread t points at, as the byte that it becomes.
uint32_t element_of_narrow(const std::vector<uint32_t>& rows, size_t t, size_t e, size_t bits) {
  const uint32_t* row = rows.data() + 5 * t % 32 * 4;
  if (bits == 8) return row[e / 4] >> e % 4 * 8 & 0xFF;
  if (bits == 4) return row[e / 8] >> e % 8 * 4 & 0xF;
  const size_t at = 6 * e;
  const uint64_t two = row[at / 32] | uint64_t{at / 32 < 3 ? row[at / 32 + 1] : 0} << 32;
  return two >> at % 32 & 0x3F;
}
struct Format {
  const char* name;
  size_t bits;
};
constexpr Format kFormats[] = {{".b8", 8}, {".b8x16.b6x16_p32", 6}, {".b8x16.b4x16_p64", 4}};

TEST(NarrowMatrices, SixteenRowsComeTransposed) {
  const std::vector<uint32_t> rows = random_rows();
  for (const Format& f : kFormats)
    for (size_t count : {1, 2}) {
      // What pads a row need not be there.
      const NarrowOutcome o =
          load_narrow("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans.shared" + f.name,
                      2 * count, rows, static_cast<int>(2 * f.bits));
      ASSERT_EQ(o.what, "");
      for (size_t t = 0; t < 32; ++t)
        for (size_t r = 0; r < 2 * count; ++r)
          for (size_t k = 0; k < 4; ++k) {
            const size_t row = 16 * (r / 2) + 4 * (t % 4) + k;  // and the thread that points at it
            ASSERT_EQ(o.out[4 * t + r] >> 8 * k & 0xFF,
                      element_of_narrow(rows, row, t / 4 + 8 * (r % 2), f.bits))
                << f.name << ".x" << count << ", thread " << t << ", register " << r << ", byte " << k;
          }
    }
}

TEST(NarrowMatrices, EightRowsComeAsTheyAre) {
  const std::vector<uint32_t> rows = random_rows();
  for (const Format& f : {kFormats[1], kFormats[2]})
    for (size_t count : {1, 2, 4}) {
      const NarrowOutcome o =
          load_narrow("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) + ".shared" + f.name, count,
                      rows, static_cast<int>(2 * f.bits));
      ASSERT_EQ(o.what, "");
      for (size_t t = 0; t < 32; ++t)
        for (size_t r = 0; r < count; ++r)
          for (size_t k = 0; k < 4; ++k)
            ASSERT_EQ(o.out[4 * t + r] >> 8 * k & 0xFF,
                      element_of_narrow(rows, 8 * r + t / 4, 4 * (t % 4) + k, f.bits))
                << f.name << ".x" << count << ", thread " << t << ", register " << r << ", byte " << k;
    }
}

TEST(NarrowMatrices, WhatWasNeverWrittenIsNoValue) {
  const NarrowOutcome o =
      load_narrow("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32", 1, random_rows(), 8);
  EXPECT_NE(o.what.find("never written"), std::string::npos) << o.what;
}

// A register has a value where all bits of its four elements were written; an element of 6 bits may stand in
// two bytes.
TEST(NarrowMatrices, ARegisterHasAValueWhereAllItsElementsDo) {
  const std::vector<uint32_t> rows = random_rows();
  for (const Format& f : kFormats)
    for (const int filled : {4, 8, 12}) {
      const auto written = [&](size_t e) { return (e + 1) * f.bits <= 8 * static_cast<size_t>(filled); };
      for (const bool tall : {true, false}) {
        if (!tall && f.bits == 8) continue;  // there is no such form
        const std::string form = std::string("ldmatrix.sync.aligned.") + (tall ? "m16n16" : "m8n16") + ".x1" +
                                 (tall ? ".trans" : "") + ".shared" + f.name;
        for (size_t t = 0; t < 32; ++t)
          for (size_t r = 0; r < (tall ? 2 : 1); ++r) {
            const bool whole = tall ? written(t / 4 + 8 * r) : written(4 * (t % 4) + 3);
            const std::string what = load_narrow(form, tall ? 2 : 1, rows, filled, Value{t, r}).what;
            ASSERT_EQ(what.find("never written") == std::string::npos, whole)
                << form << ", " << filled << " bytes of a row, thread " << t << ", register " << r << ": "
                << what;
            ASSERT_EQ(what.empty(), whole) << what;
          }
      }
    }
}

}  // namespace
}  // namespace bitwell::isa
