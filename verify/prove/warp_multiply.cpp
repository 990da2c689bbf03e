// mma.sync of sm_120 asked: fp16, bf16, tf32; fp8, fp6 and fp4 with scales and without, every pair of
// formats, scale vector and selector; and groups under the largest scales that cancel beside groups under the
// least, where published models disagree and random operands never go.
#include <fmt/format.h>

#include "verify/probe/warp_mma.h"
#include "verify/prove/question.h"

namespace bitwell::verify {
namespace {

constexpr size_t kWarpsAsked = 256;  // of a question, 128 sums each

Question ask(std::string name, const WarpKind& kind, const MmaType& a, const MmaType& b, const WarpText& text,
             const std::function<oracle::WarpOperands(std::mt19937&, size_t)>& draw, uint32_t seed) {
  const auto module = std::make_shared<const isa::Module>(warp_kernel(kind, a, b, text));
  return {std::move(name), [module, kind, draw, seed] {
            std::mt19937 random(seed);
            std::vector<oracle::WarpOperands> warps;
            for (size_t i = 0; i < kWarpsAsked; ++i) warps.push_back(draw(random, i));
            return std::vector<Trial>{{{{warp_launch(kind, warps)}, {}}, {module}}};
          }};
}

}  // namespace

std::vector<Question> warp_multiply_questions() {
  std::vector<Question> out;
  uint32_t seed = 0;
  const auto add = [&](const WarpKind& kind, const MmaType& a, const MmaType& b, const WarpText& text = {},
                       const std::string& which = "") {
    out.push_back(ask(
        describe(kind, a, b) + which, kind, a, b, text,
        [kind](std::mt19937& random, size_t i) { return draw_warp(kind, random, i % 4 == 3); }, ++seed));
  };
  for (const MmaType* a : {&kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1})
    for (const MmaType* b : {&kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1})
      for (const WarpKind& kind : {kWarpF8f6f4, kWarpF8f6f4Half, kWarpMxf8f6f4}) add(kind, *a, *b);
  for (const MmaType* type : {&kE4m3, &kE5m2})
    for (const bool half : {false, true})
      for (const int k : {16, 32}) add({"", k, 0, "", half}, *type, *type);
  for (const int k : {8, 16}) {
    for (const bool half : {false, true}) add({"", k, 0, "", half, 16}, kF16, kF16);
    add({"", k, 0, "", false, 16}, kBf16, kBf16);
  }
  for (const int k : {4, 8}) add({"", k, 0, "", false, 32}, kTf32, kTf32);
  for (const WarpKind& kind : {kWarpMxf8f6f4, kWarpMxf4, kWarpMxf4By2, kWarpNvf4})
    for (unsigned byte = 0; byte < 4; byte += static_cast<unsigned>(kind.scales))
      for (unsigned thread = 0; thread < 4; ++thread) {
        const MmaType& type = kind.k == 64 ? kE2m1 : kE4m3;
        const oracle::ScaleIds of_a{byte, thread % 2},
            of_b{4 - static_cast<unsigned>(kind.scales) - byte, thread};
        add(kind, type, type, {"sm_120a", 90, of_a, of_b},
            fmt::format(", scales by {{{}, {}}} and {{{}, {}}}", of_a.byte, of_a.thread, of_b.byte,
                        of_b.thread));
      }
  for (uint32_t i = 1; i <= 16; ++i)
    out.push_back(ask(
        fmt::format("NVFP4, a group under the largest scales cancels, {}", i), kWarpNvf4, kE2m1, kE2m1, {},
        [](std::mt19937& random, size_t) { return cancelling_warp(random); }, i));
  return out;
}

}  // namespace bitwell::verify
