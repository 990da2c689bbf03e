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

int main(int words, char** word) {
  int* y = nullptr;
  cudaMalloc(&y, 512);
  cudaMemset(y, 0, 512);
  if (words > 1) races<<<1, 64>>>(y);
  if (words == 1 || std::strcmp(word[1], "all") == 0) count<<<1, 32>>>(y + 96, 32);
  return cudaDeviceSynchronize() != cudaSuccess && words > 1 ? 1 : 0;
}
