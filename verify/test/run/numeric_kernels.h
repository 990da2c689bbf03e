// Kernels that multiply matrices once, with results in fp16, and are watched by run::NumericWatch.
#pragma once
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../isa/tensor/tensor_kernel.h"
#include "model/run/watch/numeric.h"

namespace bitwell::run {

using Codes = std::vector<uint16_t>;
inline constexpr size_t kK = 16;

// [row][k], [column][k] and [row][column].
struct Tile {
  size_t rows, columns;
  Codes a, b, c;
  Tile(size_t m, size_t n, uint16_t a_code, uint16_t b_code, uint16_t c_code)
      : rows(m), columns(n), a(m * kK, a_code), b(n * kK, b_code), c(m * n, c_code) {}
};

struct Left {
  std::vector<Losses> losses;
  Codes d;
};

// Runs kernel k(in, out) watched: one cluster of `ctas`, 128 threads each; what it lost, and the `words` of
// `out`.
inline std::pair<std::vector<Losses>, std::vector<uint32_t>> watched(const std::string& text, uint32_t ctas,
                                                                     size_t words,
                                                                     const std::vector<uint32_t>& in,
                                                                     run::Bound bound) {
  const auto program = std::make_shared<isa::Program>(isa::compile(ptx::parse(text), "k"));
  NumericWatch watch(*program, bound);
  launch::Launch l;
  l.entry = "k";
  l.shape.grid = l.shape.cluster = {ctas, 1, 1};
  l.shape.block = {128, 1, 1};
  std::vector<std::byte> bytes(4 * in.size());
  std::memcpy(bytes.data(), in.data(), bytes.size());
  l.add_buffer({"in", bytes});
  l.add_buffer({"out", std::vector<std::byte>(4 * words), true, false, true});
  test::run_ptx(std::make_shared<const isa::Module>(program), l);
  std::vector<uint32_t> out(words);
  std::memcpy(out.data(), l.buffers[1].bytes.data(), 4 * words);
  return {watch.losses(), out};
}

// Rows of 16 codes as 8 x 16-byte core matrices, two along k, and the next 8 rows 256 bytes on, as words.
inline std::vector<uint32_t> cores(const Codes& codes, size_t first, size_t rows) {
  std::vector<uint32_t> out(rows * kK / 2);
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = 0; k < kK; ++k) {
      const size_t at = r / 8 * 256 + k / 8 * 128 + r % 8 * 16 + k % 8 * 2;
      out[at / 4] |= uint32_t{codes[(first + r) * kK + k]} << 8 * (at % 4);
    }
  return out;
}

// m64n8k16: the first 2,304 bytes of `in` are A and B, the rest is the two registers of C of each thread.
inline Left wgmma(const Tile& t, bool adds = true, run::Bound bound = std::nullopt) {
  const std::string text = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %r<8>; .reg .b64 %q<8>; .reg .b32 %d<2>; .reg .b32 %v<5>;
.shared .align 1024 .b8 tile[2560];
ld.param.u64 %q0, [in]; ld.param.u64 %q1, [out];
mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 20; add.u64 %q3, %q0, %q2;
mov.u32 %r1, tile; mul.lo.u32 %r2, %r0, 20; add.u32 %r2, %r1, %r2;
ld.global.u32 %v0, [%q3]; ld.global.u32 %v1, [%q3+4]; ld.global.u32 %v2, [%q3+8]; ld.global.u32 %v3, [%q3+12];
ld.global.u32 %v4, [%q3+16];
st.shared.u32 [%r2], %v0; st.shared.u32 [%r2+4], %v1; st.shared.u32 [%r2+8], %v2; st.shared.u32 [%r2+12], %v3;
st.shared.u32 [%r2+16], %v4;
mul.wide.u32 %q2, %r0, 8; add.u64 %q3, %q0, %q2; ld.global.v2.b32 {%d0, %d1}, [%q3+2560];
shr.u32 %r4, %r1, 4; cvt.u64.u32 %q4, %r4; or.b64 %q4, %q4, 0x1000080000; add.u64 %q5, %q4, 128;
fence.proxy.async.shared::cta;
bar.sync 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%d0,%d1}, %q4, %q5, )" +
                           std::string(adds ? "1" : "0") + R"(, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
