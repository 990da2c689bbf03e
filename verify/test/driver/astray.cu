// Writes astray: `near` by one element, which a GPU does not see, `far` by so much that it does.
#include <cstdio>
#include <cstring>

__device__ int bias = 3;

__global__ void fill(int* y, int n, long stride) {
  const long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i == n ? n + stride : i] = static_cast<int>(i) + bias;
}

int main(int words, char** word) {
  const bool far = words > 1 && std::strcmp(word[1], "far") == 0;
  int *y = nullptr, last = 0;
  if (cudaMalloc(&y, 400) != cudaSuccess) return 2;
  cudaMemset(y, 0, 400);
  fill<<<4, 32>>>(y, 100, far ? 1L << 36 : 0);
  const cudaError_t error = cudaMemcpy(&last, y + 99, 4, cudaMemcpyDeviceToHost);
  std::printf("the last is %d, %s\n", last, cudaGetErrorName(error));
}
