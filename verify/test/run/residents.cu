// Kernels whose CTAs wait for each other through global memory, in the ways that programs do.
#include <cstdint>

namespace {

__device__ uint32_t seen(const uint32_t* flag) { return *reinterpret_cast<const volatile uint32_t*>(flag); }

// All CTAs meet: a count that every one raises and thread 0 polls.
__device__ void meet(uint32_t* arrived, uint32_t times) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (seen(arrived) < times * gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}

}  // namespace

// Rounds of value[i] = 3 * value[i] + value[i + 1], CTA i's, around a ring; both halves of `values` in turn.
extern "C" __global__ void grid_barrier(uint32_t* values, uint32_t* arrived, uint32_t rounds) {
  for (uint32_t r = 0; r < rounds; ++r) {
    const volatile uint32_t* from = values + r % 2 * gridDim.x;
    volatile uint32_t* to = values + (r + 1) % 2 * gridDim.x;
    if (threadIdx.x == 0) to[blockIdx.x] = 3 * from[blockIdx.x] + from[(blockIdx.x + 1) % gridDim.x];
    meet(arrived, r + 1);
  }
}

// The same with one barrier, and a wait whose pauses grow and are counted: registers that never repeat.
extern "C" __global__ void patient_barrier(uint32_t* values, uint32_t* arrived, uint32_t* waits) {
  if (threadIdx.x != 0) return;
  atomicAdd(values, blockIdx.x);
  __threadfence();
  atomicAdd(arrived, 1);
  uint32_t pause = 1;
  uint64_t count = 0;
  while (seen(arrived) < gridDim.x) {
    __nanosleep(pause);
    pause = pause < 1024 ? 2 * pause : pause;
    ++count;
  }
  waits[blockIdx.x] = count == 0 ? 1 : seen(values);
}

// Split k with an owner: of the `splits` CTAs of an output the first adds what the others bring, in their order.
extern "C" __global__ void owner_first(const uint32_t* input, uint32_t* partial, uint32_t* ready, uint32_t* output,
                                       uint32_t splits) {
  const uint32_t tile = blockIdx.x / splits;
  const uint32_t split = blockIdx.x % splits;
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = input[at] * (split + 1);
  if (split != 0) {
    partial[at] = sum;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&ready[blockIdx.x], 1);
    return;
  }
  for (uint32_t s = 1; s < splits; ++s) {
    if (threadIdx.x == 0)
      while (atomicAdd(&ready[blockIdx.x + s], 0) == 0) {
      }
    __syncthreads();
    __threadfence();
    sum = sum * 5 + reinterpret_cast<volatile uint32_t*>(partial)[at + s * blockDim.x];
  }
  output[tile * blockDim.x + threadIdx.x] = sum;
}

// A scan in one pass (decoupled look-back): a CTA's word holds its own sum (top bits 1), later the sum of all
// up to it (2). `reverse`: the CTAs that start first look back furthest.
extern "C" __global__ void look_back(const uint32_t* input, uint32_t* words, uint32_t* output, uint32_t reverse) {
  constexpr uint32_t own = 1u << 30, all = 2u << 30, value = own - 1;
  if (threadIdx.x != 0) return;
  const uint32_t tile = reverse != 0 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const uint32_t sum = input[tile];
  atomicExch(&words[tile], (tile == 0 ? all : own) | sum);
  uint32_t before = 0;
  for (uint32_t i = tile; i > 0; --i) {
    uint32_t word = 0;
    do word = seen(&words[i - 1]);
    while (word == 0);
    before += word & value;
    if ((word & all) != 0) break;
  }
  if (tile != 0) atomicExch(&words[tile], all | (before + sum));
  output[tile] = before + sum;
}

// Stream-K: `tiles` of `steps` each in one row, which the CTAs share evenly. Who has a tile's first step waits
// for those that have its others, and adds them up.
extern "C" __global__ void stream_k(const uint32_t* input, uint32_t* partial, uint32_t* ready, uint32_t* output,
                                    uint32_t tiles, uint32_t steps) {
  if (threadIdx.x != 0) return;
  const uint32_t all = tiles * steps;
  const auto start = [&](uint32_t cta) { return cta * all / gridDim.x; };
  uint32_t at = start(blockIdx.x);
  const uint32_t end = start(blockIdx.x + 1);
  while (at < end) {
    const uint32_t tile = at / steps;
    const uint32_t stop = min(end, (tile + 1) * steps);
    const bool owner = at % steps == 0;
    uint32_t sum = 0;
    for (; at < stop; ++at) sum += input[at];
    if (!owner) {
      partial[blockIdx.x] = sum;
      __threadfence();
      atomicExch(&ready[blockIdx.x], 1);
      continue;
    }
    for (uint32_t cta = blockIdx.x + 1; start(cta) < (tile + 1) * steps; ++cta) {
      while (seen(&ready[cta]) == 0) __nanosleep(100);
      __threadfence();
      sum += seen(&partial[cta]);
    }
    output[tile] = sum;
  }
}
