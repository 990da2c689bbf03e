// tcgen05.mma asked: every kind, swizzle and shape on operands drawn from a seed; and groups under the
// largest scales that cancel beside groups under the least, where published models disagree and random
// operands never go.
#include <fmt/format.h>

#include <random>

#include "verify/probe/tensor_mma.h"
#include "verify/prove/question.h"

namespace bitwell::prove {
namespace {

Question ask(std::string name, probe::MmaCase p) {
  return {std::move(name), [p = std::move(p)] {
            return std::vector<Trial>{
                {{{probe::launch_of(p)}, {}}, {std::make_shared<const isa::Module>(probe::kernel(p))}}};
          }};
}

// Row r's group r % 4 has the largest scales and cancels but for its sums of the least bits; the others have
// the least.
probe::MmaCase cancelling(uint32_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[probe::kNvfp4], probe::kMmaSwizzles[3], 128, n, seed);
  const uint32_t k = p.kind->k;
  const auto loud = [&](uint32_t i) { return i / p.scales() % p.scales(); };
  for (uint32_t row = 0; row < p.m; ++row)
    for (uint32_t g = 0; g < p.scales(); ++g) {
      p.sa[row * p.scales() + g] =
          static_cast<uint8_t>(g == loud(row) ? 0x78 + random() % 7 : 1 + random() % 7);
      if (g == loud(row))
        for (uint32_t i = 0; i < 16; i += 2) p.a[row * k + 16 * g + i + 1] = p.a[row * k + 16 * g + i] ^ 8;
    }
  for (uint32_t column = 0; column < n; ++column)
    for (uint32_t g = 0; g < p.scales(); ++g) {
      p.sb[column * p.scales() + g] =
          static_cast<uint8_t>(random() % 2 == 0 ? 0x78 + random() % 7 : 1 + random() % 7);
      for (uint32_t i = 0; i < 16; i += 2) p.b[column * k + 16 * g + i + 1] = p.b[column * k + 16 * g + i];
    }
  p.accumulate = seed % 2 == 0;
  return p;
}

}  // namespace

std::vector<Question> tensor_multiply_questions() {
  std::vector<Question> out;
  uint64_t seed = 0;
  for (const probe::MmaKindOf& kind : probe::kMmaKindsOf)
    for (const probe::MmaSwizzle& swizzle : probe::kMmaSwizzles)
      for (const uint32_t m : {64u, 128u})
        for (const uint32_t n : {8u, 40u, 256u}) {
          if (m == 64 && kind.scale != nullptr) continue;
          out.push_back(ask(fmt::format("{}, {} of {} and {}, {} x {}, swizzle {}", kind.name, kind.d->name,
                                        kind.a->name, kind.b->name, m, n, swizzle.name),
                            probe::draw(kind, swizzle, m, n, ++seed)));
        }
  for (uint64_t i = 1; i <= 16; ++i)
    out.push_back(
        ask(fmt::format("NVFP4, a group under the largest scales cancels, {}", i), cancelling(64, i)));
  return out;
}

}  // namespace bitwell::prove
