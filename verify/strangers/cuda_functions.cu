// The special functions of CUDA C++, fast and precise.
extern "C" __global__ void waves(const float* in, float* fast, float* precise) {
  const int i = threadIdx.x;
  fast[i] = __sinf(in[i]) + __logf(1 + in[i] * in[i]);
  precise[i] = sinf(in[i]) + logf(1 + in[i] * in[i]);
}
