// What comes of cells of tensor memory that an access reads or writes (model/run/watch/follow.h), in each CTA
// of a cluster: its own cells, lanes of one column, and no others.
#include <gtest/gtest.h>

#include <cstring>

#include "../kernel.h"
#include "model/run/watch/follow.h"

namespace bitwell::run {
namespace {

// Lane l of CTA r puts 100 * r + l into column 3 of its own tensor memory at PTX line 12, takes it back at
// line 14, and stores it as word 32 * r + l.
constexpr int kStore = 12, kLoad = 14;
constexpr const char* kKernel = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b32 %r<8>; .reg .b64 %d<4>;
.shared .align 4 .b32 base;
ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank;
mad.lo.u32 %r2, %r1, 32, %r0; mul.wide.u32 %d1, %r2, 4; add.u64 %d0, %d0, %d1;
mad.lo.u32 %r3, %r1, 100, %r0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
bar.sync 0; ld.shared.u32 %r4, [base]; add.u32 %r4, %r4, 3;
mov.u32 %r6, %r3;
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r6};
tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r4];
tcgen05.wait::ld.sync.aligned;
st.global.u32 [%d0], %r5;
sub.u32 %r4, %r4, 3; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 32;
ret;
})";

RunResult run_tensor(launch::Launch& l, const run::Options& options) {
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  l.shape.grid = l.shape.cluster = {2, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(256), true, false, true});
  return test::run_ptx(kKernel, l, options, false);
}

struct LeftOfTensor {
  std::vector<Follow::Output> outputs;
  size_t met, uses;
  std::vector<uint32_t> words;
};

// Follows lanes 5 and 6 of the access of that line in that CTA.
LeftOfTensor followed_tensor(int line, uint32_t cta, Follow::How how) {
  Follow::Mark mark{0, 0, 2};
  uint64_t accesses = 0;
  machine::Observer observer;
  observer.accesses = true;
  observer.steps = false;
  observer.tell = [&](const machine::Event& event) {
    const auto* a = std::get_if<machine::Access>(&event.what);
    if (a == nullptr) return;
    ++accesses;
    if (a->ptx_line != line || a->cta[0] != cta || mark.access != 0) return;
    mark.access = accesses;
    mark.address = a->addresses[0] + (uint64_t{5} << 16);
  };
  run::Options watched;
  watched.observers.push_back(observer);
  launch::Launch first;
  run_tensor(first, watched);
  EXPECT_NE(mark.access, 0u) << "no access of line " << line;
  Follow follow({mark}, how);
  run::Options options;
  options.follow = &follow;
  launch::Launch second;
  run_tensor(second, options);
  LeftOfTensor out{follow.outputs(), follow.met(), follow.uses().size(), std::vector<uint32_t>(64)};
  std::memcpy(out.words.data(), second.buffers[0].bytes.data(), 256);
  return out;
}

TEST(FollowTensor, CellsOfOneCtaComeToItsOutput) {
  for (const int line : {kStore, kLoad})
    for (const uint32_t cta : {0u, 1u}) {
      const LeftOfTensor left = followed_tensor(line, cta, Follow::How::as_unwritten);
      EXPECT_EQ(left.met, 1u);
      EXPECT_EQ(left.uses, 0u);
      ASSERT_EQ(left.outputs.size(), 1u) << line << ", CTA " << cta;
      const uint64_t from = 4 * (32 * cta + 5);
      EXPECT_EQ(left.outputs[0].runs, (std::map<uint64_t, uint64_t>{{from, from + 8}}))
          << line << ", CTA " << cta;
      EXPECT_EQ(left.words[32 * cta + 5], 100 * cta + 5) << "the run is as it was";
    }
}

TEST(FollowTensor, InvertedTheirBitsAreTheOthers) {
  for (const int line : {kStore, kLoad})
    for (const uint32_t cta : {0u, 1u}) {
      const LeftOfTensor left = followed_tensor(line, cta, Follow::How::inverted);
      EXPECT_EQ(left.met, 1u);
      for (uint32_t rank = 0; rank < 2; ++rank)
        for (uint32_t lane = 0; lane < 32; ++lane) {
          const uint32_t plain = 100 * rank + lane;
          const bool changed = rank == cta && (lane == 5 || lane == 6);
          EXPECT_EQ(left.words[32 * rank + lane], changed ? ~plain : plain)
              << line << ", CTA " << rank << ", lane " << lane;
        }
    }
}

}  // namespace
}  // namespace bitwell::run
