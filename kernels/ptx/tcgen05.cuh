// Tensor memory and the fifth-generation tensor core, for one CTA or a pair (PTX ISA 9.0, 9.7.16). `ctas`: the cta_group.
#pragma once
#include <cstdint>

namespace ptx {
#if __CUDA_ARCH__ >= 1000

#define TCGEN05(one, two)                                       \
  do {                                                          \
    if constexpr (ctas == 1) {                                  \
      one;                                                      \
    } else {                                                    \
      two;                                                      \
    }                                                           \
  } while (false)

// 9.7.16.7.1 "tcgen05.alloc", "dealloc", "relinquish_alloc_permit": one warp, of a pair one in each CTA; columns a power of
// two, 32 to 512. The address is written to shared memory.
template <int ctas>
__device__ inline void tcgen05_alloc(uint32_t to, uint32_t columns) {
  TCGEN05(asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns) : "memory"),
          asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns) : "memory"));
}
template <int ctas>
__device__ inline void tcgen05_dealloc(uint32_t address, uint32_t columns) {
  TCGEN05(asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns) : "memory"),
          asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns) : "memory"));
}
template <int ctas>
__device__ inline void tcgen05_relinquish_alloc_permit() {
  TCGEN05(asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory"),
          asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory"));
}

// 9.7.16.9.2 "tcgen05.cp": 32 rows of 16 bytes into 4 columns, again in every quarter of the lanes; of a pair each CTA from
// its own shared memory
template <int ctas>
__device__ inline void tcgen05_cp_32x128b_warpx4(uint32_t to, uint64_t from) {
  TCGEN05(asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory"),
          asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory"));
}

// 9.7.16.10.9 "tcgen05.mma" of NVFP4: D [+]= A * B, E2M1 with a scale of UE4M3 for 16 elements, K = 64
#define MXF4NVF4(group)                                                                                              \
  asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %6, 0;\n\ttcgen05.mma.cta_group::" group                  \
               ".kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], adds;\n\t}" ::"r"(d),        \
               "l"(a), "l"(b), "r"(descriptor), "r"(sfa), "r"(sfb), "r"(static_cast<uint32_t>(accumulate))           \
               : "memory")
template <int ctas>
__device__ inline void tcgen05_mma_mxf4nvf4(uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor, uint32_t sfa,
                                            uint32_t sfb, bool accumulate) {
  TCGEN05(MXF4NVF4("1"), MXF4NVF4("2"));
}
#undef MXF4NVF4

// The same of fp16 or bf16, as the descriptor says; K = 16
#define F16(group)                                                                                              \
  asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %4, 0;\n\ttcgen05.mma.cta_group::" group             \
               ".kind::f16 [%0], %1, %2, %3, adds;\n\t}" ::"r"(d),                                              \
               "l"(a), "l"(b), "r"(descriptor), "r"(static_cast<uint32_t>(accumulate))                          \
               : "memory")
template <int ctas>
__device__ inline void tcgen05_mma_f16(uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor, bool accumulate) {
  TCGEN05(F16("1"), F16("2"));
}
#undef F16

// 9.7.16.11 "tcgen05.commit": an arrival when all that this thread has issued is done, at the barrier, or of a pair at that
// of both CTAs
template <int ctas>
__device__ inline void tcgen05_commit(uint32_t barrier) {
  TCGEN05(asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory"),
          asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                           barrier),
                       "h"(static_cast<uint16_t>(3))
                       : "memory"));
}
// The same at the barriers of the CTAs of the cluster whose bits are set in `mask`.
template <int ctas>
__device__ inline void tcgen05_commit_multicast(uint32_t barrier, uint16_t mask) {
  TCGEN05(asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                           barrier),
                       "h"(mask)
                       : "memory"),
          asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                           barrier),
                       "h"(mask)
                       : "memory"));
}
#undef TCGEN05

// 9.7.16.12 "tcgen05.fence"
__device__ inline void tcgen05_fence_before_thread_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ inline void tcgen05_fence_after_thread_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

// 9.7.16.8.1 "tcgen05.ld": 16 columns of the thread's lane; they are there after the wait
__device__ inline void tcgen05_ld_32x32b_x16(float (&r)[16], uint32_t from) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
      : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3]), "=f"(r[4]), "=f"(r[5]), "=f"(r[6]), "=f"(r[7]), "=f"(r[8]), "=f"(r[9]),
        "=f"(r[10]), "=f"(r[11]), "=f"(r[12]), "=f"(r[13]), "=f"(r[14]), "=f"(r[15])
      : "r"(from)
      : "memory");
}
__device__ inline void tcgen05_wait_ld() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }

#endif
}  // namespace ptx
