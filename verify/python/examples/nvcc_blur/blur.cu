// The mean of each element and its neighbours, by tiles in shared memory.
constexpr int kTile = 128;

extern "C" __global__ void blur(const float* x, float* y, int n) {
  __shared__ float tile[kTile + 2];
  const int i = blockIdx.x * kTile + threadIdx.x;
  tile[threadIdx.x + 1] = i < n ? x[i] : 0;
  if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0;
  if (threadIdx.x == kTile - 1) tile[kTile + 1] = i + 1 < n ? x[i + 1] : 0;
  __syncthreads();
  if (i < n) y[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3;
}
