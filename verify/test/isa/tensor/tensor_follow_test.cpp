// What an MMA takes from tensor memory, A and the scales, is a use of what is followed there
// (model/run/watch/follow.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "../../kernel.h"
#include "model/run/watch/follow.h"
#include "verify/probe/tensor_mma.h"

namespace bitwell::isa {
namespace {

// Follows one lane's cell of that column as the MMA reads it: what it is used as, by that line.
std::string used_by_mma(const probe::MmaCase& p, uint32_t column) {
  const std::string text = probe::kernel(p);
  const int line =
      1 + static_cast<int>(std::count(
              text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("tcgen05.mma")), '\n'));
  run::Follow::Mark mark{0, 0, 1};
  uint64_t accesses = 0;
  run::Options watched;
  watched.observers.push_back({[&](const machine::Event& event) {
                                 const auto* a = std::get_if<machine::Access>(&event.what);
                                 if (a == nullptr) return;
                                 ++accesses;
                                 if (a->ptx_line != line || a->kind != machine::AccessKind::read ||
                                     a->addresses[0] >> 40 != machine::kTensorWindow >> 40 ||
                                     (a->addresses[0] & 0xFFFF) != column || mark.access != 0)
                                   return;
                                 mark.access = accesses;
                                 mark.address = a->addresses[0];
                               },
                               true,
                               {},
                               false});
  launch::Launch first = probe::launch_of(p);
  test::run_ptx(text, first, watched);
  if (mark.access == 0) return "nobody reads column " + std::to_string(column);
  run::Follow follow({mark});
  run::Options options;
  options.follow = &follow;
  launch::Launch second = probe::launch_of(p);
  test::run_ptx(text, second, options);
  std::string out;
  for (const run::Follow::Use& u : follow.uses()) {
    EXPECT_EQ(u.ptx_line, line);
    out += u.as + "; ";
  }
  return out;
}

TEST(TensorFollow, WhatAnMmaTakesIsAUse) {
  probe::MmaCase a = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 64, 3);
  a.a_in_tensor = true;
  EXPECT_EQ(used_by_mma(a, 272), "A; ");
  const probe::MmaCase scaled =
      probe::draw(probe::kMmaKindsOf[probe::kNvfp4], probe::kMmaSwizzles[0], 128, 64, 3);
  EXPECT_EQ(used_by_mma(scaled, 256), "scales of A; ");
  EXPECT_EQ(used_by_mma(scaled, 260), "scales of B; ");
}

}  // namespace
}  // namespace bitwell::isa
