#include "verify/probe/warp_mma.h"

#include <cstring>

namespace bitwell::probe {
namespace {

using oracle::Lanes;
using oracle::WarpOperands;

// A thread's words: four of A, two of B, four of C, of A's scales, of B's; and four of D.
constexpr size_t kIn = 12, kOut = 4, kRowB = 4, kC = 6, kScaleA = 10, kScaleB = 11;
constexpr size_t kWarps = 4;  // of a CTA, where there are more than one

std::string registers(size_t first, size_t count) {
  std::string out;
  for (size_t i = first; i < first + count; ++i) out += (out.empty() ? "{%r" : ",%r") + std::to_string(i);
  return out + "}";
}

size_t a_registers(const WarpKind& kind) {
  return static_cast<size_t>(kind.k * (kind.k == 64 ? 4 : kind.bits) / 64);
}
size_t b_registers(const WarpKind& kind) { return a_registers(kind) / 2; }

}  // namespace

oracle::WarpMma rule_of(const WarpKind& kind, const MmaType& a, const MmaType& b) {
  return {a.fields, b.fields, kind.k, kind.half, kind.scales, std::string(kind.scale) != ".ue4m3"};
}

std::string describe(const WarpKind& kind, const MmaType& a, const MmaType& b) {
  std::string out = *kind.text == '\0' ? "m16n8k" + std::to_string(kind.k) : std::string(kind.text + 1);
  if (kind.k == 16 && *kind.text != '\0') out += ", k16";
  out += std::string(kind.half ? ", f16" : ", f32") + " of " + a.name + " and " + b.name;
  return *kind.scale == '\0' ? out : out + ", " + (kind.scale + 1);
}

std::string warp_kernel(const WarpKind& kind, const MmaType& a, const MmaType& b, const WarpText& text) {
  const std::string type = kind.half ? ".f16" : ".f32";
  std::string out = ".version " + std::to_string(text.version / 10) + "." +
                    std::to_string(text.version % 10) + "\n.target " + text.target +
                    "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                    ".reg .pred %p<2>;\n.reg .b16 %h<6>;\n.reg .b32 %r<24>;\n.reg .b64 %a<4>;\n"
                    "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r20, %tid.x;\n"
                    "mov.u32 %r21, %ctaid.x;\nmov.u32 %r22, %ntid.x;\nmad.lo.u32 %r20, %r21, %r22, %r20;\n"
                    "mul.wide.u32 %a2, %r20, 48;\nadd.u64 %a0, %a0, %a2;\nmul.wide.u32 %a2, %r20, 16;\n"
                    "add.u64 %a1, %a1, %a2;\nsetp.ne.s32 %p1, %r20, " +
                    std::to_string(text.skip) + ";\n";
  for (size_t i = 0; i < kIn; ++i)
    out += (i == kScaleA ? "@%p1 " : "") + std::string("ld.global.b32 %r") + std::to_string(i) + ", [%a0+" +
           std::to_string(4 * i) + "];\n";
  std::string ids[2];
  size_t h = 0;
  for (const oracle::ScaleIds& id : {text.ids_a, text.ids_b}) {
    std::string& of = ids[h / 2];
    for (const unsigned value : {id.byte, id.thread}) {
      const std::string name = "%h" + std::to_string(h++);
      if (text.selectors) out += "mov.b16 " + name + ", " + std::to_string(value) + ";\n";
      of += (of.empty() ? "{" : ",") + (text.selectors ? name : std::to_string(value));
    }
    of += "}";
  }
  out += "mma.sync.aligned.m16n8k" + std::to_string(kind.k) + ".row.col" + kind.text + type + "." + a.name +
         "." + b.name + type + kind.scale + " " + registers(16, kind.sums()) + "," +
         registers(0, a_registers(kind)) + "," + registers(kRowB, b_registers(kind)) + "," +
         registers(kC, kind.sums());
  if (kind.scales != 0) out += ",%r10," + ids[0] + ",%r11," + ids[1];
  out += ";\n";
  for (size_t i = 0; i < kind.sums(); ++i)
    out += "st.global.b32 [%a1+" + std::to_string(4 * i) + "], %r" + std::to_string(16 + i) + ";\n";
  return out + "ret;\n}\n";
}

WarpOperands draw_warp(const WarpKind& kind, std::mt19937& random, bool wild) {
  const auto any = [&] { return static_cast<uint32_t>(random()); };
  const auto lanes = [&](auto word) {
    Lanes out;
    for (uint32_t& w : out) w = word();
    return out;
  };
  WarpOperands in;
  for (size_t i = 0; i < a_registers(kind); ++i) in.a.push_back(lanes(any));
  for (size_t i = 0; i < b_registers(kind); ++i) in.b.push_back(lanes(any));
  for (size_t i = 0; i < kind.sums(); ++i)
    in.c.push_back(lanes([&] {
      const uint32_t w = any();
      return wild ? w : kind.half ? w & 0xBFFFBFFF : (w & 0x81FFFFFF) | 0x3E000000;
    }));
  // No NaN among them: three of four exponent bits for UE4M3, and near 1 for UE8M0.
  const bool powers = std::string(kind.scale) == ".ue8m0";
  const auto scale = [&] {
    const uint32_t w = any();
    return wild ? w : powers ? 0x78787878 + (w & 0x07070707) : w & 0xF7F7F7F7;
  };
  in.scale_a = lanes(scale);
  in.scale_b = lanes(scale);
  return in;
}

WarpOperands cancelling_warp(std::mt19937& random) {
  WarpOperands in;
  in.a.resize(4);
  in.b.resize(2);
  in.c.resize(4);
  const auto largest = [&] { return 0x78 + random() % 7; };
  const auto least = [&] { return 1 + random() % 7; };
  // Element k of a row: eight a word, words of 32 elements in a quad, then in the next register.
  const auto nibble = [](Lanes& word, size_t quad, size_t k, uint32_t code) {
    word[4 * quad + k % 32 / 8] |= code << 4 * (k % 8);
  };
  for (size_t column = 0; column < 8; ++column)
    for (size_t k = 0; k < 64; k += 2) {
      const auto code = static_cast<uint32_t>(random() % 16);
      nibble(in.b[k / 32], column, k, code);
      nibble(in.b[k / 32], column, k + 1, code);
    }
  for (size_t row = 0; row < 16; ++row)
    for (size_t k = 0; k < 64; k += 2) {
      const auto code = static_cast<uint32_t>(random() % 16);
      const bool loud = k / 16 == row % 4;
      nibble(in.a[row / 8 + 2 * (k / 32)], row % 8, k, code);
      nibble(in.a[row / 8 + 2 * (k / 32)], row % 8, k + 1,
             loud ? code ^ 8 : static_cast<uint32_t>(random() % 16));
    }
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t g = 0; g < 4; ++g) {
      const size_t row = lane / 4 + 8 * (lane % 2);
      in.scale_a[lane] |= static_cast<uint32_t>(g == row % 4 ? largest() : least()) << 8 * g;
      in.scale_b[lane] |= static_cast<uint32_t>(random() % 2 == 0 ? largest() : least()) << 8 * g;
    }
  if (random() % 2 == 0)
    for (Lanes& c : in.c)
      for (uint32_t& w : c) w = static_cast<uint32_t>(random() & 0x83FFFFFF) | 0x40000000;
  return in;
}

