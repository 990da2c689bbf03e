// Kernels whose every output byte a GPU and bitwell have to agree on, from inputs that the CPU draws: agree FILE writes
// them all. The same program runs on either (on_gpu.sh); under bitwell alone its own checks speak.
#include <cooperative_groups.h>
#include <mma.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../python/examples/nvcc_blur/blur.cu"

namespace cg = cooperative_groups;

// A row a CTA, as the softmax suite has it.
__global__ void softmax(const float* x, float* y, int n) {
  __shared__ float part[32];
  const float* row = x + static_cast<size_t>(blockIdx.x) * n;
  const auto reduce = [&](float v, bool maximum) {
    for (int s = 16; s > 0; s /= 2) {
      const float other = __shfl_xor_sync(0xffffffff, v, s);
      v = maximum ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < blockDim.x / 32; ++w) v = maximum ? fmaxf(v, part[w]) : v + part[w];
    return v;
  };
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  most = reduce(most, true);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
  sum = reduce(sum, false);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[static_cast<size_t>(blockIdx.x) * n + i] = expf(row[i] - most) / sum;
}

__global__ void rms_norm(const float* x, float* y, int n) {
  float sum = 0;
  const float* row = x + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += 32) sum += row[i] * row[i];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
  for (int i = threadIdx.x; i < n; i += 32) y[blockIdx.x * n + i] = row[i] * rsqrtf(sum / n + 1e-5f);
}

__global__ void gated(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1.0f + expf(-x[i])) * tanhf(x[n - 1 - i]);
}

// A tile of 16 x 16 a warp.
__global__ void multiply(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}

__global__ void histogram(const float* x, unsigned* counts, int n) {
  __shared__ unsigned own[64];
  if (threadIdx.x < 64) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[static_cast<int>((x[i] + 4) * 8) & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

// Each CTA hands its row to the next of its cluster.
__global__ void __cluster_dims__(4) rotate(const float* x, float* y) {
  __shared__ float row[128];
  auto cluster = cg::this_cluster();
  row[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  cluster.sync();
  y[blockIdx.x * 128 + threadIdx.x] = *cluster.map_shared_rank(&row[threadIdx.x], (cluster.block_rank() + 1) % 4);
  cluster.sync();
}

__global__ void doubles(const float* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = exp(static_cast<double>(x[i])) + sqrt(fabs(static_cast<double>(x[i]))) / 3.0;
}

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(error));
  std::exit(2);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* out = nullptr;
  check(cudaMalloc(&out, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(out, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "to the device");
  return out;
}

std::FILE* file = nullptr;
template <class T>
void put(const char* name, const T* device, size_t count) {
  std::vector<T> values(count);
  check(cudaDeviceSynchronize(), name);
  check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), name);
  std::fwrite(values.data(), sizeof(T), count, file);
  std::printf("%s: %zu bytes\n", name, count * sizeof(T));
}

}  // namespace

int main(int words, char** word) {
  file = words > 1 ? std::fopen(word[1], "wb") : nullptr;
  if (file == nullptr) return 3;
  constexpr int n = 4096, rows = 8, columns = n / rows, k = 64;
  uint64_t state = 12345;
  const auto draw = [&] {  // about normal: the sum of four
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += static_cast<float>(state >> 40) / (1 << 24) - 0.5f;
    }
    return 2 * sum;
  };
  std::vector<float> x(n);
  std::vector<__half> a(k * k), b(k * k);
  for (float& v : x) v = draw();
  for (__half& v : a) v = __float2half(draw());
  for (__half& v : b) v = __float2half(draw());
  const float* dx = on_device(x);
  float* y = on_device(std::vector<float>(n));
  blur<<<n / kTile, kTile>>>(dx, y, n);
  put("blur", y, n);
  softmax<<<rows, 128>>>(dx, y, columns);
  put("softmax", y, n);
  rms_norm<<<rows, 32>>>(dx, y, columns);
  put("rms_norm", y, n);
  gated<<<n / 256, 256>>>(dx, y, n);
  put("gated", y, n);
  float* c = on_device(std::vector<float>(k * k));
  multiply<<<dim3(k / 16, k / 16), 32>>>(on_device(a), on_device(b), c, k);
  put("multiply", c, k * k);
  unsigned* counts = on_device(std::vector<unsigned>(64));
  histogram<<<4, 256>>>(dx, counts, n);
  put("histogram", counts, 64);
  rotate<<<n / 128, 128>>>(dx, y);
  put("rotate", y, n);
  double* z = on_device(std::vector<double>(n));
  doubles<<<n / 256, 256>>>(dx, z, n);
  put("doubles", z, n);
  return std::fclose(file) == 0 ? 0 : 4;
}
