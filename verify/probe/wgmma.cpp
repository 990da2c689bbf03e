#include "verify/probe/wgmma.h"

#include <fmt/format.h>

#include <cstring>
#include <random>

namespace bitwell::probe {
namespace {

constexpr uint32_t kImageBytes = 32768;  // bytes of shared memory

int a_registers(const WgmmaVariant& v) { return v.k * v.input->container / 64; }
int d_registers(const WgmmaVariant& v) { return v.n / (v.half_result ? 4 : 2); }

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& v) {
  std::vector<std::byte> out(v.size() * sizeof(T));
  std::memcpy(out.data(), v.data(), out.size());
  return out;
}

// A descriptor whose matrix lies inside the image: every field random up to what leaves room.
uint64_t descriptor(const WgmmaVariant& v, bool transposed, int rows, uint32_t layout,
                    std::mt19937_64& random) {
  constexpr uint32_t spans[4] = {16, 128, 64, 32};
  const uint32_t span = spans[layout];
  const uint32_t bytes = static_cast<uint32_t>(v.input->container) / 8;
  // How many steps of leading and stride lead to the last element.
  uint32_t leading_steps = 0;
  uint32_t stride_steps = 0;
  const uint32_t row_bytes = static_cast<uint32_t>(rows) * bytes;
  if (transposed) {
    leading_steps = layout == 0 ? static_cast<uint32_t>(v.k) / 8 - 1 : (row_bytes + span - 1) / span - 1;
    stride_steps = layout == 0 ? row_bytes / 16 - 1 : static_cast<uint32_t>(v.k) / 8 - 1;
  } else {
    leading_steps = layout == 0 ? 1 : 0;
    stride_steps = static_cast<uint32_t>(rows) / 8 - 1;
  }
  const uint32_t room = kImageBytes - 8 * span - 1024;
  const auto step = [&](uint32_t steps) {
    const uint32_t most = steps == 0 ? 0x3FFF : std::min<uint32_t>(room / 3 / steps / 16, 0x3FFF);
    return random() % (most + 1);
  };
  const uint64_t leading = step(leading_steps);
  const uint64_t stride = step(stride_steps);
  const uint64_t start = random() % (room / 3 / 16 + 1);
  const uint64_t base_offset = random() % 2 * (random() % 8);
  return start | leading << 16 | stride << 32 | base_offset << 49 | uint64_t{layout} << 62;
}

}  // namespace

std::vector<WgmmaVariant> wgmma_variants() {
  using namespace number;
  std::vector<WgmmaVariant> out;
  const auto add = [&](const Format& f, bool half, int n, bool registers, bool ta, bool tb, int sa = 1,
                       int sb = 1) {
    const int k = 256 / f.container;
    const std::string spelling = fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", n, k,
                                             half ? "f16" : "f32", f.name, f.name);
    out.push_back({fmt::format("m64n{}k{}.{}.{}, A {}{}, B {}-major{}{}", n, k, half ? "f16" : "f32", f.name,
                               registers ? "in registers"
                               : ta      ? "M-major"
                                         : "K-major",
                               sa < 0 ? " negated" : "", tb ? "N" : "K", sb < 0 ? " negated" : "", ""),
                   spelling, &f, half, n, k, registers, ta, tb, sa, sb});
  };
  for (const Format* f : {&f16, &bf16})
    for (const int n : {8, 96, 256})
      for (const bool tb : {false, true}) {
        add(*f, false, n, true, false, tb);
        for (const bool ta : {false, true}) add(*f, false, n, false, ta, tb);
      }
  for (const Format* f : {&tf32, &e4m3, &e5m2})
    for (const int n : {8, 40, 192})
      for (const bool registers : {false, true}) add(*f, false, n, registers, false, false);
  add(f16, true, 64, false, true, true);
  add(e4m3, true, 64, false, false, false);
  add(f16, false, 24, false, false, false, -1, 1);
  add(bf16, false, 24, true, false, true, 1, -1);
  add(tf32, false, 16, true, false, false, -1, 1);
  add(e5m2, true, 16, false, false, false, -1, -1);
  return out;
}

