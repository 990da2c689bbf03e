// Where memory stands and what it holds: allocations CASE.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ int first[64], second[64];
__device__ float table[64], misaligned_rows[4];

__global__ void count(int* y, int n) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) y[i] = i;
}
__global__ void both() { first[threadIdx.x] = second[threadIdx.x]; }
__global__ void fill() { table[threadIdx.x] = static_cast<float>(threadIdx.x); }
__global__ void fetch(cudaTextureObject_t t, float* y) { y[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
__global__ void rows(cudaTextureObject_t t, float* y, float row) { y[threadIdx.x] = tex2D<float>(t, 0, row); }
__global__ void behind(int n) { misaligned_rows[n] = 1; }
__global__ void wide(double* y) { y[50] = 1; }
__global__ void says(const char* text) { printf("[%s]\n", text); }
__global__ void __cluster_dims__(2, 1, 1) pairs() {}

namespace {

// 4096 bytes in each of two blocks side by side: the kernel writes one word more into the lower one.
template <class Allocate>
void overrun(Allocate allocate) {
  int *a = nullptr, *b = nullptr;
  allocate(&a);
  allocate(&b);
  count<<<1, 32>>>(a < b ? a : b, 1025);
}

cudaResourceDesc over(void* memory) {
  cudaResourceDesc out{};
  out.resType = cudaResourceTypeLinear;
  out.res.linear = {memory, cudaCreateChannelDesc<float>(), 256};
  return out;
}

}  // namespace

int main(int words, char** word) {
  const auto is = [&](const char* name) { return words > 1 && std::strcmp(word[1], name) == 0; };
  int* p = nullptr;
  cudaMalloc(&p, 404);
  float host[64] = {};
  if (is("managed")) overrun([](int** out) { cudaMallocManaged(out, 4096); });
  if (is("pinned")) overrun([](int** out) { cudaMallocHost(out, 4096); });
  if (is("variables")) {
    void *a = nullptr, *b = nullptr;
    cudaGetSymbolAddress(&a, first);
    cudaGetSymbolAddress(&b, second);
    char *const low = static_cast<char*>(a < b ? a : b), *const high = static_cast<char*>(a < b ? b : a);
    const size_t bytes = static_cast<size_t>(high - low) + sizeof first;
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy(std::malloc(bytes), low, bytes, cudaMemcpyDeviceToHost)));
  }
  if (is("texture")) {
    void* symbol = nullptr;
    cudaGetSymbolAddress(&symbol, table);
    cudaPointerAttributes known{};
    cudaPointerGetAttributes(&known, static_cast<float*>(symbol) + 1);
    cudaTextureObject_t texture = 0;
    const cudaResourceDesc resource = over(symbol);
    const cudaTextureDesc how{};
    const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    fill<<<1, 64>>>();
    fetch<<<1, 64>>>(texture, reinterpret_cast<float*>(p));
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%s, of the device: %d, %g\n", cudaGetErrorName(error), known.type == cudaMemoryTypeDevice, host[5]);
  }
  if (is("huge")) {  // whose bytes do not fit into 64 bits
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {p, cudaCreateChannelDesc<float>(), 1, (size_t{1} << 55) + 1, 512};
    cudaTextureObject_t texture = 0;
    const cudaTextureDesc how{};
    const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    std::printf("%s\n", cudaGetErrorName(error));
    if (error == cudaSuccess) rows<<<1, 1>>>(texture, reinterpret_cast<float*>(p), 1e8F);
  }
  if (is("name")) behind<<<1, 1>>>(4);
  if (is("wide")) wide<<<1, 1>>>(reinterpret_cast<double*>(p));
  if (is("string")) says<<<1, 1>>>(reinterpret_cast<const char*>(p));
  if (is("copies")) {  // of what nobody has written, to what the host reads too
    void *pinned = nullptr, *managed = nullptr, *other = nullptr;
    cudaMallocHost(&pinned, 400);
    cudaMallocManaged(&managed, 400);
    cudaMalloc(&other, 400);
    for (void* to : {pinned, managed, other}) cudaMemcpy(to, p, 400, cudaMemcpyDefault);
  }
  if (is("free")) {
    size_t before = 0, after = 0, all = 0;
    void* pinned = nullptr;
    cudaMemGetInfo(&before, &all);
    cudaMallocHost(&pinned, 1 << 20);
    cudaMemGetInfo(&after, &all);
    std::printf("%zu\n", before - after);
  }
  if (is("large")) {
    void* much = nullptr;
    std::printf("%s\n", cudaGetErrorName(cudaMalloc(&much, size_t{100} << 30)));
    cudaGetLastError();
  }
  if (is("cluster")) {  // of 2^32 CTAs
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {65536, 65536, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    int active = 0;
    std::printf("%s\n", cudaGetErrorName(cudaOccupancyMaxActiveClusters(&active, pairs, &config)));
    return 0;
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
