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

namespace bitwell::verify {
namespace {

TEST(TensorMma, EveryKindSwizzleAndShapeReachesItsOperands) {
  uint64_t seed = 1;
  for (const MmaKindOf& kind : kMmaKindsOf)
    for (const MmaSwizzle& swizzle : kMmaSwizzles)
      for (const uint32_t m : {64u, 128u}) {
        if (m == 64 && kind.scale != nullptr) continue;
        for (const uint32_t n : {8u, 40u, 256u}) {
          const MmaCase p = draw(kind, swizzle, m, n, ++seed);
          ASSERT_EQ(difference(p, run(p, {seed % 2 == 0 ? isa::Policy::lazy : isa::Policy::eager})), "");
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
    MmaKindOf kind{};
    const MmaType* of = nullptr;
    for (const MmaType* g : {&kF16, &kBf16, &kTf32, &kE4m3, &kE5m2, &kE2m3, &kE3m2, &kE2m1})
      if (name == g->name) of = g;
    if (name == "bf16")
      for (size_t v : {0, 1})
        for (uint32_t& x : f[v]) x >>= 16;
    if (name == "nvfp4")
      kind = kMmaKindsOf[kNvfp4];
    else if (name == "mxf4")
      kind = {"mxf4nvf4.block_scale.block16", &kE2m1, &kE2m1, &kF32, &kUe8m0, 16, 64, 1, 1, 0};
    else if (name == "mxf8f6f4-e2m1")
      kind = {"mxf8f6f4.block_scale", &kE2m1, &kE2m1, &kF32, &kUe8m0, 32, 32, 5, 5, 0};
    else if (of == &kTf32)
      kind = kMmaKindsOf[3];
    else if (of->bits == 16)
      kind = kMmaKindsOf[of == &kF16 ? 0 : 2];
    else {
      const uint32_t code = of == &kE4m3 ? 0 : of == &kE5m2 ? 1 : of == &kE2m3 ? 3 : of == &kE3m2 ? 4 : 5;
      kind = {"f8f6f4", of, of, &kF32, nullptr, 0, 32, code, code, 1};
    }
    if (name == "mxf4" && f[3].size() == 2) kind = kMmaKindsOf[9];
    MmaCase p = draw(kind, kMmaSwizzles[3], 128, 16, ++words);
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
    EXPECT_EQ(run(p)[row * 16 + column], f.back()[0]) << line;
  }
  EXPECT_EQ(words, 23u);
}

// Every active thread that executes an MMA issues one. Published dumps of a B200, of kernels in which 128
// threads do, show D = P0 + 128 * P1 in one build and P0 + 32 * P1 in another: P0 does not add, P1 does, and
// how many of the latter come after the last P0 is left to the warps.
TEST(TensorMma, EveryActiveThreadIssuesOne) {
  MmaCase p = draw(kMmaKindsOf[0], kMmaSwizzles[0], 128, 8, 1);
  std::fill(p.a.begin(), p.a.end(), 0x3C00);  // ones
  std::fill(p.b.begin(), p.b.end(), 0x3C00);
  p.accumulate = true;
  std::string text = kernel(p);
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
    isa::Options options;
    options.schedule = {seed == 0 ? isa::Policy::lazy : isa::Policy::random, seed};
    Launch l = launch_of(p);
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
  const MmaCase p = draw(kMmaKindsOf[kNvfp4], kMmaSwizzles[3], 128, 16, 2);
  std::string text = kernel(p);
  const std::string commit = "tcgen05.commit.cta_group::1";
  const size_t at = text.find(commit);
  ASSERT_NE(at, std::string::npos);
  // Thread 1 commits instead; thread 0 issues.
  text.insert(at, "issued:\nsetp.eq.u32 %p5, %r0, 1;\n@%p5 ");
  text.erase(text.find("issued:\nwait:"), 8);
  const auto early = [&](const std::string& kernel_text, uint64_t seed) {
    Launch l = launch_of(p);
    isa::Options options;
    options.schedule = {isa::Policy::random, seed};
    test::run_ptx(kernel_text, l, options);
    std::vector<uint32_t> d(128 * p.n);
    std::memcpy(d.data(), l.buffers[2].bytes.data(), l.buffers[2].bytes.size());
    return d != run(p);
  };
  bool shown = false;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    EXPECT_FALSE(early(kernel(p), seed)) << "seed " << seed;
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
}  // namespace bitwell::verify
