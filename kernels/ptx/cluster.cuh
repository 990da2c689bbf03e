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
