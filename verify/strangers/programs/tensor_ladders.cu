// Two public ladders of GEMMs by tensor cores, each rung of which is a program: tensor_time.py includes or links the rung's own
// source, which is not kept here. RUNG: the function that launches it. A and B are random numbers of -1 to 1.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void cudaCheck(cudaError_t error, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::printf("%s:%d: %s\n", file, line, cudaGetErrorString(error));
  std::exit(1);
}
#ifdef LADDER  // fast.cu: for Hopper
#include <cuda_bf16.h>
#include <cudaTypedefs.h>

#include <cuda/barrier>
#define cudaCheck(error) cudaCheck(error, __FILE__, __LINE__)
#define CEIL_DIV(m, n) (((m) + (n) - 1) / (n))
using bf16 = __nv_bfloat16;
using Number = bf16;
#include LADDER
#else  // cuda_hgemm: by mma.sync
#include <cuda_fp16.h>
#define cudaCheck(error) cudaCheck(error, __FILE__, __LINE__)
using Number = half;
void RUNG(half* a, half* b, half* c, size_t m, size_t n, size_t k);
#endif

static Number* random_numbers(size_t count) {
  std::vector<Number> numbers(count);
  uint32_t state = 1;
  for (Number& n : numbers) {
    state = state * 1664525u + 1013904223u;
    n = Number(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f);
  }
  Number* out = nullptr;
  cudaCheck(cudaMalloc(&out, count * sizeof(Number)));
  cudaCheck(cudaMemcpy(out, numbers.data(), count * sizeof(Number), cudaMemcpyHostToDevice));
  return out;
}

int main(int, char** argv) {
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  Number *a = random_numbers(size_t(m) * k), *b = random_numbers(size_t(n) * k), *c = random_numbers(size_t(m) * n);
#ifdef NEEDS_COUNTS
  RUNG(m, n, k, a, b, c, nullptr);
#elif defined(LADDER)
  RUNG(m, n, k, a, b, c);
#else
  RUNG(a, b, c, m, n, k);
#endif
  cudaCheck(cudaGetLastError());
  cudaCheck(cudaDeviceSynchronize());
}
