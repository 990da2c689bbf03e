// tcgen05.mma in every shape that its kinds have, by one CTA and by pairs: D stands where the manual's data
// paths put it, and equals exact arithmetic (PTX ISA 9.0, 9.7.16.2.1 and 9.7.16.10.5).
#include <gtest/gtest.h>

#include "verify/probe/tensor_mma.h"

namespace bitwell::isa {
namespace {

// Each N that a kind takes: from `first` in steps of `step` up to 256.
struct Shapes {
  uint32_t ctas, m, step;
};
constexpr Shapes kShapes[] = {{1, 64, 8}, {1, 128, 8}, {2, 128, 16}, {2, 256, 16}};

TEST(TensorMmaShapes, EveryMAndNOfEveryKind) {
  uint64_t seed = 100;
  size_t shapes = 0;
  for (const probe::MmaKindOf& kind : probe::kMmaKindsOf)
    for (const Shapes& s : kShapes) {
      if (s.m == 64 && kind.scale != nullptr) continue;
      for (uint32_t n = s.step; n <= 256; n += s.step) {
        ++seed;
        probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[seed % 4], s.m, n, seed, s.ctas);
        p.issuer = seed / 4 % s.ctas;
        ASSERT_EQ(probe::difference(p, probe::run(p, {run::kPolicies[seed % 3].policy, seed})), "");
        ++shapes;
      }
    }
  EXPECT_EQ(shapes, 12u * 64 + 7 * 32);
}

// Two values of A's scales and of B's, each in half of the rows: the published sign of a wrong map is an
// effective scale of column n % 64 (blackwell example of a pair with M = 128).
TEST(TensorMmaShapes, APairOf128RowsTakesEachHalfsScales) {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[probe::kNvfp4], probe::kMmaSwizzles[3], 128, 128, 7, 2);
  p.accumulate = false;
  std::fill(p.a.begin(), p.a.end(), 2);  // ones
  std::fill(p.b.begin(), p.b.end(), 2);
  for (uint32_t r = 0; r < p.m; ++r) std::fill_n(p.sa.begin() + r * 4, 4, r < 64 ? 0x38 : 0x40);  // 1, 2
  for (uint32_t c = 0; c < p.n; ++c) std::fill_n(p.sb.begin() + c * 4, 4, c < 64 ? 0x38 : 0x48);  // 1, 4
  const std::vector<uint32_t> d = probe::run(p);
  const auto at = [&](uint32_t row, uint32_t column) { return d[row * p.n + column]; };
  EXPECT_EQ(at(0, 0), 0x42800000u);     // 64
  EXPECT_EQ(at(127, 63), 0x43000000u);  // 128
  EXPECT_EQ(at(63, 64), 0x43800000u);   // 256
  EXPECT_EQ(at(64, 127), 0x44000000u);  // 512
  EXPECT_EQ(probe::difference(p, d), "");
}

// A in tensor memory stands in the lanes of its rows of D: with 64 rows in every other 16 lanes, or in both
// halves where the halves have different columns.
TEST(TensorMmaShapes, AInTensorMemoryStandsWhereItsRowsDo) {
  uint64_t seed = 900;
  for (const probe::MmaKindOf& kind : probe::kMmaKindsOf)
    for (const Shapes& s : kShapes) {
      if (s.m == 64 && kind.scale != nullptr) continue;
      for (const uint32_t lane : {0u, 16u}) {
        if (lane != 0 && s.m != 64) continue;
        ++seed;
        probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[seed % 4], s.m, 48, seed, s.ctas);
        p.a_in_tensor = true;
        p.lane = lane;
        ASSERT_EQ(probe::difference(p, probe::run(p)), "");
      }
    }
}

// A, B or both with rows that lie next to each other, of 16, 8 and 32 bits, under the swizzles that these
// have.
TEST(TensorMmaShapes, TransposedOperands) {
  uint64_t seed = 1300;
  for (const probe::MmaKindOf* kind : {&probe::kMmaKindsOf[0], &probe::kMmaKindsOf[2], &probe::kMmaKindsOf[3],
                                       &probe::kMmaKindsOf[4], &probe::kIntegerKinds[0]})
    for (const probe::MmaSwizzle& swizzle : probe::kMmaSwizzles)
      for (const Shapes& s : kShapes)
        for (const uint32_t n : {32u, 160u})
          for (const int which : {1, 2, 3}) {
            probe::MmaCase p = probe::draw(*kind, swizzle, s.m, n, ++seed, s.ctas);
            if (kind->a == &probe::kTf32) p.swizzle = &probe::kAtomsOf32;
            // Both descriptors of a case have one swizzle, and atoms of 32 bytes are for MN-major only.
            const bool both = which == 3 || kind->a == &probe::kTf32;
            p.transpose_a = both || which == 1;
            p.transpose_b = both || which == 2;
            p.step = 0;
            ASSERT_EQ(probe::difference(p, probe::run(p)), "");
          }
}

TEST(TensorMmaShapes, LanesThatATileCannotStartAtAreNamed) {
  struct Lane {
    uint32_t m, lane;
    const char* says;
  };
  for (const Lane& l : {Lane{128, 16, "M = 128 and D at lane 16 of tensor memory, it must be 0"},
                        {64, 8, "M = 64 and D at lane 8 of tensor memory, it must be 0 or 16"},
                        {64, 32, "M = 64 and D at lane 32 of tensor memory, it must be 0 or 16"}}) {
    probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], l.m, 16, 3);
    p.lane = l.lane;
    std::string what;
    try {
      probe::run(probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], l.m, 16, 3), {},
                 probe::kernel(p));
    } catch (const machine::Fault& e) {
      what = e.what();
    }
    EXPECT_NE(what.find(l.says), std::string::npos) << l.lane << ": " << what;
  }
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 64, 16, 3);
  p.a_in_tensor = true;
  std::string text = probe::kernel(p);
  const std::string a = "add.u32 %r13, %r4, 272;";
  ASSERT_NE(text.find(a), std::string::npos);
  text.replace(text.find(a), a.size(), "add.u32 %r13, %r4, 1048848;");  // lane 16
  EXPECT_THROW(probe::run(p, {}, text), machine::Fault);
}

}  // namespace
}  // namespace bitwell::isa
