// A matrix of fp16 copied by TMA, a 64 x 64 box at a time: what the simulator's speed at TMA is measured with.
#include "../ptx.cuh"

// Grid: (rows / 64), one warp; a row of `boxes`, a power of two, `times` times.
extern "C" __global__ void __launch_bounds__(32)
    tensor_copy(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int boxes, int times) {
  __shared__ alignas(1024) uint8_t box[8192];
  __shared__ uint64_t done;
  const uint32_t barrier = ptx::shared_address(&done);
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(barrier, 1);
  ptx::fence_mbarrier_init();
  const int y = static_cast<int>(blockIdx.x) * 64;
  for (int i = 0; i < boxes * times; ++i) {
    ptx::mbarrier_arrive_expect_tx(barrier, sizeof box);
    ptx::cp_async_bulk_tensor_3d(ptx::shared_address(box), from, (i & (boxes - 1)) * 64, y, 0, barrier);
    ptx::mbarrier_wait_parity(barrier, i & 1);
    ptx::cp_async_bulk_tensor_3d_store(to, (i & (boxes - 1)) * 64, y, 0, ptx::shared_address(box));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group<0>();  // have written: a later round writes the same bytes
  }
}