std::string wgmma_module(const WgmmaVariant& v) {
  std::string out =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry apply(.param .u64 image, .param .u64 descriptors, .param .u64 a, .param .u64 d)\n{\n"
      ".reg .pred %p; .reg .b32 %r<16>; .reg .b64 %q<12>; .reg .b32 %a<4>; .reg .b64 %desc<2>;\n"
      ".shared .align 1024 .b8 tile[";
  out += fmt::format("{}];\n.reg {} %d<{}>;\n", kImageBytes, v.half_result ? ".b32" : ".f32", d_registers(v));
  out +=
      "ld.param.u64 %q0, [image]; ld.param.u64 %q1, [descriptors]; ld.param.u64 %q2, [a]; ld.param.u64 %q3, "
      "[d];\n"
      "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;\n"
      // The image, 16 bytes a thread and turn.
      "shl.b32 %r3, %r1, 4;\ncopy:\ncvt.u64.u32 %q4, %r3; add.u64 %q4, %q4, %q0;\n"
      "ld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%q4]; add.u32 %r8, %r3, %r2; st.shared.v4.b32 [%r8], "
      "{%r4,%r5,%r6,%r7};\n";
  out += fmt::format("add.u32 %r3, %r3, 2048; setp.lt.u32 %p, %r3, {};\n@%p bra copy;\n", kImageBytes);
  out +=
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "mul.wide.u32 %q5, %r0, 16; add.u64 %q5, %q5, %q1; ld.global.v2.b64 {%desc0,%desc1}, [%q5];\n"
      "shr.u32 %r9, %r2, 4; cvt.u64.u32 %q6, %r9; and.b64 %q6, %q6, 0x3FFF;\n"
      "add.u64 %desc0, %desc0, %q6; add.u64 %desc1, %desc1, %q6;\n"
      "mad.lo.u32 %r10, %r0, 128, %r1; mul.wide.u32 %q7, %r10, 16; add.u64 %q7, %q7, %q2;\n"
      "ld.global.v4.b32 {%a0,%a1,%a2,%a3}, [%q7];\n";
  std::string d = "{";
  for (int r = 0; r < d_registers(v); ++r) d += fmt::format("{}%d{}", r > 0 ? "," : "", r);
  std::string a = "%desc0";
  if (v.a_in_registers) {
    a = "{";
    for (int r = 0; r < a_registers(v); ++r) a += fmt::format("{}%a{}", r > 0 ? "," : "", r);
    a += "}";
  }
  std::string trans;
  if (v.input->container == 16) {
    if (!v.a_in_registers) trans += v.transpose_a ? ", 1" : ", 0";
    trans += v.transpose_b ? ", 1" : ", 0";
  }
  out += fmt::format("wgmma.fence.sync.aligned;\n{} {}}}, {}, %desc1, 0, {}, {}{};\n", v.spelling, d, a,
                     v.scale_a, v.scale_b, trans);
  out += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  out += fmt::format("mul.wide.u32 %q8, %r10, {}; add.u64 %q8, %q8, %q3;\n", 4 * d_registers(v));
  for (int r = 0; r < d_registers(v); ++r) out += fmt::format("st.global.b32 [%q8+{}], %d{};\n", 4 * r, r);
  return out + "ret;\n}\n";
}

launch::Launch wgmma_launch(const WgmmaVariant& v, uint32_t ctas, uint64_t seed) {
  std::mt19937_64 random(seed);
  launch::Launch launch;
  launch.entry = "apply";
  launch.shape.grid = {ctas, 1, 1};
  launch.shape.block = {128, 1, 1};
  // Every code near 1, so that no two elements look alike and none is lost in a sum.
  const number::Format& f = *v.input;
  const auto words = [&](size_t count) {
    std::vector<uint32_t> out(count);
    for (uint32_t& w : out)
      for (int at = 0; at < 32; at += f.container) {
        const uint64_t bits = random();
        const uint64_t exponent = static_cast<uint64_t>(f.bias) + (bits >> 40 & 1);
        const uint64_t code = (bits & (f.sign_mask() | f.fraction_mask())) | exponent << f.fraction_bits;
        w |= static_cast<uint32_t>(code << f.ignored_low) << at;
      }
    return out;
  };
  std::vector<uint64_t> descriptors;
  for (uint32_t c = 0; c < ctas; ++c) {
    descriptors.push_back(descriptor(v, v.transpose_a, 64, c % 4, random));
    descriptors.push_back(descriptor(v, v.transpose_b, v.n, c / 4 % 4, random));
  }
  launch.add_buffer({"image", bytes_of(words(kImageBytes / 4)), true, true, false});
  launch.add_buffer({"descriptors", bytes_of(descriptors), true, true, false});
  launch.add_buffer({"a", bytes_of(words(size_t{ctas} * 128 * 4)), true, true, false});
  launch.add_buffer({"d",
                     std::vector<std::byte>(size_t{ctas} * 128 * 4 * static_cast<size_t>(d_registers(v))),
                     false, false, true});
  return launch;
}

}  // namespace bitwell::probe
