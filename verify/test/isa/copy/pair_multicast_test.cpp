// Tensor copies that several CTAs get (.multicast::cluster) and whose bytes count at one barrier of each pair
// (.cta_group::2): that of the CTA with the parity of the CTA whose barrier the instruction names (PTX
// ISA 9.0, 9.7.9.27.1.2). Clusters of one pair and of two, barriers of even and of odd CTAs, all and some
// receivers.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

constexpr uint32_t kThreads = 128;  // each with a word of the tile
constexpr uint32_t kBytes = 4 * kThreads;

struct Multicast {
  uint32_t ctas, issuer, barrier, mask;  // the CTA that issues, the one whose barrier it names, who receives
  bool pairs = true;                     // else each receiver's own barrier counts
};

uint32_t word(uint32_t i) { return 0x1000 + 3 * i; }

std::string text_of(const Multicast& m) {
  std::string expects;
  for (uint32_t r = 0; r < m.ctas; ++r) {
    const uint32_t pair = m.mask >> (r & ~1u) & 3;
    const uint32_t copies = m.pairs
                                ? ((r ^ m.barrier) % 2 == 0 ? static_cast<uint32_t>(std::popcount(pair)) : 0)
                                : m.mask >> r & 1;
    if (copies == 0) continue;
    expects += "setp.eq.u32 %p1, %r1, " + std::to_string(r) + ";\n@%p1 mov.u32 %r5, " +
               std::to_string(copies * kBytes) + ";\n";
  }
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .align "
         "128 .b8 map[128])\n"
         "{\n.reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .b16 %h<2>;\n"
         ".shared .align 128 .b8 tile[" +
         std::to_string(kBytes) +
         "]; .shared .align 8 .b64 bar;\n"
         "ld.param.u64 %d1, [out]; mov.b64 %d2, map; cvta.param.u64 %d2, %d2;\nmov.u32 %r0, %tid.x;\n"
         "mov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\nsetp.eq.u32 %p0, %r0, 0;\n"
         "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 fence.mbarrier_init.release.cluster;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nmov.u32 %r5, 0;\n" +
         expects +
         "setp.ne.u32 %p2, %r5, 0;\nand.pred %p3, %p0, %p2;\n"
         "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r5;\n"
         "setp.eq.and.u32 %p4, %r1, " +
         std::to_string(m.issuer) +
         ", %p0;\n@!%p4 bra issued;\n"
         "mapa.shared::cluster.u32 %r4, %r3, " +
         std::to_string(m.barrier) + ";\nmov.u16 %h0, " + std::to_string(m.mask) +
         ";\ncp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
         "cluster" +
         (m.pairs ? ".cta_group::2" : "") +
         " [%r2], [%d2, {0, 4}], [%r4], %h0;\nissued:\n@!%p2 bra arrived;\n"
         "wait: mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0;\n@!%p5 bra wait;\narrived:\nbar.warp.sync "
         "-1;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
         "shr.u32 %r6, " +
         std::to_string(m.mask) +
         ", %r1;\nand.b32 %r6, %r6, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 ret;\n"
         "shl.b32 %r7, %r0, 2;\nadd.u32 %r8, %r2, %r7;\nld.shared.u32 %r9, [%r8];\n"
         "mad.lo.u32 %r10, %r1, " +
         std::to_string(kBytes) +
         ", %r7;\ncvt.u64.u32 %d3, %r10;\nadd.u64 %d1, %d1, %d3;\n"
         "st.global.u32 [%d1], %r9;\nret;\n}\n";
}

// "" where every receiver has the tile, and nobody else anything.
std::string wrong(const Multicast& m, const run::Schedule& schedule) {
  launch::Launch l;
  l.entry = "k";
  l.shape.grid = l.shape.cluster = {m.ctas, 1, 1};
  l.shape.block = {kThreads, 1, 1};
  l.add_buffer({"out", std::vector<std::byte>(size_t{kBytes} * m.ctas), true, false, true});
  machine::TensorMap map;  // 8 rows of 32 words, of which the last 4 are loaded
  map.type = machine::TensorType::u32;
  map.rank = 2;
  map.dims = {32, 8, 1, 1, 1};
  map.strides = {0, 128, 0, 0, 0};
  map.element_strides = {1, 1, 1, 1, 1};
  map.box = {32, 4, 1, 1, 1};
  std::vector<uint32_t> words(2 * kThreads);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = word(i);
  std::vector<std::byte> tensor(4 * words.size());
  std::memcpy(tensor.data(), words.data(), tensor.size());
  l.add_tensor_map(l.add_hidden_buffer({"tensor", tensor, true, true, false}), map);
  run::Options options;
  options.schedule = schedule;
  try {
    test::run_ptx(text_of(m), l, options);
  } catch (const std::exception& e) {
    return e.what();
  }
  for (uint32_t r = 0; r < m.ctas; ++r)
    for (uint32_t t = 0; t < kThreads; ++t) {
      uint32_t got = 0;
      std::memcpy(&got, l.buffers[0].bytes.data() + size_t{r} * kBytes + 4 * t, 4);
      if (got != ((m.mask >> r & 1) != 0 ? word(kThreads + t) : 0))
        return "CTA " + std::to_string(r) + " thread " + std::to_string(t) + " has " + std::to_string(got);
    }
  return "";
}

TEST(PairMulticast, BytesCountAtTheBarrierOfTheNamedParity) {
  for (const uint32_t ctas : {2u, 4u})
    for (uint32_t issuer = 0; issuer < ctas; ++issuer)
      for (const uint32_t barrier : {issuer, issuer ^ 1})
        for (uint32_t mask = 1; mask < 1u << ctas; ++mask)
          for (const run::Schedule s : {run::Schedule{}, run::Schedule{run::Policy::random, 3}})
            EXPECT_EQ(wrong({ctas, issuer, barrier, mask}, s), "")
                << ctas << " CTAs, " << issuer << " issues, barrier of " << barrier << ", mask " << mask;
}

// Without .cta_group::2 it is each receiver's own.
TEST(PairMulticast, ElseBytesCountWhereTheyArrive) {
  for (const uint32_t ctas : {2u, 3u, 4u})
    for (uint32_t issuer = 0; issuer < ctas; ++issuer)
      for (uint32_t mask = 1; mask < 1u << ctas; ++mask)
        EXPECT_EQ(wrong({ctas, issuer, issuer, mask, false}, {}), "")
            << ctas << " CTAs, " << issuer << ", mask " << mask;
}

}  // namespace
}  // namespace bitwell::isa
