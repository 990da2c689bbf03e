// What the NVFP4 kernels for Hopper without clusters share: a ring of stages that fills a CTA's shared memory, and the CTA's division
// into a thread that fetches and two warpgroups that multiply.
#pragma once
#include "mainloop.cuh"

namespace gemm {

constexpr int kTileM = 128;            // rows of A, where nothing else is said
constexpr int kStepBytes = kStep / 2;  // of a row of codes

// Stages of `tile_m` rows of A, decoded, and of kTileN rows of each of `bs` operands B with their scales; 64 elements of k.
template <int tile_m, int bs>
struct Ring {
  static constexpr int kA = tile_m * kStep * 2;
  static constexpr int kStage = kA + bs * (kOperandB + kScaleAtom);
  static constexpr int kStages = fitting(kernels::kSharedLimit - 1024, kStage + 2 * 8);
  uint32_t base;  // a multiple of 1024

  __device__ uint32_t a(int stage) const { return base + stage * kA; }
  __device__ uint32_t b(int stage, int which = 0) const { return a(kStages) + (stage * bs + which) * kOperandB; }
  __device__ uint32_t scales(int stage, int which = 0) const { return b(kStages) + (stage * bs + which) * kScaleAtom; }
  __device__ uint32_t full(int stage) const { return scales(kStages) + stage * 8; }
  __device__ uint32_t empty(int stage) const { return full(kStages) + stage * 8; }

  __device__ void init() const {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(full(stage), 1);
      ptx::mbarrier_init(empty(stage), kConsumers * 4);
    }
    ptx::fence_mbarrier_init();
  }

  // By the thread that fetches: waits until a stage is free, of which `bytes` are then to be fetched.
  __device__ void acquire(const Slot& slot, uint32_t bytes) const {
    ptx::mbarrier_wait_parity(empty(slot.stage), slot.parity ^ 1);
    ptx::mbarrier_arrive_expect_tx(full(slot.stage), bytes);
  }
  // Step `step` of the rows of A from `row` on.
  __device__ void fetch_a(const Slot& slot, const CUtensorMap& map, int step, int row, int batch) const {
    ptx::cp_async_bulk_tensor_3d(a(slot.stage), map, step * kStep, row, batch, full(slot.stage));
  }
  // The same of an operand B, and of its scales, whose atoms of that tile start at `atoms`.
  __device__ void fetch_b(const Slot& slot, int which, const CUtensorMap& map, const uint8_t* atoms, int step, int row,
                          int batch) const {
    ptx::cp_async_bulk_tensor_3d(b(slot.stage, which), map, step * kStepBytes, row, batch, full(slot.stage));
    ptx::cp_async_bulk(scales(slot.stage, which), atoms + step * kScaleAtom, kScaleAtom, full(slot.stage));
  }
};

// fetch() by one thread, or by the `fetchers` of a warp, once the grid before has ended, which makes A; multiply(consumer) by every
// consumer.
template <int tile_m, int bs, int fetchers = 1, class Fetch, class Multiply>
__device__ void divide(Fetch fetch, Multiply multiply) {
  extern __shared__ uint8_t dynamic[];
  const Ring<tile_m, bs> ring{(ptx::shared_address(dynamic) + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) ring.init();
  __syncthreads();
  if (threadIdx.x < 128) {
    ptx::setmaxnreg_dec<40>();
    if (fetchers == 1 ? threadIdx.x == 0 : threadIdx.x < fetchers) {
      ptx::griddepcontrol_wait();
      ptx::griddepcontrol_launch_dependents();
      fetch(ring);
    }
    __syncwarp();
  } else {
    ptx::setmaxnreg_inc<232>();
    MainLoop<Ring<tile_m, bs>, tile_m, bs> consumer(ring, static_cast<int>(threadIdx.x) - 128, 1, 0);
    multiply(consumer);
  }
}

// work(row of B, row of A, i) for every sum of a consumer thread, sums[..][i]: rows of the tile.
template <class Ring, int tile_m, int bs, class Work>
__device__ void each_sum(const MainLoop<Ring, tile_m, bs>& consumer, Work work) {
#pragma unroll
  for (int i = 0; i < tile_m / 2; ++i)
    work(consumer.row() + i % 4 / 2 * 8, i / 4 * 8 + consumer.lane % 4 * 2 + i % 2, i);
}

}  // namespace gemm
