#include "verify/probe/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "model/number/tile/dot_tile.h"

namespace bitwell::probe {
namespace {

using number::DotRule;
using number::Format;

int words_of_row(const TensorInstruction& i) { return i.k * i.input->container / 32; }

// Codes packed into 32-bit words, the first in the low bits.
std::vector<std::byte> packed(const std::vector<uint32_t>& codes, int bits) {
  std::vector<std::byte> out(codes.size() * static_cast<size_t>(bits) / 8);
  for (size_t i = 0; i < codes.size(); ++i)
    std::memcpy(&out[i * static_cast<size_t>(bits) / 8], &codes[i], static_cast<size_t>(bits) / 8);
  return out;
}

uint32_t finite(const Format& f, uint64_t bits) {
  uint64_t code = bits & (f.magnitude_mask() | f.sign_mask());
  if (f.special != number::Special::none && (code & f.magnitude_mask()) > f.max_code())
    code &= ~(uint64_t{1} << (f.fraction_bits + (f.special == number::Special::ieee ? 1 : 0)));
  return static_cast<uint32_t>(code << f.ignored_low);
}

// A code of sign, exponent relative to 1 and random fraction.
uint32_t with_exponent(const Format& f, int exponent, uint64_t random) {
  const int field = std::clamp(f.bias + exponent, 0, f.emax() + f.bias);
  return finite(f, (random & (f.fraction_mask() | f.sign_mask())) | static_cast<uint64_t>(field)
                                                                        << f.fraction_bits);
}

uint32_t drawn(const Format& f, size_t regime, std::mt19937_64& random) {
  const uint64_t bits = random();
  switch (regime) {
    case 0: return static_cast<uint32_t>((bits & (f.magnitude_mask() | f.sign_mask())) << f.ignored_low);
    case 2: return with_exponent(f, static_cast<int>(bits >> 40 & 31) - 16, bits);
    case 4:
      if ((bits >> 50) % 24 == 0)  // infinity, NaN, or the greatest
        return static_cast<uint32_t>(((f.max_code() + (bits >> 40) % 3) & f.magnitude_mask())
                                     << f.ignored_low);
      return finite(f, bits);
    case 5: return static_cast<uint32_t>((bits & (f.fraction_mask() | f.sign_mask())) << f.ignored_low);
    default: return with_exponent(f, static_cast<int>(bits >> 40 & 3) - 1, bits);
  }
}

}  // namespace

std::vector<TensorInstruction> tensor_instructions() {
  using namespace number;
  std::vector<TensorInstruction> out;
  const auto mixed = [&](bool warpgroup, int n, int k, const Format& a, const Format& b,
                         const Format& output) {
    const DotRule* rule = find_dot_rule("hopper", warpgroup ? "wgmma" : "mma.sync", a, b, output);
    const std::string d(output.name);
    const std::string ab = fmt::format("{}.{}", a.name, b.name);
    const std::string shape = fmt::format("m{}n{}k{}", warpgroup ? 64 : 16, n, k);
    out.push_back({fmt::format("{}.{}.{}.{}", warpgroup ? "wgmma" : "mma.sync", shape, d,
                               &a == &b ? std::string(a.name) : ab),
                   warpgroup ? fmt::format("wgmma.mma_async.sync.aligned.{}.{}.{}", shape, d, ab)
                             : fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}", shape, d, ab, d),
                   warpgroup, warpgroup ? 64 : 16, n, k, &a, &b, &output, rule});
  };
  const auto add = [&](bool warpgroup, int n, int k, const Format& input, const Format& output) {
    mixed(warpgroup, n, k, input, input, output);
  };
  for (const int k : {8, 16}) {
    add(false, 8, k, f16, f32);
    add(false, 8, k, f16, f16);
    add(false, 8, k, bf16, f32);
  }
  for (const int k : {4, 8}) add(false, 8, k, tf32, f32);
  for (const Format* f : {&e4m3, &e5m2})
    for (const Format* d : {&f32, &f16}) add(false, 8, 32, *f, *d);
  for (const int n : {8, 64}) {
    add(true, n, 16, f16, f32);
    add(true, n, 16, f16, f16);
    add(true, n, 16, bf16, f32);
    add(true, n, 8, tf32, f32);
    for (const Format* f : {&e4m3, &e5m2})
      for (const Format* d : {&f32, &f16}) add(true, n, 32, *f, *d);
  }
  for (const bool warpgroup : {false, true})
    for (const Format* d : {&f32, &f16}) {
      if (!warpgroup && d == &f32) continue;  // refused: what an H200 gives is not known
      mixed(warpgroup, 8, 32, e4m3, e5m2, *d);
      mixed(warpgroup, 8, 32, e5m2, e4m3, *d);
    }
  return out;
}

