// tcgen05.mma from compiled text to tensor memory: every element of A, B, their scales and C reaches its
// place, under every swizzle and shape, with scales by tcgen05.cp; D equals the dot product's definition bit
// for bit. And the words that a B200 gave pass through the instruction.
#include "verify/probe/tensor_mma.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

TEST(TensorMma, EveryKindSwizzleAndShapeReachesItsOperands) {
  uint64_t seed = 1;
  for (const probe::MmaKindOf& kind : probe::kMmaKindsOf)
    for (const probe::MmaSwizzle& swizzle : probe::kMmaSwizzles)
      for (const uint32_t m : {64u, 128u}) {
        if (m == 64 && kind.scale != nullptr) continue;
        for (const uint32_t n : {8u, 40u, 256u}) {
          const probe::MmaCase p = probe::draw(kind, swizzle, m, n, ++seed);
          ASSERT_EQ(
              probe::difference(p, probe::run(p, {seed % 2 == 0 ? run::Policy::lazy : run::Policy::eager})),
              "");
        }
      }
}

// Words that a B200 returned, each alone in a random tile.
TEST(TensorMma, EveryFrozenWordOfAB200) {
  std::ifstream in(BITWELL_B200_WORDS);
  size_t words = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::vector<uint32_t>> f;
    std::string name;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) {
      if (f.empty() && name.empty()) {
        name = part.substr(0, part.find(' '));
        continue;
      }
      std::istringstream hex(part);
      f.emplace_back();
      for (std::string w; hex >> w;) f.back().push_back(static_cast<uint32_t>(std::stoul(w, nullptr, 16)));
    }
    probe::MmaKindOf kind{};
    const probe::MmaType* of = nullptr;
    for (const probe::MmaType* g : {&probe::kF16, &probe::kBf16, &probe::kTf32, &probe::kE4m3, &probe::kE5m2,
                                    &probe::kE2m3, &probe::kE3m2, &probe::kE2m1})
      if (name == g->name) of = g;
    if (name == "bf16")
      for (size_t v : {0, 1})
        for (uint32_t& x : f[v]) x >>= 16;
    if (name == "nvfp4")
      kind = probe::kMmaKindsOf[probe::kNvfp4];
    else if (name == "mxf4")
      kind = {"mxf4nvf4.block_scale.block16",
              &probe::kE2m1,
              &probe::kE2m1,
              &probe::kF32,
              &probe::kUe8m0,
              16,
              64,
              1,
              1,
              0};
    else if (name == "mxf8f6f4-e2m1")
      kind = {"mxf8f6f4.block_scale",
              &probe::kE2m1,
              &probe::kE2m1,
              &probe::kF32,
              &probe::kUe8m0,
              32,
              32,
              5,
              5,
              0};
    else if (of == &probe::kTf32)
      kind = probe::kMmaKindsOf[3];
    else if (of->bits == 16)
      kind = probe::kMmaKindsOf[of == &probe::kF16 ? 0 : 2];
    else {
      const uint32_t code = of == &probe::kE4m3   ? 0
                            : of == &probe::kE5m2 ? 1
                            : of == &probe::kE2m3 ? 3
                            : of == &probe::kE3m2 ? 4
                                                  : 5;
      kind = {"f8f6f4", of, of, &probe::kF32, nullptr, 0, 32, code, code, 1};
    }
    if (name == "mxf4" && f[3].size() == 2) kind = probe::kMmaKindsOf[9];
    probe::MmaCase p = probe::draw(kind, probe::kMmaSwizzles[3], 128, 16, ++words);
    p.accumulate = true;
    const uint32_t row = words * 37 % 128;
    const uint32_t column = words * 5 % 16;
    ASSERT_EQ(f[0].size(), kind.k) << line;
    std::copy(f[0].begin(), f[0].end(), p.a.begin() + row * kind.k);
    std::copy(f[1].begin(), f[1].end(), p.b.begin() + column * kind.k);
    p.c[row * 16 + column] = f[2][0];
    if (kind.scale != nullptr) {
      ASSERT_EQ(f[3].size(), p.scales()) << line;
      std::copy(f[3].begin(), f[3].end(), p.sa.begin() + row * p.scales());
      std::copy(f[4].begin(), f[4].end(), p.sb.begin() + column * p.scales());
    }
    EXPECT_EQ(probe::run(p)[row * 16 + column], f.back()[0]) << line;
  }
  EXPECT_EQ(words, 23u);
}

