// tcgen05.cp in every shape: which byte of shared memory reaches which cell, unpacked or not, in one CTA or
// in each of a pair from its own shared memory (PTX ISA 9.0, 9.7.16.9; rows and lanes as tests paired with a
// B200 have them).
#include <gtest/gtest.h>

#include <random>

#include "tensor_kernel.h"

namespace bitwell::isa {
namespace {

struct Shape {
  const char* name;
  uint32_t rows, bytes;  // of the source
  // The row that lands in a lane, from the address's lane on; -1: none.
  int (*row)(uint32_t lane);
};
const Shape kShapes[] = {
    {"128x256b", 128, 32, [](uint32_t lane) { return static_cast<int>(lane); }},
    {"128x128b", 128, 16, [](uint32_t lane) { return static_cast<int>(lane); }},
    {"4x256b", 4, 32, [](uint32_t lane) { return lane % 32 == 0 ? static_cast<int>(lane / 32) : -1; }},
    {"64x128b.warpx2::02_13", 64, 16, [](uint32_t lane) { return static_cast<int>(lane % 64); }},
    {"64x128b.warpx2::01_23", 64, 16,
     [](uint32_t lane) { return static_cast<int>(lane / 64 * 32 + lane % 32); }},
    {"32x128b.warpx4", 32, 16, [](uint32_t lane) { return static_cast<int>(lane % 32); }},
};
constexpr const char* kUnpack[] = {"", ".b8x16.b4x16_p64", ".b8x16.b6x16_p32"};
constexpr uint32_t kBytes = 4096, kColumns = kTensorKernelColumns, kFresh = 0xA5A5A5A5;

// Every thread fills its lane's 16 columns with kFresh; thread 0 of CTA `issuer` copies to `to`; all columns
// out.
TensorKernel kernel(int ctas, uint32_t issuer, const std::string& copy, uint64_t descriptor, uint32_t to) {
  TensorKernel k;
  k.ctas = ctas;
  k.shared = ".shared .align 1024 .b8 sm[4096];\n";
  k.prepare =
      "mul.wide.u32 %a1, %r7, 32;\nadd.u64 %a2, %a2, %a1;\nmov.u32 %r8, sm;\nshl.b32 %r9, %r0, 5;\n"
      "add.u32 %r9, %r8, %r9;\nld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a2];\n"
      "ld.global.v4.u32 {%v4, %v5, %v6, %v7}, [%a2+16];\nst.shared.v4.u32 [%r9], {%v0, %v1, %v2, %v3};\n"
      "st.shared.v4.u32 [%r9+16], {%v4, %v5, %v6, %v7};\nfence.proxy.async.shared::cta;\n";
  k.fill = [](uint32_t column) {
    return "mov.b32 %v" + std::to_string(column) + ", " + std::to_string(kFresh) + ";\n";
  };
  k.issuer = "setp.eq.and.u32 %p1, %r6, " + std::to_string(issuer) + ", %p2;";
  k.issue = "and.b32 %r8, %r8, 0x3FFFF;\nshr.u32 %r8, %r8, 4;\ncvt.u64.u32 %a3, %r8;\nadd.u64 %a3, %a3, " +
            std::to_string(descriptor) + ";\nadd.u32 %r3, %r2, " + std::to_string(to) +
            ";\ntcgen05.cp.cta_group::" + std::to_string(ctas) + "." + copy + " [%r3], %a3;\n";
  return k;
}

// Byte `at` of a row's unpacked bytes: of each 16, element i is 4 bits at bit 4 i, two places up, or 6 at 6
// i.
uint8_t unpacked(const std::byte* row, uint32_t at, size_t how) {
  const std::byte* sixteen = row + at / 16 * 16;
  if (how == 0) return static_cast<uint8_t>(sixteen[at % 16]);
  uint8_t code = 0;
  const uint32_t bits = how == 1 ? 4 : 6;
  for (uint32_t bit = 0; bit < bits; ++bit) {
    const uint32_t from = at % 16 * bits + bit;
    code |= static_cast<uint8_t>((static_cast<uint8_t>(sixteen[from / 8]) >> from % 8 & 1) << bit);
  }
  return how == 1 ? static_cast<uint8_t>(code << 2) : code;
}

TEST(TensorCopy, EveryShapeAndFormat) {
  std::mt19937 random(1);
  for (const Shape& s : kShapes)
    for (size_t how = 0; how < 3; ++how)
      for (const uint32_t ctas : {1u, 2u})
        for (const uint32_t column : {0u, 4u, 8u}) {
          std::vector<std::byte> in(size_t{kBytes} * ctas);
          for (std::byte& b : in) b = static_cast<std::byte>(random());
          // 8 rows of 16 bytes, then the next 16 bytes of these rows, then the next 8 rows.
          const uint64_t stride = s.bytes / 16 * 128;
          const uint64_t descriptor = uint64_t{128 >> 4} << 16 | stride >> 4 << 32 | uint64_t{1} << 46;
          const TensorKernel asked = kernel(static_cast<int>(ctas), random() % ctas,
                                            std::string(s.name) + kUnpack[how], descriptor, column);
          const std::vector<uint32_t> out = asked.run(in);
          for (uint32_t lane = 0; lane < 128 * ctas; ++lane) {
            const int row = s.row(lane % 128);
            for (uint32_t c = 0; c < kColumns; ++c) {
              uint32_t want = kFresh;
              if (row >= 0 && c >= column && c < column + s.bytes / 4) {
                want = 0;
                for (uint32_t byte = 0; byte < 4; ++byte) {
                  const uint32_t at = (c - column) * 4 + byte;
                  const auto r = static_cast<uint32_t>(row);
                  const std::byte* sixteen =
                      in.data() + lane / 128 * kBytes + r / 8 * stride + at / 16 * 128 + r % 8 * 16;
                  want |= static_cast<uint32_t>(unpacked(sixteen, at % 16, how)) << 8 * byte;
                }
              }
              ASSERT_EQ(out[lane * kColumns + c], want)
                  << s.name << kUnpack[how] << ", " << ctas << " CTAs, lane " << lane << ", column " << c;
            }
          }
        }
}

// Four rows may start in any lane of a quarter.
TEST(TensorCopy, FourRowsStartWhereTheAddressSays) {
  std::vector<std::byte> in(kBytes, std::byte{7});
  const uint64_t descriptor = uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32 | uint64_t{1} << 46;
  const std::vector<uint32_t> out = kernel(1, 0, "4x256b", descriptor, 31 << 16).run(in);
  for (uint32_t lane = 0; lane < 128; ++lane)
    EXPECT_EQ(out[lane * kColumns], lane % 32 == 31 ? 0x07070707u : kFresh) << lane;
}

TEST(TensorCopy, PlacesThatAreNoneAreNamed) {
  const std::vector<std::byte> in(kBytes);
  const uint64_t descriptor = uint64_t{8} << 16 | uint64_t{8} << 32 | uint64_t{1} << 46;
  const auto what = [&](const char* copy, uint64_t from, uint32_t to) -> std::string {
    try {
      kernel(1, 0, copy, from, to).run(in);
    } catch (const machine::Fault& e) {
      return e.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(what("128x128b", descriptor, 2), "tcgen05.cp at column 2 of tensor memory, it must be a multiple of 4");
  has(what("128x128b", descriptor, 16 << 16), "tcgen05.cp at lane 16 of tensor memory, it must be 0");
  has(what("128x256b", descriptor, 28), "tcgen05.cp reaches columns 28 to 35 of tensor memory");
  has(what("128x128b", descriptor | uint64_t{0x1000} << 32, 0), "leads to byte");
  has(what("128x128b", descriptor ^ uint64_t{1} << 46, 0), "has 0 in bits 46 to 48 (constant)");
  has(what("128x128b", descriptor | uint64_t{3} << 61, 0), "has 3 in bits 61 to 63");
}

}  // namespace
}  // namespace bitwell::isa