TensorCase tensor_case(const TensorInstruction& i, size_t regime, size_t tiles, uint64_t seed) {
  std::mt19937_64 random(seed * 1000 + regime);
  TensorCase out;
  const Format& fa = *i.input;
  const Format& fb = *i.input_b;
  const auto k = static_cast<size_t>(i.k);
  for (size_t n = 0; n < tiles * static_cast<size_t>(i.m) * k; ++n)
    out.a.push_back(drawn(fa, regime, random));
  for (size_t n = 0; n < tiles * static_cast<size_t>(i.n) * k; ++n)
    out.b.push_back(drawn(fb, regime, random));
  for (size_t n = 0; n < tiles * static_cast<size_t>(i.m * i.n); ++n)
    out.c.push_back(n % 4 == 0 ? 0 : drawn(*i.output, regime, random));
  const auto sign = static_cast<uint32_t>(fa.sign_mask() << fa.ignored_low);
  if (regime == 3)  // neighbours in k cancel, in B now and then but for a last bit
    for (std::vector<uint32_t>* v : {&out.a, &out.b})
      for (size_t n = 1; n < v->size(); n += 2)
        (*v)[n] = v == &out.a
                      ? (*v)[n - 1] ^ sign
                      : (*v)[n - 1] ^ static_cast<uint32_t>(random() % 8 == 0 ? 1u << fb.ignored_low : 0);
  if (regime == 6) {
    // One large product at k = 0, the others around the last bit that is kept below it.
    const int reach = fa.bias + fb.bias - 2;  // exponents of products down to -reach are normal
    for (size_t n = 0; n < out.a.size(); ++n) {
      const int below = i.rule->fraction_bits - 3 + static_cast<int>(random() % 7);
      const int high = std::max(0, below - reach);
      out.a[n] = n % k == 0 ? with_exponent(fa, (high + 1) / 2, random())
                            : with_exponent(fa, -((below - high) / 2), random());
    }
    for (size_t n = 0; n < out.b.size(); ++n) {
      const int below = i.rule->fraction_bits - 1;
      const int high = std::max(0, below - reach);
      out.b[n] = n % k == 0 ? with_exponent(fb, high / 2, random())
                            : with_exponent(fb, -((below - high + 1) / 2), random());
    }
  }
  return out;
}

std::vector<uint32_t> tensor_model(const TensorInstruction& i, const TensorCase& c) {
  const auto k = static_cast<size_t>(i.k);
  const auto m = static_cast<size_t>(i.m);
  const auto n = static_cast<size_t>(i.n);
  std::vector<uint32_t> out = c.c;
  for (size_t tile = 0; tile < out.size() / (m * n); ++tile) {
    const number::DotColumns b =
        number::prepare_columns(*i.rule, {i.input_b, std::span(c.b).subspan(tile * n * k, n * k)}, n, k);
    number::dot_tile(*i.rule, {i.input, std::span(c.a).subspan(tile * m * k, m * k)}, m, b,
                     std::span(out).subspan(tile * m * n, m * n));
  }
  return out;
}