// Every active thread that executes an MMA issues one. Published dumps of a B200, of kernels in which 128
// threads do, show D = P0 + 128 * P1 in one build and P0 + 32 * P1 in another: P0 does not add, P1 does, and
// how many of the latter come after the last P0 is left to the warps.
TEST(TensorMma, EveryActiveThreadIssuesOne) {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 8, 1);
  std::fill(p.a.begin(), p.a.end(), 0x3C00);  // ones
  std::fill(p.b.begin(), p.b.end(), 0x3C00);
  p.accumulate = true;
  std::string text = probe::kernel(p);
  const auto swap = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  swap("@!%p6 bra issued;", "");
  swap("mbarrier.init.shared.b64 [bar], 1;", "mbarrier.init.shared.b64 [bar], 128;");
  swap("setp.ne.u32 %p3, %r0, 1;",
       "setp.eq.u32 %p3, %r0, %r0;\nsetp.ne.u32 %p5, %r0, %r0;\n"
       "tcgen05.mma.cta_group::1.kind::f16 [%r4], %x0, %x1, %r10, %p5;");
  std::set<float> seen;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    run::Options options;
    options.schedule = {seed == 0 ? run::Policy::lazy : run::Policy::random, seed};
    launch::Launch l = probe::launch_of(p);
    test::run_ptx(text, l, options);
    std::vector<float> d(128 * 8);
    std::memcpy(d.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
    for (const float v : d) ASSERT_EQ(v, d[0]);
    ASSERT_GE(d[0], 16 + 32 * 16) << "seed " << seed;
    ASSERT_LE(d[0], 16 + 128 * 16) << "seed " << seed;
    if (seed == 0) {
      EXPECT_EQ(d[0], 16 + 32 * 16);  // warp after warp
    }
    seen.insert(d[0]);
  }
  EXPECT_GT(seen.size(), 1u);
}

// A commit is for what its own thread has issued: with another's nothing waits for the MMA, and some schedule
// reads D too early.
TEST(TensorMma, ACommitIsForItsOwnThread) {
  const probe::MmaCase p = probe::draw(probe::kMmaKindsOf[probe::kNvfp4], probe::kMmaSwizzles[3], 128, 16, 2);
  std::string text = probe::kernel(p);
  const std::string commit = "tcgen05.commit.cta_group::1";
  const size_t at = text.find(commit);
  ASSERT_NE(at, std::string::npos);
  // Thread 1 commits instead; thread 0 issues.
  text.insert(at, "issued:\nsetp.eq.u32 %p5, %r0, 1;\n@%p5 ");
  text.erase(text.find("issued:\nwait:"), 8);
  const auto early = [&](const std::string& kernel_text, uint64_t seed) {
    launch::Launch l = probe::launch_of(p);
    run::Options options;
    options.schedule = {run::Policy::random, seed};
    test::run_ptx(kernel_text, l, options);
    std::vector<uint32_t> d(128 * p.n);
    std::memcpy(d.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
    return d != probe::run(p);
  };
  bool shown = false;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    EXPECT_FALSE(early(probe::kernel(p), seed)) << "seed " << seed;
    try {
      shown = early(text, seed) || shown;
    } catch (const machine::Fault& fault) {  // it came even after the CTA's end
      EXPECT_NE(std::string(fault.what()).find("is under way when its CTA ends"), std::string::npos)
          << fault.what();
    }
  }
  EXPECT_TRUE(shown);
}

}  // namespace
}  // namespace bitwell::isa
