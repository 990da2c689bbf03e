// Ordinary CUDA code, compiled by nvcc as users compile it (default and -G): one result a thread.
#include <cassert>
#include <cstdio>

#include "ordinary.h"

#define EACH(name)                                                       \
  extern "C" __global__ void each_##name(uint64_t* out) {                \
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;            \
    out[i] = ordinary::name(i);                                          \
  }
EACH(control)
EACH(choose)
EACH(calls)
EACH(local)
EACH(integers)
EACH(floats)

__device__ uint64_t (*const kTable[3])(uint64_t) = {ordinary::twice, ordinary::square, ordinary::negate};
extern "C" __global__ void indirect(uint64_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = kTable[i % 3](i + 5);
}

// Sum of a block through dynamic shared memory and barriers.
extern "C" __global__ void block_sum(uint64_t* out) {
  extern __shared__ uint32_t values[];
  values[threadIdx.x] = ordinary::mix(blockIdx.x * blockDim.x + threadIdx.x) & 0xFFFF;
  __syncthreads();
  for (uint32_t n = blockDim.x / 2; n > 0; n /= 2) {
    if (threadIdx.x < n) values[threadIdx.x] += values[threadIdx.x + n];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = values[0];
}

// Warp collectives, some under divergence.
extern "C" __global__ void collectives(uint64_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = ordinary::mix(i);
  uint64_t r = __shfl_xor_sync(~0u, v, 5) + __shfl_up_sync(~0u, v, 3, 8) + __shfl_sync(~0u, v, i * 7, 16);
  r = r * 3 + __ballot_sync(~0u, v & 1) + (__any_sync(~0u, v % 40 == 0) ? 1 : 0) + (__all_sync(~0u, v != 0) ? 2 : 0);
  r = r * 3 + __reduce_add_sync(~0u, v & 0xFF) + __reduce_max_sync(~0u, static_cast<int>(v)) + __reduce_xor_sync(~0u, v);
  r = r * 3 + __match_any_sync(~0u, v % 4);
  if (threadIdx.x % 32 < 12) r += __shfl_down_sync(0xFFFu, v, 2, 4) * 5 + __popc(__activemask());
  __syncwarp();
  r ^= static_cast<uint64_t>(__syncthreads_count(v & 1)) << 40;
  r ^= static_cast<uint64_t>(__brev(v)) + __clz(v) + __ffs(v) + __popcll(r) + __byte_perm(v, i, 0x5142) + __funnelshift_r(v, i, 9);
  out[i] = r;
}

extern "C" __global__ void atomics(uint64_t* out, uint32_t* counters) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&counters[0], i);
  atomicMax(&counters[1], ordinary::mix(i));
  atomicMin(&counters[2], ordinary::mix(i) | 1);
  atomicXor(&counters[3], ordinary::mix(i));
  atomicInc(&counters[4], 100);
  uint32_t old = counters[5];
  while (true) {  // compare and swap, lanes against each other
    const uint32_t seen = atomicCAS(&counters[5], old, old + 3);
    if (seen == old) break;
    old = seen;
  }
  out[i] = i;
}

extern "C" __global__ void prints(uint64_t* out) {
  if (threadIdx.x < 2) printf("thread %u: %d %5.2f %s %llx%%\n", threadIdx.x, -7, 1.5, "text", 0x123456789ABCull);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void asserts(uint64_t* out) {
  assert(threadIdx.x != 5);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void traps(uint64_t* out) {
  if (threadIdx.x == 3) __trap();
  out[threadIdx.x] = 1;
}
