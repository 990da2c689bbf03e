// The limits that memory sets: reading, and copying.
#include <cstdint>

// Reads `count` vectors of 16 bytes, eight a thread under way at any time; writes one word if they hold a sum that they
// hardly do, so that nothing is skipped.
extern "C" __global__ void __launch_bounds__(512) read_all(const uint4* from, uint32_t* sink, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  uint32_t sum = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += 8 * stride) {
    uint4 v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = i + j * stride < count ? __ldcs(from + i + j * stride) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
  }
  if (sum == 0x9E3779B9u) sink[0] = sum;
}

// Copies `count` vectors of 16 bytes.
extern "C" __global__ void __launch_bounds__(512) copy_all(const uint4* from, uint4* to, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < count; i += 4 * stride) {
    uint4 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = __ldcs(from + i + j * stride);
#pragma unroll
    for (int j = 0; j < 4; ++j) __stcs(to + i + j * stride, v[j]);
  }
  for (; i < count; i += stride) to[i] = from[i];
}
