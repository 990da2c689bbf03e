// Copies to the host what nobody has written: the input is never filled, and the grid is too small for the output.
#include <cstdio>

__global__ void scale(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

int main(int count, char**) {
  constexpr int kAll = 256;
  float *x, *y, host[kAll] = {};
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  if (count > 1) cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  scale<<<1, 128>>>(y, x, kAll);
  cudaMemcpy(host, y, sizeof host / 2, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaMemcpy2D(host, 64, y, 128, 64, 8, cudaMemcpyDeviceToHost);
  cudaMemcpy(x, y, sizeof host, cudaMemcpyDeviceToDevice);
  std::printf("%s\n", cudaGetErrorName(error));
}
