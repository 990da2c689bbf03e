// The generator and the problems drawn from it.
#include "verify/problem/contest.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "model/machine/failure.h"
#include "verify/problem/philox.h"
#include "verify/problem/torch_generator.h"

namespace bitwell::problem {
namespace {

// Known answers of the generator's authors (Random123, philox4x32 10).
TEST(Philox, GivesItsAuthorsKnownAnswers) {
  constexpr uint32_t kAll = 0xFFFFFFFF;
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, ~uint64_t{0}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Words of a tensor are numbered as a kernel of torch takes them: four of a counter's value, a grid apart.
TEST(TorchGenerator, AThreadTakesFourElementsAGridApart) {
  constexpr uint64_t kGrid = 148 * 8 * 256;
  TorchGenerator generator(7);
  const auto small = generator.next({5}, "x");          // a grid of one block
  const auto large = generator.next({kGrid * 9}, "x");  // three turns of every thread
  const auto after = generator.next({1}, "x");
  EXPECT_EQ(small[4], philox({0, 0, 4, 0}, 7)[0]);
  EXPECT_EQ(large[0], philox({1, 0, 0, 0}, 7)[0]);
  EXPECT_EQ(large[kGrid - 1], philox({1, 0, kGrid - 1, 0}, 7)[0]);
  EXPECT_EQ(large[3 * kGrid + 2], philox({1, 0, 2, 0}, 7)[3]);
  EXPECT_EQ(large[4 * kGrid], philox({2, 0, 0, 0}, 7)[0]);
  EXPECT_EQ(after[0], philox({4, 0, 0, 0}, 7)[0]);
}

RC_GTEST_PROP(Contest, BlockedScalesStandWhereTheHardwareReadsThem, ()) {
  const Contest& which = *kContests[*rc::gen::inRange<size_t>(0, 2)];
  const auto some = [](uint64_t most) { return *rc::gen::inRange<uint64_t>(1, most + 1); };
  const Inputs in(which, some(300), some(300), 64 * some(5), some(3), *rc::gen::arbitrary<uint64_t>());
  for (const Operand* o : {&in.a, &in.b}) {
    const std::vector<std::byte> blocked = o->blocked_scales();
    const uint64_t blocks = (o->rows + 127) / 128, steps = o->k / 64;
    RC_ASSERT(blocked.size() == o->l * blocks * steps * 512);
    RC_ASSERT(o->all_codes().size() == o->l * o->rows * o->k / 2);
    for (int i = 0; i < 20; ++i) {
      const uint64_t batch = some(o->l) - 1, row = some(o->rows) - 1, group = some(o->k / 16) - 1;
      const uint64_t at = ((batch * blocks + row / 128) * steps + group / 4) * 512 + row % 32 * 16 +
                          row % 128 / 32 * 4 + group % 4;
      RC_ASSERT(static_cast<uint8_t>(blocked[at]) == o->scale(batch, row, group));
    }
  }
}

TEST(Contest, WhatCannotBeDrawnIsRefused) {
  const auto refusal = [](uint64_t m, uint64_t n, uint64_t k, uint64_t l) -> std::string {
    try {
      Inputs(kGemm, m, n, k, l, 0);
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  };
  constexpr uint64_t kLarge = (uint64_t{1} << 31) - 1;
  EXPECT_NE(refusal(1, 1, 32, 1).find("k a multiple of 64, not 32"), std::string::npos);
  EXPECT_NE(refusal(1, 1, 0, 1).find("k a multiple of 64, not 0"), std::string::npos);
  EXPECT_NE(refusal(kLarge, 1, 64, 1).find("the problem's a would have more than 2147483647"),
            std::string::npos);
  EXPECT_NE(refusal(kLarge, kLarge, kLarge / 64 * 64, kLarge).find("more than"), std::string::npos);
  EXPECT_NE(refusal(1, 0, 64, 1).find("the problem's b would have no elements"), std::string::npos);
  EXPECT_NE(refusal(1 << 16, 1 << 16, 64, 1).find("the problem's c would have more"), std::string::npos);
  EXPECT_EQ(refusal(1, 1, 64, 1), "");
  EXPECT_THROW(contest("gemm"), machine::InputError);
}

}  // namespace
}  // namespace bitwell::problem
