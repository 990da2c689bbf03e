// The least that launches a kernel, for what is asked of a program's wrapping alone.
__device__ int counter = 5;
__global__ void count() { atomicAdd(&counter, 1); }

int main() {
  int value = 0;
  count<<<1, 32>>>();
  count<<<2, 32>>>();
  return cudaMemcpyFromSymbol(&value, counter, sizeof value) != cudaSuccess || value != 5 + 96;
}
