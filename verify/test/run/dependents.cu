// Launches that overlap: CUDA's programmatic dependent launch.
#include <cstdint>

namespace {

__device__ uint32_t place() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace

// x[i] = 3 * i + 1, when the launch behind this one may have started.
extern "C" __global__ void produce(uint32_t* x) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[place()] = 3 * place() + 1;
}

// Only lets it start.
extern "C" __global__ void let_start() { cudaTriggerProgrammaticLaunchCompletion(); }

// x[i] = 3 * i + 1 without letting it start.
extern "C" __global__ void produce_silently(uint32_t* x) { x[place()] = 3 * place() + 1; }

// y[i] = x[i] + 10, with the wait for the launch before, and without.
extern "C" __global__ void consume(const uint32_t* x, uint32_t* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  y[place()] = x[place()] + 10;
}
extern "C" __global__ void consume_hastily(const uint32_t* x, uint32_t* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  y[place()] = x[place()] + 10;
}

// Waits for what only the launch behind it writes.
extern "C" __global__ void wait_for_flag(const uint32_t* flag, uint32_t lets_start) {
  if (lets_start != 0) cudaTriggerProgrammaticLaunchCompletion();
  while (*reinterpret_cast<const volatile uint32_t*>(flag) == 0) {
  }
}
extern "C" __global__ void raise_flag(uint32_t* flag) { *flag = 1; }
