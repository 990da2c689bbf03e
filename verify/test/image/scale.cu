// A kernel, for its PTX inside what compilers make of it.
extern "C" __global__ void scale(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 2.0f * x[i];  // the line that the text keeps its number of
}