launch::Launch warp_launch(const WarpKind& kind, std::span<const WarpOperands> warps) {
  std::vector<uint32_t> words(warps.size() * 32 * kIn);
  for (size_t warp = 0; warp < warps.size(); ++warp) {
    const WarpOperands& in = warps[warp];
    const auto put = [&](const Lanes& lanes, size_t at) {
      for (size_t lane = 0; lane < 32; ++lane) words[(32 * warp + lane) * kIn + at] = lanes[lane];
    };
    for (size_t i = 0; i < in.a.size(); ++i) put(in.a[i], i);
    for (size_t i = 0; i < in.b.size(); ++i) put(in.b[i], kRowB + i);
    for (size_t i = 0; i < kind.sums(); ++i) put(in.c[i], kC + i);
    put(in.scale_a, kScaleA);
    put(in.scale_b, kScaleB);
  }
  launch::Launch l;
  l.entry = "k";
  const size_t each = warps.size() % kWarps == 0 ? kWarps : 1;
  l.shape.block = {static_cast<uint32_t>(32 * each), 1, 1};
  l.shape.grid = {static_cast<uint32_t>(warps.size() / each), 1, 1};
  std::vector<std::byte> bytes(4 * words.size());
  std::memcpy(bytes.data(), words.data(), bytes.size());
  l.add_buffer({"in", bytes, true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(warps.size() * 32 * kOut * 4), true, false, true});
  return l;
}

std::vector<Lanes> warp_sums(const WarpKind& kind, const launch::Launch& launch, size_t warp) {
  std::vector<Lanes> out(kind.sums());
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t i = 0; i < out.size(); ++i)
      std::memcpy(&out[i][lane], &launch.buffers[1].bytes[4 * ((32 * warp + lane) * kOut + i)], 4);
  return out;
}

}  // namespace bitwell::probe
