// mma.sync of sm_120 asked: fp16, bf16, tf32; fp8, fp6 and fp4 with scales and without, every pair of
// formats, scale vector and selector; and groups under the largest scales that cancel beside groups under the
// least, where published models disagree and random operands never go.
#include <fmt/format.h>

#include "verify/probe/warp_mma.h"
#include "verify/prove/question.h"

namespace bitwell::prove {
namespace {

constexpr size_t kWarpsAsked = 256;  // of a question, 128 sums each

Question ask(std::string name, const probe::WarpKind& kind, const probe::MmaType& a, const probe::MmaType& b,
             const probe::WarpText& text,
             const std::function<oracle::WarpOperands(std::mt19937&, size_t)>& draw, uint32_t seed) {
  const auto module = std::make_shared<const isa::Module>(probe::warp_kernel(kind, a, b, text));
  return {std::move(name), [module, kind, draw, seed] {
            std::mt19937 random(seed);
            std::vector<oracle::WarpOperands> warps;
            for (size_t i = 0; i < kWarpsAsked; ++i) warps.push_back(draw(random, i));
            return std::vector<Trial>{{{{probe::warp_launch(kind, warps)}, {}}, {module}}};
          }};
}

}  // namespace

std::vector<Question> warp_multiply_questions() {
  std::vector<Question> out;
  uint32_t seed = 0;
  const auto add = [&](const probe::WarpKind& kind, const probe::MmaType& a, const probe::MmaType& b,
                       const probe::WarpText& text = {}, const std::string& which = "") {
    out.push_back(ask(
        probe::describe(kind, a, b) + which, kind, a, b, text,
        [kind](std::mt19937& random, size_t i) { return probe::draw_warp(kind, random, i % 4 == 3); },
        ++seed));
  };
  for (const probe::MmaType* a : {&probe::kE4m3, &probe::kE5m2, &probe::kE2m3, &probe::kE3m2, &probe::kE2m1})
    for (const probe::MmaType* b :
         {&probe::kE4m3, &probe::kE5m2, &probe::kE2m3, &probe::kE3m2, &probe::kE2m1})
      for (const probe::WarpKind& kind : {probe::kWarpF8f6f4, probe::kWarpF8f6f4Half, probe::kWarpMxf8f6f4})
        add(kind, *a, *b);
  for (const probe::MmaType* type : {&probe::kE4m3, &probe::kE5m2})
    for (const bool half : {false, true})
      for (const int k : {16, 32}) add({"", k, 0, "", half}, *type, *type);
  for (const int k : {8, 16}) {
    for (const bool half : {false, true}) add({"", k, 0, "", half, 16}, probe::kF16, probe::kF16);
    add({"", k, 0, "", false, 16}, probe::kBf16, probe::kBf16);
  }
  for (const int k : {4, 8}) add({"", k, 0, "", false, 32}, probe::kTf32, probe::kTf32);
  for (const probe::WarpKind& kind :
       {probe::kWarpMxf8f6f4, probe::kWarpMxf4, probe::kWarpMxf4By2, probe::kWarpNvf4})
    for (unsigned byte = 0; byte < 4; byte += static_cast<unsigned>(kind.scales))
      for (unsigned thread = 0; thread < 4; ++thread) {
        const probe::MmaType& type = kind.k == 64 ? probe::kE2m1 : probe::kE4m3;
        const oracle::ScaleIds of_a{byte, thread % 2},
            of_b{4 - static_cast<unsigned>(kind.scales) - byte, thread};
        add(kind, type, type, {"sm_120a", 90, of_a, of_b},
            fmt::format(", scales by {{{}, {}}} and {{{}, {}}}", of_a.byte, of_a.thread, of_b.byte,
                        of_b.thread));
      }
  for (uint32_t i = 1; i <= 16; ++i)
    out.push_back(ask(
        fmt::format("NVFP4, a group under the largest scales cancels, {}", i), probe::kWarpNvf4, probe::kE2m1,
        probe::kE2m1, {}, [](std::mt19937& random, size_t) { return probe::cancelling_warp(random); }, i));
  return out;
}

}  // namespace bitwell::prove
