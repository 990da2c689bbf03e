// Texture objects: of linear memory, of rows with a pitch; "array": what bitwell has not; "past": more than there is.
#include <cstdio>
#include <cstring>

__global__ void linear(cudaTextureObject_t t, float* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = tex1Dfetch<float>(t, i - 1);  // outside is 0
}
__global__ void pairs(cudaTextureObject_t t, int* out) {
  const int2 v = tex1Dfetch<int2>(t, static_cast<int>(threadIdx.x));
  out[threadIdx.x] = v.x - v.y;
}
__global__ void rows(cudaTextureObject_t t, unsigned* out) {
  const float x = static_cast<float>(threadIdx.x), y = static_cast<float>(threadIdx.y);
  out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<unsigned>(t, x + 0.5f, y - 0.5f);
}

template <class T>
T* filled(const T* from, int count) {
  T* out = nullptr;
  cudaMalloc(&out, count * sizeof(T));
  cudaMemcpy(out, from, count * sizeof(T), cudaMemcpyHostToDevice);
  return out;
}

int main(int words, char** word) {
  const char* const which = words > 1 ? word[1] : "";
  int wrong = 0;
  float x[64], y[64];
  int z[32];
  for (int i = 0; i < 64; ++i) x[i] = 0.5f * i;
  float *const dx = filled(x, 64), *const dy = filled(x, 64);
  cudaResourceDesc resource{};
  cudaTextureDesc how{};
  cudaTextureObject_t texture = 0;
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = dx;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = std::strcmp(which, "past") == 0 ? 260 : 256;
  if (std::strcmp(which, "array") == 0) {
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = nullptr;
  }
  std::printf("linear: %s\n", cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, nullptr)));
  linear<<<1, 64>>>(texture, dy, 64);
  cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
  if (which[0] != 0) return 0;
  for (int i = 0; i < 64; ++i) wrong += y[i] != (i == 0 ? 0.0f : x[i - 1]);
  cudaDestroyTextureObject(texture);

  int pairs_of[64];
  for (int i = 0; i < 64; ++i) pairs_of[i] = i * i;
  resource.res.linear.devPtr = filled(pairs_of, 64);
  resource.res.linear.desc = cudaCreateChannelDesc<int2>();
  std::printf("pairs: %s\n", cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, nullptr)));
  pairs<<<1, 32>>>(texture, reinterpret_cast<int*>(dy));
  cudaMemcpy(z, dy, sizeof z, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) wrong += z[i] != pairs_of[2 * i] - pairs_of[2 * i + 1];

  unsigned char bytes[4][10], *pitched = nullptr;
  size_t pitch = 0;
  for (int i = 0; i < 40; ++i) bytes[i / 10][i % 10] = static_cast<unsigned char>(7 * i);
  cudaMallocPitch(&pitched, &pitch, 10, 4);
  cudaMemcpy2D(pitched, pitch, bytes, 10, 10, 4, cudaMemcpyHostToDevice);
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = pitched;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
  resource.res.pitch2D.width = 10;
  resource.res.pitch2D.height = 4;
  resource.res.pitch2D.pitchInBytes = pitch;
  how.addressMode[0] = cudaAddressModeClamp;
  how.addressMode[1] = cudaAddressModeBorder;
  std::printf("rows: %s\n", cudaGetErrorName(cudaCreateTextureObject(&texture, &resource, &how, nullptr)));
  rows<<<1, dim3(12, 5)>>>(texture, reinterpret_cast<unsigned*>(dy));
  unsigned seen[60];
  cudaMemcpy(seen, dy, sizeof seen, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 60; ++i)
    wrong += seen[i] != (i / 12 == 0 ? 0u : bytes[i / 12 - 1][i % 12 < 10 ? i % 12 : 9]);
  std::printf("%s, %d wrong\n", cudaGetErrorName(cudaDeviceSynchronize()), wrong);
  return wrong != 0;
}
