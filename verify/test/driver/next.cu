// Of an architecture that bitwell has no device of: what CUDA and NVML say of the device that runs it. With an
// argument, two races between the same two lines.
#include <dlfcn.h>

#include <cstdio>

__global__ void pairs(int* out) {
  __shared__ int a, b;
  if (threadIdx.x == 0) a = out[0], b = out[1];
  if (threadIdx.x >= 32) out[threadIdx.x] = a + 2 * b;
}

int main(int words, char**) {
  int* out = nullptr;
  cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  if (words > 1) {
    pairs<<<1, 64>>>(out);
    return cudaDeviceSynchronize();
  }
  void *const nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW), *device = nullptr;
  if (nvml == nullptr) return 1;
  int major = 0, minor = 0;
  reinterpret_cast<int (*)(unsigned, void**)>(dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2"))(0, &device);
  reinterpret_cast<int (*)(void*, int*, int*)>(dlsym(nvml, "nvmlDeviceGetCudaComputeCapability"))(
      device, &major, &minor);
  pairs<<<1, 32>>>(out);
  std::printf("%d.%d, %s\n", major, minor, cudaGetErrorName(cudaDeviceSynchronize()));
}
