// mapa with a rank beyond the cluster: an H200 gives (rank << 24) + address for every lane and no error. The
// access is at fault.
#include <gtest/gtest.h>

#include <cstring>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// The fault, or what each lane of rank 0 has stored of %r1, for a cluster of so many CTAs.
std::string end(const std::string& body, uint32_t cluster, std::vector<uint32_t>& out) {
  const test::Left left = test::Kernel{
      .parameters = ".param .u64 out",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<8>;",
      .shared = ".shared .align 8 .b8 tile[64];",
      .start =
          "ld.param.u64 %q0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 4; add.u64 %q0, %q0, %q1;\n"
          "mov.u32 %r2, tile; add.u32 %r2, %r2, 8; cvt.u64.u32 %q2, %r2; cvta.shared.u64 %q2, %q2;\n"
          "mov.u32 %r4, %cluster_ctarank; setp.ne.u32 %p0, %r4, 0; @%p0 bra E;\n",
      .body = body,
      .finish =
          "st.global.u32 [%q0], %r1;\n"
          "E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n",
      .shape = {.grid = {cluster, 1, 1}, .block = {32, 1, 1}, .cluster = {cluster, 1, 1}},
      .buffers = {
          test::output(128)}}.run();
  if (left.fault.empty()) out = left.all<uint32_t>(0);
  return left.end();
}

TEST(MappedRank, BeyondTheClusterItIsArithmetic) {
  for (const uint32_t cluster : {1u, 2u, 4u})
    for (const char* body :
         {"mapa.shared::cluster.u32 %r1, %r2, %r0;",
          "cvt.u64.u32 %q3, %r2; mapa.shared::cluster.u64 %q3, %q3, %r0; cvt.u32.u64 %r1, %q3;",
          "mapa.u64 %q3, %q2, %r0; cvta.to.shared.u64 %q3, %q3; cvt.u32.u64 %r1, %q3;"}) {
      std::vector<uint32_t> out;
      EXPECT_EQ(end(body, cluster, out), "held") << body << cluster;
      for (uint32_t lane = 0; lane < out.size(); ++lane) EXPECT_EQ(out[lane], (lane << 24) + 8) << body;
    }
}

TEST(MappedRank, TheAccessIsAtFault) {
  for (const uint32_t cluster : {1u, 2u, 4u}) {
    const std::string rank = "mov.u32 %r5, " + std::to_string(cluster) + "; ";
    for (const auto& [body, says] :
         {std::pair<std::string, std::string>{
              rank + "mapa.shared::cluster.u32 %r1, %r2, %r5; ld.shared::cluster.u32 %r1, [%r1];",
              "no CTA of the cluster has it"},
          {rank + "mapa.u64 %q3, %q2, %r5; st.u32 [%q3], %r0; mov.u32 %r1, 0;",
           "no CTA of the cluster has it"},
          {rank + "mapa.shared::cluster.u32 %r1, %r2, %r5; "
                  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                  "[%r1];",
           "names CTA rank " + std::to_string(cluster) + ", which the cluster does not have"}}) {
      std::vector<uint32_t> out;
      EXPECT_NE(end(body, cluster, out).find(says), std::string::npos) << body << end(body, cluster, out);
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
