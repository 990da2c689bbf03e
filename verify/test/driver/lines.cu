// An overrun in an inlined function, or with an argument a race: for the lines that messages name. With "all", both.
#include <cstdlib>
#include <cstring>

// One too far.
__global__ void count(int* bins, int n) {
  const int i = static_cast<int>(threadIdx.x) % n;
  if (i >= 0) atomicAdd(&bins[i + 1], 1);
}
__global__ void races(int* out) {
  __shared__ int first;
  if (threadIdx.x == 0) first = *out;
  if (threadIdx.x >= 32) out[threadIdx.x] = first;
}

__noinline__ __device__ void put(int* bins, int i) { bins[i] = 1; }
__global__ void calls(int* bins) { put(bins + 32, static_cast<int>(threadIdx.x)); }

// Where two CTAs meet in global memory.
__global__ void across(int* out) { out[2] = static_cast<int>(blockIdx.x); }

template <class First, class Second, int n>
__global__ void of_types(First* first, Second*) {
  first[n] = 0;
}

int main(int words, char** word) {
  int* y = nullptr;
  cudaMalloc(&y, 512);
  cudaMemset(y, 0, 512);
  if (words > 1 && std::strcmp(word[1], "calls") == 0) {
    calls<<<1, 32>>>(y + 96);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  if (words > 1 && std::strcmp(word[1], "across") == 0) {
    across<<<2, 1>>>(y);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  if (words > 1 && std::strcmp(word[1], "types") == 0) {
    of_types<long long, unsigned long long, 100><<<1, 1>>>(reinterpret_cast<long long*>(y), nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  if (words > 1) races<<<1, 64>>>(y);
  if (words == 1 || std::strcmp(word[1], "all") == 0) count<<<1, 32>>>(y + 96, 32);
  return cudaDeviceSynchronize() != cudaSuccess && words > 1 ? 1 : 0;
}
