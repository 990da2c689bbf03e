// Operands of tcgen05 instructions as kernels seldom write them: A of four bits in tensor memory, a predicate
// turned round, lanes that are none.
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "tensor_kernel.h"

namespace bitwell::isa {
namespace {

// D = A * B [+ D], 128 by 8: A stands in columns 16 to 23 of tensor memory, 32 bytes a lane, byte k of lane i
// being `byte(i, k)`; B is ones (e4m3); D is 1000 before.
std::vector<float> product_with(uint32_t a_type, const std::string& predicate, uint32_t more,
                                const std::string& byte) {
  TensorKernel k;
  k.shared = ".shared .align 1024 .b8 ones[512];\n";
  k.prepare =
      "mov.u32 %r8, ones; mad.lo.u32 %r8, %r0, 4, %r8; st.shared.u32 [%r8], 0x38383838; "
      "fence.proxy.async.shared::cta;\n";
  k.fill = [](uint32_t c) { return "mov.b32 %v" + std::to_string(c) + ", 0f447A0000;\n"; };
  std::string values;
  for (uint32_t c = 0; c < 8; ++c) {
    const std::string v = "%v" + std::to_string(c);
    k.issuer += "mov.u32 " + v + ", 0;\n";
    for (uint32_t i = 0; i < 4; ++i)  // %r10: k; %r11: the byte
      k.issuer += "mov.u32 %r10, " + std::to_string(4 * c + i) + ";\n" + byte + "shl.b32 %r11, %r11, " +
                  std::to_string(8 * i) + "; or.b32 " + v + ", " + v + ", %r11;\n";
    values += (c == 0 ? "" : ", ") + v;
  }
  k.issuer += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r1+16], {" + values +
              "};\ntcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
              "setp.eq.u32 %p1, %r0, 0;\n";
  const uint32_t descriptor = 1u << 4 | a_type << 7 | 1u << 17 | 8u << 24 | more;
  k.issue =
      "mov.u32 %r12, ones; shr.u32 %r12, %r12, 4; and.b32 %r12, %r12, 0x3FFF; cvt.u64.u32 %a4, %r12;\n"
      "or.b64 %a4, %a4, 0x0000401000080000; mov.u32 %r13, " +
      std::to_string(descriptor) +
      "; add.u32 %r14, %r2, 12; sub.u32 %r15, %r2, 4; setp.ne.u32 %p3, %r0, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r15+4], [%r14+4], %a4, %r13, " +
      predicate + ";\n";
  const std::vector<uint32_t> cells = k.run(std::vector<std::byte>(16));
  std::vector<float> out;
  for (size_t i = 0; i < 128; ++i)
    for (size_t n = 0; n < 8; ++n) out.push_back(std::bit_cast<float>(cells[kTensorKernelColumns * i + n]));
  return out;
}

// Element k of lane i has the code (i + k) mod 16, in bits 5 to 2 of its byte (PTX ISA 9.0, 9.7.16.10.4.1,
// packing of 4-bit elements in tensor memory).
constexpr const char* kFourBits = "add.u32 %r11, %r0, %r10; and.b32 %r11, %r11, 15; shl.b32 %r11, %r11, 2;\n";

TEST(SeldomTensor, AOfFourBitsInTensorMemory) {
  // Of the second half without their signs: all sixteen codes twice would sum to 0.
  const std::string halves =
      std::string(kFourBits) + "setp.ge.u32 %p1, %r10, 16; @%p1 and.b32 %r11, %r11, 0x1C;\n";
  const std::vector<float> d = product_with(5, "%p3", 0, halves);
  constexpr std::array<float, 8> values{0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  for (size_t i = 0; i < 128; ++i) {
    float want = 0;
    for (size_t k = 0; k < 32; ++k) {
      const size_t code = (i + k) % 16;
      want += code < 8 || k >= 16 ? values[code % 8] : -values[code - 8];
    }
    for (size_t n = 0; n < 8; ++n) ASSERT_EQ(d[8 * i + n], want) << i << " " << n;
  }
}

// Whether D is added to is what the predicate says, or the contrary. %p3 is false, %p1 true.
TEST(SeldomTensor, APredicateTurnedRound) {
  const std::string ones = "mov.u32 %r11, 0x38;\n";
  for (const auto& [predicate, want] :
       {std::pair{"%p3", 32.0F}, {"!%p3", 1032.0F}, {"%p1", 1032.0F}, {"!%p1", 32.0F}})
    EXPECT_EQ(product_with(0, predicate, 0, ones), std::vector<float>(1024, want)) << predicate;
}

TEST(SeldomTensor, WhatIsNoneIsNamed) {
  const auto says = [](const auto& does) -> std::string {
    try {
      does();
    } catch (const machine::Fault& e) {
      return e.what();
    }
    return "held";
  };
  const std::string transposed = says([] { product_with(0, "%p3", 1u << 15, "mov.u32 %r11, 0x38;\n"); });
  EXPECT_NE(transposed.find("A in tensor memory and transposed (bit 15)"), std::string::npos) << transposed;
  const auto with = [&](const std::string& code) {
    return says([&] {
      TensorKernel k;
      k.fill = [](uint32_t c) { return "mov.u32 %v" + std::to_string(c) + ", 1;\n"; };
      k.issuer = "setp.eq.u32 %p1, %r0, 0;\n" + code;
      k.run(std::vector<std::byte>(16));
    });
  };
  const std::string load = "tcgen05.wait::ld.sync.aligned;\n";
  EXPECT_EQ(with("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r1];\n" + load), "held");
  const std::string none = with("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r2+0x800000];\n" + load);
  EXPECT_NE(none.find("tcgen05.ld at lane 128 of tensor memory by warp "), std::string::npos) << none;
  const std::string half = with("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r2+0x100000];\n" + load);
  EXPECT_NE(half.find("tcgen05.ld at lane 16 of tensor memory by warp "), std::string::npos) << half;
  EXPECT_EQ(with("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r10}, [%r1+0x100000];\n" + load), "held");
  for (const char* at : {"80000", "180000"}) {
    const std::string between =
        with("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r10}, [%r1+0x" + std::string(at) + "];\n" + load);
    EXPECT_NE(between.find(" of tensor memory by warp "), std::string::npos) << between;
  }
  const std::string shift = with("@%p1 tcgen05.shift.cta_group::1.down [%r2+0x800000];\n");
  EXPECT_NE(shift.find("tcgen05.shift at lane 128 of tensor memory"), std::string::npos) << shift;
}

// Two cells of 16 bits in a register are known where both are.
TEST(SeldomTensor, APackedRegisterIsKnownWhereBothOfItsCellsAre) {
  for (const int column : {12, 14, 15, 16}) {
    TensorKernel k;
    k.fill = [](uint32_t c) { return "mov.u32 %v" + std::to_string(c) + ", " + std::to_string(c) + ";\n"; };
    // 16 columns are written, those behind are not.
    k.issuer =
        "setp.eq.u32 %p1, %r0, 0;\ntcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r10}, [%r1+" +
        std::to_string(column) +
        "];\ntcgen05.wait::ld.sync.aligned;\nsetp.eq.u32 %p1, %r10, 0; setp.eq.or.u32 %p1, %r0, 0, %p1;\n";
    std::string said = "held";
    try {
      k.run(std::vector<std::byte>(16));
    } catch (const machine::Fault& e) {
      said = e.what();
    }
    EXPECT_EQ(said == "held", column < 15) << column << ": " << said;
  }
}

// The end of a run of `issuer`, before which column c of tensor memory holds c, with functions before the
// entry.
std::string tensor_end_of(const std::string& issuer, const std::string& functions = "") {
  TensorKernel k;
  k.fill = [](uint32_t c) { return "mov.u32 %v" + std::to_string(c) + ", " + std::to_string(c) + ";\n"; };
  k.issuer = issuer + "setp.eq.u32 %p1, %r0, 0;\n";
  std::string text = k.text();
  text.insert(text.find(".visible .entry"), functions);
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {128, 1, 1};
  l.add_buffer({"in", std::vector<std::byte>(16)});
  l.add_buffer({"out", std::vector<std::byte>(size_t{4} * kTensorKernelColumns * 128), true, false, true});
  try {
    test::run_ptx(text, l);
  } catch (const machine::Fault& e) {
    return e.what();
  }
  return "held";
}
constexpr const char* kLoadsCell = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r1+3];\n";
constexpr const char* kCellCame = "tcgen05.wait::ld.sync.aligned;\n";
constexpr const char* kHalves = "and.b32 %r11, %r0, 1; setp.ne.u32 %p1, %r11, 0;\n";
// A branch on a register that has to be 3.
constexpr const char* kIsThree = "setp.ne.u32 %p3, %r10, 3; @%p3 trap;\n";

// What depends on a load is behind it (PTX ISA 9.0, 9.7.16.6.4.5): of odd lanes, of the others, and of all
// again.
TEST(SeldomTensor, LanesReadWhatTheyLoadedOneBehindTheOther) {
  const std::string by_halves =
      "@%p1 add.u32 %r12, %r10, 1;\n@!%p1 add.u32 %r12, %r10, 1;\nsetp.ne.u32 %p3, %r12, 4; @%p3 trap;\n";
  for (const std::string& body :
       {kIsThree + by_halves, by_halves + kIsThree, by_halves + by_halves + kIsThree,
        "@%p1 add.u32 %r12, %r10, 1;\n" + std::string(kIsThree)})
    EXPECT_EQ(tensor_end_of(std::string(kHalves) + kLoadsCell + body + kCellCame), "held") << body;
}

// Over what a load is to bring another value may be put, which nobody has written: the load does not bring it
// back.
TEST(SeldomTensor, WhatReplacesALoadedValueStays) {
  const std::string replaced = std::string(kHalves) + kLoadsCell + "@%p1 mov.u32 %r10, %r13;\n" + kCellCame;
  EXPECT_EQ(tensor_end_of(replaced +
                          "@!%p1 mov.u32 %r12, %r10; @%p1 mov.u32 %r12, 3; setp.ne.u32 %p3, %r12, 3; @%p3 "
                          "trap;\n"),
            "held");
  const std::string used = tensor_end_of(replaced + kIsThree);
  EXPECT_NE(used.find("never written"), std::string::npos) << used;
}

// Read by odd lanes and by the others the whole load has been used: a store over its cells needs no wait.
TEST(SeldomTensor, ALoadIsUsedWhenAllLanesHaveReadIt) {
  const std::string odd = "@%p1 mov.u32 %r12, %r10;\n", even = "@!%p1 mov.u32 %r12, %r10;\n";
  const auto with = [&](const std::string& reads) {
    return tensor_end_of(std::string(kHalves) + "mov.u32 %r12, 3;\n" + kLoadsCell + reads +
                         "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1+3], {%r12};\n" + kCellCame +
                         "tcgen05.wait::st.sync.aligned;\n");
  };
  EXPECT_EQ(with(odd + even), "held");
  EXPECT_EQ(with(even + odd), "held");
  EXPECT_NE(with(odd).find("tcgen05.wait::ld is missing"), std::string::npos) << with(odd);
  EXPECT_NE(with(even).find("tcgen05.wait::ld is missing"), std::string::npos) << with(even);
}

// A cell that nobody has written is not known because other lanes' registers got something else.
TEST(SeldomTensor, WhatOtherLanesReplaceMakesNoCellKnown) {
  const std::string end = tensor_end_of(
      std::string(kHalves) +
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r10}, [%r1+20];\n@%p1 mov.u32 %r10, %r13;\n" + kCellCame +
      "mov.u32 %r12, 3; @!%p1 mov.u32 %r12, %r10; setp.eq.u32 %p3, %r12, 3; @%p3 exit;\n");
  EXPECT_NE(end.find("never written"), std::string::npos) << end;
}

// Registers of a function are its own: those that a load is to bring to its caller are none of them.
TEST(SeldomTensor, AFunctionsRegistersAreNotLoaded) {
  constexpr int kRegisters = 80;
  const auto function = [](const std::string& code) {
    std::string out = ".func own() {\n.reg .pred %p; .reg .b32 %u; .reg .b32 %x<" +
                      std::to_string(kRegisters) + ">; .reg .b32 %s;\nmov.u32 %s, 0;\n" + code;
    return out + "E: ret;\n}\n";
  };
  // All of them get what nobody has written.
  std::string all, each;
  for (int i = 0; i < kRegisters; ++i) {
    const std::string x = "%x" + std::to_string(i);
    all += "mov.u32 " + x + ", %u;\n";
    each += "add.u32 %s, %s, " + x + ";\n";
  }
  EXPECT_EQ(
      tensor_end_of(std::string(kLoadsCell) + "call own, ();\n" + kCellCame + kIsThree, function(all + each)),
      "held");
  EXPECT_EQ(
      tensor_end_of(std::string(kLoadsCell) + "call own, ();\n" + kIsThree + kCellCame, function(all + each)),
      "held");
  // One of them was never written, the others are 1.
  for (int i = 30; i < kRegisters; ++i) {
    std::string ones;
    for (int j = 0; j < kRegisters; ++j)
      if (j != i) ones += "mov.u32 %x" + std::to_string(j) + ", 1;\n";
    const std::string end =
        tensor_end_of(std::string(kLoadsCell) + "call own, ();\n" + kCellCame,
                      function(ones + each + "setp.eq.u32 %p, %x" + std::to_string(i) + ", 0; @%p exit;\n"));
    EXPECT_NE(end.find("never written"), std::string::npos) << i << end;
  }
}

}  // namespace
}  // namespace bitwell::isa
