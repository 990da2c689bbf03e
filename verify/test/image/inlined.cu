// Functions inside of functions, in two kernels and a function that is called: whose CUDA lines machine code keeps
// apart from its PTX.
__device__ __forceinline__ float twice(const float* p, int i) {
  return 2 * p[i];
}
__device__ __forceinline__ float both(const float* p, int i) {
  return twice(p, i) +
         twice(p, i + 32);
}
__noinline__ __device__ void put(float* p, int i) {
  p[i] = twice(p, i + 7);
}
__global__ void one(float* p) {
  p[threadIdx.x] = both(p, static_cast<int>(threadIdx.x));
}
__global__ void two(float* p) {
  __shared__ float s[64];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  asm volatile("{ .reg .b32 r;\n\n mov.b32 r, 5;\n"
               " st.global.u32 [%0],\n\n r; }" ::"l"(p));
  p[threadIdx.x] = both(s, static_cast<int>(threadIdx.x) % 32);
  put(p, 3);
}
