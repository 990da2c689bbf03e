// C = A * B^T by mma.sync (m16n8k16, sums in fp32), without TMA: two kernels as they are often written, on
// which docs/races.md measures the race check. m and n are multiples of the tile, k of 32.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int kStep = 32;  // of k
constexpr int kPitch =
    kStep + 8;  // of a row in shared memory, so that the rows of an ldmatrix are in other banks

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Tile x Tile elements a CTA, 32 x Tile / 2 a warp. Copied: the tiles come by cp.async, else by loads and
// stores.
template <int Tile, bool Copied>
__device__ void multiply(const __half* a, const __half* b, float* c, int n, int k) {
  constexpr int kThreads = 2 * Tile, kPieces = Tile / 16;
  __shared__ __align__(16) __half tile[2][2][Tile][kPitch];  // [stage][A or B]
  const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 32, column = threadIdx.x / 32 % 2 * (Tile / 2);
  const int first_row = blockIdx.y * Tile, first_column = blockIdx.x * Tile;
  const auto bring = [&](int stage, int at) {
    for (int i = threadIdx.x; i < Tile * kStep / 4; i += kThreads) {  // 8 halves each
      const int r = i / 8, h = i % 4 * 8, of_b = i / 4 % 2;
      const __half* from =
          of_b ? &b[(first_column + r) * size_t(k) + at + h] : &a[(first_row + r) * size_t(k) + at + h];
      __half* to = &tile[stage][of_b][r][h];
      if constexpr (Copied)
        __pipeline_memcpy_async(to, from, 16);
      else
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
    }
    if constexpr (Copied) __pipeline_commit();
  };
  float sums[2][kPieces][4] = {};
  bring(0, 0);
  for (int at = 0; at < k; at += kStep) {
    const int stage = at / kStep % 2;
    const bool more = at + kStep < k;
    if (more) bring(1 - stage, at + kStep);
    if constexpr (Copied) more ? __pipeline_wait_prior(1) : __pipeline_wait_prior(0);
    __syncthreads();
    for (int inner = 0; inner < kStep; inner += 16) {
      unsigned of_a[2][4], of_b[kPieces][2];
      for (int i = 0; i < 2; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(of_a[i][0]), "=r"(of_a[i][1]), "=r"(of_a[i][2]), "=r"(of_a[i][3])
                     : "r"(shared_address(&tile[stage][0][row + 16 * i + lane % 16][inner + lane / 16 * 8])));
      for (int j = 0; j < kPieces; ++j)
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
            : "=r"(of_b[j][0]), "=r"(of_b[j][1])
            : "r"(shared_address(&tile[stage][1][column + 8 * j + lane % 8][inner + lane / 8 % 2 * 8])));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < kPieces; ++j) {
          float(&d)[4] = sums[i][j];
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
              "%9}, {%0, %1, %2, %3};"
              : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
              : "r"(of_a[i][0]), "r"(of_a[i][1]), "r"(of_a[i][2]), "r"(of_a[i][3]), "r"(of_b[j][0]),
                "r"(of_b[j][1]));
        }
    }
    __syncthreads();  // before the next step but one replaces the stage
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < kPieces; ++j)
      for (int e = 0; e < 4; ++e)
        c[(first_row + row + 16 * i + lane / 4 + e / 2 * 8) * size_t(n) + first_column + column + 8 * j +
          lane % 4 * 2 + e % 2] = sums[i][j][e];
}

extern "C" __global__ void __launch_bounds__(256)
    copied(const __half* a, const __half* b, float* c, int n, int k) {
  multiply<128, true>(a, b, c, n, k);
}
extern "C" __global__ void __launch_bounds__(128)
    loaded(const __half* a, const __half* b, float* c, int n, int k) {
  multiply<64, false>(a, b, c, n, k);
}
