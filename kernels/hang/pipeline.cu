// A two-stage pipeline, one warp that copies and one that adds up, and the ways to get its barriers wrong: compiled
// once for each value of BITWELL_MISTAKE.
#include <cstdint>

#include "../ptx.cuh"

#define CORRECT 0
#define WRONG_INITIAL_PHASE 1
#define COUNT_MISMATCH 2
#define UNDER_ARRIVAL 3
#define BYTE_MISMATCH 4
#define LAPPED_PHASE 5
#define UNINITIALISED 6
#define EXITED_PEER 7
#define OVER_ARRIVAL 8
#define BYTE_OVERFLOW 9

constexpr int kStages = 2;
constexpr int kWords = 256;  // of a stage

// sums[lane]: over `tiles` tiles of 256 words each, the words lane, lane + 32, ... One CTA of 64 threads.
extern "C" __global__ void __launch_bounds__(64) pipeline(const uint32_t* words, uint32_t* sums, int tiles) {
  __shared__ alignas(128) uint32_t stage[kStages][kWords];
  __shared__ uint64_t full[kStages];   // bytes have come
  __shared__ uint64_t empty[kStages];  // the consumer is done with them
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      if (BITWELL_MISTAKE != UNINITIALISED || s == 0) ptx::mbarrier_init(ptx::shared_address(&full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&empty[s]), BITWELL_MISTAKE == COUNT_MISMATCH ? 64 : 32);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (warp == 0) {
    if (lane != 0) return;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      const uint32_t round = static_cast<uint32_t>(i / kStages) & 1;
      // A new barrier's phase 0 is under way, so that parity 1 passes at once: the producer starts there.
      // Starting with parity 0 waits for a consumer who waits for the producer.
      if (BITWELL_MISTAKE != LAPPED_PHASE)
        ptx::mbarrier_wait_parity(ptx::shared_address(&empty[s]), BITWELL_MISTAKE == WRONG_INITIAL_PHASE ? round : round ^ 1);
      const uint32_t bytes = sizeof stage[s];
      ptx::mbarrier_arrive_expect_tx(ptx::shared_address(&full[s]), BITWELL_MISTAKE == BYTE_MISMATCH   ? 2 * bytes
                                               : BITWELL_MISTAKE == BYTE_OVERFLOW ? 1u << 20
                                                                                  : bytes);
      // The lapping producer signals without copying, and without waiting for anyone.
      if (BITWELL_MISTAKE == LAPPED_PHASE)
        ptx::mbarrier_complete_tx(ptx::shared_address(&full[s]), bytes);
      else
        ptx::cp_async_bulk(ptx::shared_address(stage[s]), words + i * kWords, bytes, ptx::shared_address(&full[s]));
    }
  } else {
    uint32_t sum = 0;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      if (BITWELL_MISTAKE == EXITED_PEER && i == 3) return;
      ptx::mbarrier_wait_parity(ptx::shared_address(&full[s]), static_cast<uint32_t>(i / kStages) & 1);
      if (BITWELL_MISTAKE != LAPPED_PHASE)
        for (int w = lane; w < kWords; w += 32) sum += stage[s][w];
      if (BITWELL_MISTAKE != UNDER_ARRIVAL || i < 3 || lane < 16)
        ptx::mbarrier_arrive(ptx::shared_address(&empty[s]), BITWELL_MISTAKE == OVER_ARRIVAL ? 3 : 1);
    }
    sums[lane] = sum;
  }
}
