// Gated dual NVFP4 GEMM for Hopper: the problem of dual.cu, by wgmma on operands decoded to fp16 as in kernels/gemm. A scale's sign
// counts; k is a multiple of 64.
//
// A CTA makes every (number of CTAs)th tile of 128 x 128 of D: each consumer thread has both products' sums of its elements, so that
// D needs nothing but them.
#include <cuda_fp16.h>

#include "gemm/ring.cuh"
#include "silu.cuh"

namespace dual {

constexpr int kBs = 2;  // operands B: the gate's, then the other
using Ring = gemm::Ring<gemm::kTileM, kBs>;

struct Problem {
  int m, n, k, l;
  __device__ int across() const { return (n + gemm::kTileN - 1) / gemm::kTileN; }
  __device__ int steps() const { return k / gemm::kStep; }

  // work(first row of A, tile along n, batch) for each of this CTA's tiles.
  template <class Work>
  __device__ void each_tile(Work work) const {
    const int down = (m + gemm::kTileM - 1) / gemm::kTileM;
    for (int t = static_cast<int>(blockIdx.x); t < down * across() * l; t += static_cast<int>(gridDim.x))
      work(t % down * gemm::kTileM, t / down % across(), t / down / across());
  }
};

}  // namespace dual

// a: decoded, fp16 [l][m][k], boxes of 64 x 128; b1, b2: codes as bytes [l][n][k / 2], boxes of 32 x 128; their scales in the 128x4
// tiling.
extern "C" __global__ void __launch_bounds__(gemm::kThreads, 1)
    dual_wgmma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b1,
               const __grid_constant__ CUtensorMap b2, const uint8_t* sfb1, const uint8_t* sfb2, __half* d, int m, int n, int k,
               int l) {
  using namespace dual;
  const Problem p{m, n, k, l};
  gemm::divide<gemm::kTileM, kBs>(
      [&](const Ring& ring) {
        gemm::Slot slot;
        p.each_tile([&](int row, int y, int z) {
          const size_t atoms = (static_cast<size_t>(z) * p.across() + y) * p.steps() * gemm::kScaleAtom;
#pragma unroll 1
          for (int step = 0; step < p.steps(); ++step) {
            ring.acquire(slot, ring.kStage);
            ring.fetch_a(slot, a, step, row, z);
            ring.fetch_b(slot, 0, b1, sfb1 + atoms, step, y * gemm::kTileN, z);
            ring.fetch_b(slot, 1, b2, sfb2 + atoms, step, y * gemm::kTileN, z);
            slot.advance<Ring::kStages>();
          }
        });
      },
      [&](auto& consumer) {
        p.each_tile([&](int row, int y, int z) {
          consumer.multiply(0, p.steps(), k);
          gemm::each_sum(consumer, [&](int of_b, int of_a, int i) {
            const int column = y * gemm::kTileN + of_b;
            const float gate = consumer.sums[0][i] * gemm::kUnscale, up = consumer.sums[1][i] * gemm::kUnscale;
            if (row + of_a < m && column < n)
              d[(static_cast<size_t>(z) * m + row + of_a) * n + column] = __float2half_rn(silu(gate) * up);
          });
        });
      });
}