add.u64 %q3, %q1, %q2;
st.global.v2.b32 [%q3], {%d0, %d1};
ret;
}
)";
  // Thread 4 g + p of warp w holds columns 2 p and 2 p + 1 of row 16 w + g and, in the second register, of
  // row 16 w + g + 8.
  const auto place = [](size_t row, size_t column) {
    return (row / 16 * 32 + row % 8 * 4 + column / 2) * 4 + row % 16 / 8 * 2 + column % 2;  // of halves
  };
  std::vector<uint32_t> in = cores(t.a, 0, 64);
  const std::vector<uint32_t> b = cores(t.b, 0, 8);
  in.insert(in.end(), b.begin(), b.end());
  in.resize(640 + 256);
  for (size_t row = 0; row < 64; ++row)
    for (size_t column = 0; column < 8; ++column) {
      const size_t at = place(row, column);
      in[640 + at / 2] |= uint32_t{t.c[row * 8 + column]} << 16 * (at % 2);
    }
  const auto [losses, out] = watched(text, 1, 256, in, bound);
  Left ran{losses, Codes(t.c.size())};
  for (size_t row = 0; row < 64; ++row)
    for (size_t column = 0; column < 8; ++column) {
      const size_t at = place(row, column);
      ran.d[row * 8 + column] = static_cast<uint16_t>(out[at / 2] >> 16 * (at % 2));
    }
  return ran;
}

struct TensorUse {
  bool adds = true;
  run::Bound bound{};
  uint32_t leave = 0;   // lanes of D that are left as they are, of the first 32
  int scale = 0;        // D counts as D * 2^-scale
  bool single = false;  // D is fp32
};
// 128 rows a CTA, 16 columns, of which each of a pair has half in its shared memory.
inline Left tensor(const Tile& t, const TensorUse& use = {}) {
  const size_t ctas = t.rows / 128;
  isa::TensorKernel k;
  k.ctas = static_cast<int>(ctas);
  k.shared = ".shared .align 1024 .b8 tile[4608];\n.reg .b64 %d<2>;\n.reg .b64 %q<2>;\n";
  k.fill = [](uint32_t column) {
    const std::string n = std::to_string(column);
    return "ld.global.u32 %v" + n + ", [%q0+" + std::to_string(4 * column) + "];\n";
  };
  // A thread copies its share of the CTA's 1,152 words, and its cells start behind all of them.
  k.prepare =
      "mul.lo.u32 %r10, %r6, 4608;\nmul.lo.u32 %r11, %r0, 36;\nadd.u32 %r10, %r10, %r11;\n"
      "cvt.u64.u32 %q1, %r10;\nadd.u64 %q1, %a2, %q1;\nmov.u32 %r12, tile;\nadd.u32 %r11, %r11, %r12;\n";
  for (int i = 0; i < 9; ++i)
    k.prepare += "ld.global.u32 %r13, [%q1+" + std::to_string(4 * i) + "];\nst.shared.u32 [%r11+" +
                 std::to_string(4 * i) + "], %r13;\n";
  k.prepare +=
      "fence.proxy.async.shared::cta;\nmul.wide.u32 %q0, %r7, 64;\nadd.u64 %q0, %q0, %a2;\nadd.u64 %q0, "
      "%q0, " +
      std::to_string(4608 * ctas) + ";\n";
  k.issuer = "setp.eq.u32 %p1, %r7, 0;";
  std::string lanes;
  for (size_t i = 0; i < 4 * ctas; ++i)
    lanes += (i == 0 ? "{" : ", ") + std::string("%r") + std::to_string(i == 0 ? 15 : 16);
  k.issue =
      "shr.u32 %r13, %r12, 4;\ncvt.u64.u32 %d0, %r13;\nor.b64 %d0, %d0, 0x0000401000080000;\n"
      "add.u64 %d1, %d0, 256;\nmov.u32 %r14, " +
      std::to_string((ctas == 2 ? 0x10000000u : 0x08000000u) | 2 << 17 | (use.single ? 16 : 0)) +
      ";\nmov.u32 %r15, " + std::to_string(use.leave) +
      ";\nmov.u32 %r16, 0;\n"
      "setp.eq.u32 %p1, %r0, " +
      (use.adds ? "%r0" : "-1") + ";\ntcgen05.mma.cta_group::" + std::to_string(ctas) +
      ".kind::f16 [%r2], %d0, %d1, %r14, " + lanes + "}, %p1" +
      (use.scale == 0 ? "" : ", " + std::to_string(use.scale)) + ";\n";
  std::vector<uint32_t> in;
  for (size_t rank = 0; rank < ctas; ++rank) {
    const std::vector<uint32_t> a = cores(t.a, 128 * rank, 128);
    const std::vector<uint32_t> b = cores(t.b, 16 / ctas * rank, 16 / ctas);
    in.insert(in.end(), a.begin(), a.end());
    in.insert(in.end(), b.begin(), b.end());
    in.resize(1152 * (rank + 1));
  }
  in.insert(in.end(), t.c.begin(), t.c.end());
  const auto [losses, out] = watched(k.text(), static_cast<uint32_t>(ctas), t.c.size(), in, use.bound);
  return {losses, Codes(out.begin(), out.end())};
}

}  // namespace bitwell::run
