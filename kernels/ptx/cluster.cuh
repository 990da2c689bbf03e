// Clusters, dependent grids and register counts.
#pragma once
#include <cstdint>

#include "mbarrier.cuh"

namespace ptx {
#if __CUDA_ARCH__ >= 900

// 10.12 to 10.15 "special registers"
__device__ inline uint32_t cluster_ctaid_x() {
  uint32_t d;
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(d));
  return d;
}
__device__ inline uint32_t cluster_ctaid_y() {
  uint32_t d;
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(d));
  return d;
}
__device__ inline uint32_t cluster_nctaid_x() {
  uint32_t d;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(d));
  return d;
}
__device__ inline uint32_t cluster_nctaid_y() {
  uint32_t d;
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(d));
  return d;
}

// 9.7.13.3 "barrier.cluster"; relaxed: orders no memory
__device__ inline void barrier_cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void barrier_cluster_arrive_release() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void barrier_cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// 9.7.9.23 "mapa": the same place in the shared memory of the cluster's CTA `rank`
__device__ inline uint32_t mapa(uint32_t shared, uint32_t rank) {
  uint32_t d;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"(shared), "r"(rank));
  return d;
}
// 9.7.9.8 "ld"
__device__ inline float ld_shared_cluster_f32(uint32_t from) {
  float d;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(d) : "r"(from));
  return d;
}
// 9.7.9.12 "st.async": four words into a CTA of the cluster, counted there by an mbarrier
__device__ inline void st_async_v4(uint32_t to, float a, float b, float c, float d, uint32_t barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "f"(a), "f"(b), "f"(c), "f"(d), "r"(barrier)
      : "memory");
}

#if __CUDA_ARCH__ >= 1000
// 9.7.13.18 "clusterlaunchcontrol.try_cancel": asks for a cluster that has not started; the answer is 16 bytes in shared
// memory, counted by an mbarrier. `all`: the answer goes to every CTA of the cluster.
template <bool all>
__device__ inline void clusterlaunchcontrol_try_cancel(uint32_t to, uint32_t barrier) {
  if constexpr (all)
    asm volatile(
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], "
        "[%1];" ::"r"(to),
        "r"(barrier)
        : "memory");
  else
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(to),
                 "r"(barrier)
                 : "memory");
}
// 9.7.13.19 "clusterlaunchcontrol.query_cancel": what an answer says; without a cluster the CTA is 0.
struct Canceled {
  bool any;
  uint32_t x, y, z;  // its first CTA
};
__device__ inline Canceled clusterlaunchcontrol_query_cancel(uint32_t answer) {
  Canceled d;
  uint32_t any;
  asm volatile(
      "{\n\t.reg .b128 answer;\n\t.reg .pred any;\n\t"
      "ld.shared.b128 answer, [%4];\n\t"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 any, answer;\n\t"
      "selp.u32 %0, 1, 0, any;\n\t"
      "mov.u32 %1, 0;\n\tmov.u32 %2, 0;\n\tmov.u32 %3, 0;\n\t"
      "@any clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, answer;\n\t}"
      : "=r"(any), "=r"(d.x), "=r"(d.y), "=r"(d.z)
      : "r"(answer)
      : "memory");
  d.any = any != 0;
  return d;
}
#endif

// 9.7.13.13 "griddepcontrol"
__device__ inline void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__device__ inline void griddepcontrol_launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" :::); }

// 9.7.20.5 "setmaxnreg"
template <int registers>
__device__ inline void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

#endif
}  // namespace ptx
