// Ordinary CUDA code, by which the cost of the race check is measured: sums through shared memory with a barrier
// a step, and counts by atomics.
#include <cstdint>

constexpr int kThreads = 256;

// Each CTA adds `each` numbers a thread, kThreads apart.
extern "C" __global__ void block_sums(const float* x, float* sums, int each) {
  __shared__ float part[kThreads];
  const float* mine = x + static_cast<size_t>(blockIdx.x) * kThreads * each;
  float sum = 0;
  for (int i = 0; i < each; ++i) sum += mine[i * kThreads + threadIdx.x];
  part[threadIdx.x] = sum;
  for (int n = kThreads / 2; n != 0; n /= 2) {
    __syncthreads();
    if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// Each CTA counts `each` bytes a thread in shared memory, then adds its counts to those of all.
extern "C" __global__ void histogram(const uint8_t* x, uint32_t* counts, int each) {
  __shared__ uint32_t bins[kThreads];
  bins[threadIdx.x] = 0;
  __syncthreads();
  const uint8_t* mine = x + static_cast<size_t>(blockIdx.x) * kThreads * each;
  for (int i = 0; i < each; ++i) atomicAdd(&bins[mine[i * kThreads + threadIdx.x]], 1);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