std::string tensor_module(const TensorInstruction& i) {
  const int words = words_of_row(i);  // 4 or 8
  const bool half = i.output == &number::f16;
  const int per_eight = half ? 2 : 4;  // registers of D for 8 columns
  const int d_count = i.n / 8 * per_eight;
  const int a_count = words / 4 * 2;
  std::string out =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry apply(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
      ".reg .pred %p; .reg .b32 %r<16>; .reg .b64 %q<12>; .reg .b32 %a<4>; .reg .b32 %b<2>;\n";
  out += fmt::format(".reg {} %d<{}>;\n", half ? ".b32" : ".f32", d_count);
  if (i.warpgroup) out += fmt::format(".shared .align 128 .b8 tile[{}];\n", i.n * words * 4);
  out +=
      "ld.param.u64 %q0, [a]; ld.param.u64 %q1, [b]; ld.param.u64 %q2, [c]; ld.param.u64 %q3, [d];\n"
      "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;\n"
      "shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; shr.u32 %r4, %r3, 2; and.b32 %r5, %r3, 3;\n";
  // %r6: the thread's first row of A and D in the whole buffers.
  out += fmt::format("mul.lo.u32 %r6, %r0, {}; mad.lo.u32 %r6, %r2, 16, %r6; add.u32 %r6, %r6, %r4;\n", i.m);
  out +=
      fmt::format("mad.lo.u32 %r7, %r6, {}, %r5; mul.wide.u32 %q4, %r7, 4; add.u64 %q4, %q4, %q0;\n", words);
  for (int n = 0; n < a_count; ++n)
    out += fmt::format("ld.global.b32 %a{}, [%q4+{}];\n", n, 4 * (8 * words * (n % 2) + 4 * (n / 2)));
  if (i.warpgroup) {
    // B into shared memory in core matrices of 8 columns by 16 bytes: [n / 8][16-byte chunk][n % 8][16
    // bytes].
    out += fmt::format("mov.u32 %r8, %r1;\ncopy:\nsetp.ge.u32 %p, %r8, {};\n@%p bra copied;\n", i.n * words);
    out += fmt::format("div.u32 %r9, %r8, {0}; rem.u32 %r10, %r8, {0};\n", words);  // column, word
    out += fmt::format("mad.lo.u32 %r11, %r0, {}, %r8; mul.wide.u32 %q5, %r11, 4; add.u64 %q5, %q5, %q1;\n",
                       i.n * words);
    out += "ld.global.b32 %r12, [%q5];\n";
    out += fmt::format(
        "shr.u32 %r13, %r9, 3; mul.lo.u32 %r13, %r13, {}; shr.u32 %r14, %r10, 2; mad.lo.u32 %r13, %r14, 128, "
        "%r13;\n",
        words / 4 * 128);
    out +=
        "and.b32 %r14, %r9, 7; mad.lo.u32 %r13, %r14, 16, %r13; and.b32 %r14, %r10, 3; mad.lo.u32 %r13, "
        "%r14, 4, %r13;\n"
        "mov.u32 %r14, tile; add.u32 %r13, %r13, %r14; st.shared.b32 [%r13], %r12;\nadd.u32 %r8, %r8, 128; "
        "bra copy;\ncopied:\n"
        "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
  } else {
    out += fmt::format(
        "mad.lo.u32 %r8, %r0, 8, %r4; mad.lo.u32 %r8, %r8, {}, %r5; mul.wide.u32 %q5, %r8, 4; add.u64 %q5, "
        "%q5, %q1;\n",
        words);
    for (int n = 0; n < words / 4; ++n) out += fmt::format("ld.global.b32 %b{}, [%q5+{}];\n", n, 16 * n);
  }
  const int c_bytes = half ? 2 : 4;
  out += fmt::format(
      "mul.lo.u32 %r9, %r6, {}; mad.lo.u32 %r9, %r5, 2, %r9; mul.wide.u32 %q6, %r9, {};\n"
      "add.u64 %q7, %q6, %q2; add.u64 %q8, %q6, %q3;\n",
      i.n, c_bytes);
  // Register r of D: eight columns j, row half h, element e.
  const auto place = [&](int r) {
    const int j = r / per_eight;
    const int h = half ? r % 2 : r % 4 / 2;
    const int e = half ? 0 : r % 2;
    return c_bytes * (8 * h * i.n + 8 * j + e);
  };
  for (int r = 0; r < d_count; ++r) out += fmt::format("ld.global.b32 %d{}, [%q7+{}];\n", r, place(r));
  const auto list = [](const char* name, int count) {
    std::string s = "{";
    for (int n = 0; n < count; ++n) s += fmt::format("{}%{}{}", n > 0 ? "," : "", name, n);
    return s + "}";
  };
  if (i.warpgroup) {
    // No swizzle: next 16 bytes of K 128 on, next 8 columns words * 32 on.
    out += fmt::format(
        "mov.u32 %r8, tile; shr.u32 %r8, %r8, 4; cvt.u64.u32 %q9, %r8; and.b64 %q9, %q9, 0x3FFF;\n"
        "or.b64 %q9, %q9, 0x{:X};\n",
        (uint64_t{128 / 16} << 16) | (static_cast<uint64_t>(words / 4 * 128 / 16) << 32));
    out += "setp.eq.u32 %p, 0, 0;\nwgmma.fence.sync.aligned;\n";
    out += fmt::format("{} {}, {}, %q9, %p, 1, 1{};\n", i.spelling, list("d", d_count), list("a", a_count),
                       i.input->container == 16 ? ", 0" : "");
    out += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  } else {
    out += fmt::format("{} {}, {}, {}, {};\n", i.spelling, list("d", d_count),
                       a_count == 1 ? "%a0" : list("a", a_count), list("b", words / 4), list("d", d_count));
  }
  for (int r = 0; r < d_count; ++r) out += fmt::format("st.global.b32 [%q8+{}], %d{};\n", place(r), r);
  return out + "ret;\n}\n";
}

launch::Launch tensor_launch(const TensorInstruction& i, const TensorCase& c) {
  launch::Launch launch;
  launch.entry = "apply";
  launch.shape.grid = {static_cast<uint32_t>(c.c.size() / static_cast<size_t>(i.m * i.n)), 1, 1};
  launch.shape.block = {i.warpgroup ? 128u : 32u, 1, 1};
  launch.add_buffer({"a", packed(c.a, i.input->container), true, true, false});
  launch.add_buffer({"b", packed(c.b, i.input_b->container), true, true, false});
  launch.add_buffer({"c", packed(c.c, i.output->container), true, true, false});
  launch.add_buffer({"d", std::vector<std::byte>(c.c.size() * static_cast<size_t>(i.output->container) / 8),
                     false, false, true});
  return launch;
}

std::vector<uint32_t> tensor_results(const TensorInstruction& i, const launch::Launch& launch) {
  const std::vector<std::byte>& bytes = launch.buffers.back().bytes;
  const auto width = static_cast<size_t>(i.output->container) / 8;
  std::vector<uint32_t> out(bytes.size() / width);
  for (size_t n = 0; n < out.size(); ++n) std::memcpy(&out[n], &bytes[n * width], width);
  return out;
}

}  // namespace bitwell::probe
