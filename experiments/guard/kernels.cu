// Small kernels of the kinds that people bring, for the guard's and the scaling table's launches (launches.py).
#include <cuda_fp16.h>

#include <cstdint>

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// All of them by each block, so that starting it does not count.
extern "C" __global__ void saxpy_loop(float a, const float* x, float* y, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = a * x[i] + y[i];
}

// Hardly anything but arithmetic, of floats and of integers.
extern "C" __global__ void arithmetic(float* out, int rounds) {
  float v = threadIdx.x, w = blockIdx.x;
  uint32_t h = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    v = v * 0.999f + w;
    w = w * 0.5f + 1.0f;
    h = (h ^ h << 5) * 1664525u + 1013904223u;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = v + w + h;
}

template <class Combine>
__device__ float of_warp(float v, Combine combine) {
  for (int d = kWarp / 2; d != 0; d /= 2) v = combine(v, __shfl_xor_sync(kAll, v, d));
  return v;
}

// Of a block of up to 1024 threads, in every thread.
template <class Combine>
__device__ float of_block(float v, float nothing, Combine combine) {
  __shared__ float part[kWarp];
  v = of_warp(v, combine);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) part[threadIdx.x / kWarp] = v;
  __syncthreads();
  const bool there = threadIdx.x % kWarp < (blockDim.x + kWarp - 1) / kWarp;
  return of_warp(there ? part[threadIdx.x % kWarp] : nothing, combine);
}

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// sums[block] of `each` elements a thread.
extern "C" __global__ void reduction(const float* x, float* sums, int each) {
  float sum = 0;
  for (int i = 0; i < each; ++i)
    sum += x[(static_cast<size_t>(blockIdx.x) * each + i) * blockDim.x + threadIdx.x];
  sum = of_block(sum, 0, Sum());
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Inclusive sums within each block's 2 * blockDim.x elements, by Blelloch's tree in shared memory.
extern "C" __global__ void scan(const uint32_t* x, uint32_t* y) {
  extern __shared__ uint32_t tree[];
  const uint32_t n = 2 * blockDim.x;
  const uint32_t* from = x + static_cast<size_t>(blockIdx.x) * n;
  uint32_t* to = y + static_cast<size_t>(blockIdx.x) * n;
  tree[threadIdx.x] = from[threadIdx.x];
  tree[threadIdx.x + blockDim.x] = from[threadIdx.x + blockDim.x];
  for (uint32_t d = 1; d < n; d *= 2) {
    __syncthreads();
    const uint32_t at = (threadIdx.x + 1) * 2 * d - 1;
    if (at < n) tree[at] += tree[at - d];
  }
  for (uint32_t d = n / 4; d != 0; d /= 2) {
    __syncthreads();
    const uint32_t at = (threadIdx.x + 1) * 2 * d - 1;
    if (at + d < n) tree[at + d] += tree[at];
  }
  __syncthreads();
  to[threadIdx.x] = tree[threadIdx.x];
  to[threadIdx.x + blockDim.x] = tree[threadIdx.x + blockDim.x];
}

// A row a block, in place.
extern "C" __global__ void softmax(float* x, int columns) {
  float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, row[i]);
  most = of_block(most, -INFINITY, Max());
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i] = __expf(row[i] - most);
  sum = of_block(sum, 0, Sum());
  for (int i = threadIdx.x; i < columns; i += blockDim.x) row[i] = row[i] / sum;
}

// A row a block.
extern "C" __global__ void layernorm(const float* x, const float* gain, const float* bias, float* y, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float* out = y + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
  const float mean = of_block(sum, 0, Sum()) / columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  const float scale = rsqrtf(of_block(squares, 0, Sum()) / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

__device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ uint32_t pair(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&both);
}

// softmax(q k^T / 8) v of one head of 64: a warp has 16 rows of q and takes 16 keys at a time, with sums that are
// scaled anew when a larger score comes. The numbers of a thread stand where mma.m16n8k16 wants them.
constexpr int kHead = 64;
extern "C" __global__ void attention(const __half* q, const __half* k, const __half* v, __half* out, int keys) {
  const int lane = threadIdx.x % kWarp, row = lane / 4, column = lane % 4 * 2;
  const size_t first = (blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp) * 16;
  const auto two = [](const __half* at) { return *reinterpret_cast<const uint32_t*>(at); };
  uint32_t a[kHead / 16][4];
  for (int s = 0; s < kHead / 16; ++s)
    for (int i = 0; i < 4; ++i)
      a[s][i] = two(q + (first + row + i % 2 * 8) * kHead + s * 16 + column + i / 2 * 8);
  float sums[kHead / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, all[2] = {};
  for (int key = 0; key < keys; key += 16) {
    float scores[2][4] = {};
    for (int n = 0; n < 2; ++n)
      for (int s = 0; s < kHead / 16; ++s) {
        const __half* at = k + static_cast<size_t>(key + n * 8 + row) * kHead + s * 16 + column;
        mma(scores[n], a[s], two(at), two(at + 8));
      }
    for (int half = 0; half < 2; ++half) {
      float largest = most[half];
      for (int n = 0; n < 2; ++n)
        for (int i = 0; i < 2; ++i) largest = fmaxf(largest, scores[n][2 * half + i] *= 0.125f);
      for (int d = 1; d < 4; d *= 2) largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, d));
      const float shrink = __expf(most[half] - largest);
      most[half] = largest;
      all[half] *= shrink;
      for (auto& sum : sums)
        for (int i = 0; i < 2; ++i) sum[2 * half + i] *= shrink;
      for (int n = 0; n < 2; ++n)
        for (int i = 0; i < 2; ++i) {
          float& score = scores[n][2 * half + i];
          score = __expf(score - largest);
          all[half] += score;
        }
    }
    const uint32_t p[4] = {pair(scores[0][0], scores[0][1]), pair(scores[0][2], scores[0][3]),
                           pair(scores[1][0], scores[1][1]), pair(scores[1][2], scores[1][3])};
    for (int n = 0; n < kHead / 8; ++n) {
      const auto of = [&](int at) {
        const __half* from = v + static_cast<size_t>(key + at) * kHead + n * 8 + row;
        const __half2 both(from[0], from[kHead]);
        return *reinterpret_cast<const uint32_t*>(&both);
      };
      mma(sums[n], p, of(column), of(column + 8));
    }
  }
  for (int half = 0; half < 2; ++half) {
    for (int d = 1; d < 4; d *= 2) all[half] += __shfl_xor_sync(kAll, all[half], d);
    for (int n = 0; n < kHead / 8; ++n)
      *reinterpret_cast<uint32_t*>(out + (first + row + half * 8) * kHead + n * 8 + column) =
          pair(sums[n][2 * half] / all[half], sums[n][2 * half + 1] / all[half]);
  }
}

extern "C" __global__ void nothing(int) {}
