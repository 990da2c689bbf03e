// CUDA C++ with what its headers give: cooperative groups, libcu++'s atomics and barriers, narrow formats, wmma.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <mma.h>

#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;

// Two steps of a stencil with a barrier of the whole grid between them.
extern "C" __global__ void grid_sync(const int* in, int* middle, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  middle[i] = in[i] + in[(i + 1) % n];
  cg::this_grid().sync();
  out[i] = middle[i] - middle[(i + n / 2) % n];
}

// Sums of tiles of 8 threads, and their prefixes.
extern "C" __global__ void tiles(const int* in, int* sums, int* prefixes) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] = cg::reduce(tile, in[i], cg::plus<int>());
  prefixes[i] = cg::inclusive_scan(tile, in[i]);
}

// Two stages of asynchronous copies into shared memory.
extern "C" __global__ void pipelined_sum(const float* in, float* out, int stages) {
  __shared__ float buffer[2][128];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, buffer[0], in, sizeof buffer[0]);
  float sum = 0;
  for (int s = 0; s < stages; ++s) {
    if (s + 1 < stages) cg::memcpy_async(block, buffer[(s + 1) % 2], in + (s + 1) * 128, sizeof buffer[0]);
    if (s + 1 < stages)
      cg::wait_prior<1>(block);
    else
      cg::wait(block);
    sum += buffer[s % 2][127 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}

// cuda::barrier between producers and consumers of one CTA.
extern "C" __global__ void barriers(const int* in, int* out, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
  __shared__ int slot[64];
  if (threadIdx.x == 0) {
    init(&full, 128);
    init(&empty, 128);
  }
  __syncthreads();
  const int at = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; ++r) {
      slot[at] = in[r * 64 + at];
      full.arrive();
      empty.arrive_and_wait();
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      full.arrive_and_wait();
      sum += slot[63 - at] * (r + 1);
      empty.arrive_and_wait();
    }
    out[at] = sum;
  }
}

// A prefix sum over CTAs, each of which looks back at what those before it have published.
extern "C" __global__ void look_back(const int* in, int* out, unsigned long long* states, unsigned* tickets) {
  __shared__ unsigned tile;
  __shared__ int before;
  if (threadIdx.x == 0) tile = atomicAdd(tickets, 1u);
  __syncthreads();
  const int v = in[tile * 32 + threadIdx.x];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int prefix = cg::inclusive_scan(warp, v);
  const auto state = [&](unsigned t) { return cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(states[t]); };
  const auto publish = [&](unsigned long long kind, int sum) {
    state(tile).store(kind << 32 | static_cast<unsigned>(sum), cuda::memory_order_release);
  };
  if (threadIdx.x == 31) {
    publish(tile == 0 ? 2 : 1, prefix);
    int sum = 0;
    for (unsigned t = tile; t-- > 0;) {
      unsigned long long s;
      while ((s = state(t).load(cuda::memory_order_acquire)) >> 32 == 0) {}
      sum += static_cast<int>(s);
      if (s >> 32 == 2) break;
    }
    if (tile != 0) publish(2, sum + prefix);
    before = sum;
  }
  __syncthreads();
  out[tile * 32 + threadIdx.x] = before + prefix;
}

// Each CTA of a cluster adds what the others hold in their shared memory.
extern "C" __global__ void cluster_sum(const int* in, int* out) {
  __shared__ int mine[64];
  const auto cluster = cg::this_cluster();
  mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  int sum = 0;
  for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += cluster.map_shared_rank(mine, r)[63 - threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void narrow(const float* in, unsigned char* e4m3, unsigned char* e5m2, unsigned char* e2m1) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  e4m3[i] = __nv_fp8_e4m3(in[i]).__x;
  e5m2[i] = __nv_fp8_e5m2(in[i]).__x;
  e2m1[i] = __nv_fp4x2_e2m1(make_float2(in[i], -in[i])).__x;
}

extern "C" __global__ void halves(const __half2* a, const __half2* b, __half2* fused, __nv_bfloat16* rounded, __half* largest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  fused[i] = __hfma2(a[i], b[i], a[i]);
  rounded[i] = __float2bfloat16(__half2float(a[i].x) + __half2float(b[i].y));
  largest[i] = __hmax(__habs(a[i].x), b[i].x);
}

extern "C" __global__ void wmma_product(const __half* a, const __half* b, float* c, int k) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0f);
  for (int at = 0; at < k; at += 16) {
    load_matrix_sync(fa, a + at, k);
    load_matrix_sync(fb, b + at, k);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c, fc, 16, mem_row_major);
}

// One atomic for all lanes of a warp that agree on the bin.
extern "C" __global__ void aggregated_histogram(const int* in, unsigned* counts) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  const int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned same = __match_any_sync(~0u, v);
  if ((same & ((1u << threadIdx.x % 32) - 1)) == 0) atomicAdd(&bins[v], static_cast<unsigned>(__popc(same)));
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// Entries that hold go to the front, in any order.
extern "C" __global__ void compact(const int* in, int* out, int* count) {
  const int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v > 0) {
    const auto together = cg::coalesced_threads();
    int at = 0;
    if (together.thread_rank() == 0) at = atomicAdd(count, static_cast<int>(together.size()));
    out[together.shfl(at, 0) + together.thread_rank()] = v;
  }
}

__constant__ float weights[5] = {1, 4, 6, 4, 1};

extern "C" __global__ void convolve(const float* in, float* out, int n) {
  extern __shared__ float tile[];
  const int first = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < static_cast<int>(blockDim.x) + 4; i += blockDim.x) {
    const int at = first + i - 2;
    tile[i] = at < 0 || at >= n ? 0 : in[at];
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 5; ++i) sum += weights[i] * tile[threadIdx.x + i];
  out[first + threadIdx.x] = sum;
}

// The sum of floats by atomics: its order, and so its last bits, are nobody's promise.
extern "C" __global__ void unordered_sum(const float* in, float* out) {
  atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
