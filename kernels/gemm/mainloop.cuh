// The main loop of the NVFP4 kernels for Hopper: what a consumer does with the stages of a ring.
#pragma once
#include "pipeline.cuh"

namespace gemm {

// A consumer thread, with its sums of 64 rows of each of `bs` operands B and `tile_m` of A: sums[b][4 j + 2 h + o] is of row
// row() + 8 h of B and row 8 j + lane % 4 * 2 + o of A. Ring: the addresses of stages in shared memory, and kStages.
template <class Ring, int tile_m, int bs = 1>
struct MainLoop {
  const Ring& ring;
  int peers;  // CTAs that fill the stages
  int group, warp, lane;
  float sums[bs][tile_m / 2];
  Slot slot;  // the next stage to read
  // In stage 0: this thread's codes and scale of the first of its two rows, and the `empty` barrier of the peer that its
  // lane tells.
  uint32_t codes, scales, empty;

  // `thread`: of all consumers. `first_peer`: the rank of the first CTA that fills the stages.
  __device__ MainLoop(const Ring& r, int thread, int peers_, int first_peer)
      : ring(r), peers(peers_), group(thread / 128), warp(thread % 128 / 32), lane(thread % 32) {
    const int at = row();
    codes = ring.b(0) + at * (kStep / 2) + lane % 4 * 8;
    scales = ring.scales(0) + scale_offset(at) + lane % 4;
    empty = ptx::mapa(ring.empty(0), first_peer + min(lane, peers - 1));
  }

  // The first of this thread's rows of B, in the tile.
  __device__ int row() const { return group * 64 + warp * 16 + lane / 4; }

  // This warp is done with the stage, in every CTA that filled it.
  __device__ void release(int stage) const {
    __syncwarp();
    if (lane < peers) ptx::mbarrier_arrive_remote(empty + stage * 8);
  }

  // A thread's operands of a stage: pairs[b][4 s + i] is register i of wgmma s.
  using Pairs = uint32_t[bs][16];

  // Waits for the next stage and decodes this thread's part: step `step` of `k` elements.
  __device__ void load(int step, int k, Pairs& pairs) const {
    ptx::mbarrier_wait_parity(ring.full(slot.stage), slot.parity);
#pragma unroll
    for (int b = 0; b < bs; ++b) {
      const int at = slot.stage * bs + b;
      uint32_t rows[2][8];
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows eight apart
        const uint2 word = ptx::ld_shared_v2(codes + at * kOperandB + half * 8 * (kStep / 2));
        uint32_t scale = ptx::ld_shared_u8(scales + at * kScaleAtom + half * scale_offset(8));
        if (step * kBlocks + lane % 4 >= k / 16) scale = 0;  // beyond k a scale is padding, perhaps NaN
        decode16(word, scale, rows[half]);
      }
#pragma unroll
      for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          pairs[b][4 * s + 2 * h] = rows[0][2 * s + h];
          pairs[b][4 * s + 2 * h + 1] = rows[1][2 * s + h];
        }
    }
  }

  // Multiplies by the stage that `now` is of; meanwhile loads the next one.
  template <bool bf16, class Load>
  __device__ void step(int i, int first, int end, const Pairs& now, Pairs& next, Load load) {
    const int stage = slot.stage;
    const uint64_t a = ptx::wgmma_descriptor_128b(ring.a(stage));
    ptx::wgmma_fence();
#pragma unroll
    for (int b = 0; b < bs; ++b)
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        if constexpr (bf16)
          ptx::wgmma_f32_bf16<tile_m>(sums[b], now[b] + 4 * s, a + 2 * s);
        else
          ptx::wgmma_f32_f16<tile_m>(sums[b], now[b] + 4 * s, a + 2 * s);
      }
    ptx::wgmma_commit_group();
    slot.template advance<Ring::kStages>();
    ptx::wgmma_wait_group<1>();
    if (i > first) release((stage == 0 ? Ring::kStages : stage) - 1);
    if (i + 1 < end) load(i + 1, next);
  }

  // Adds the products of steps `first` to `end`, a stage each: load(step, pairs) waits for it.
  template <bool bf16, class Load>
  __device__ void add(int first, int end, Load load) {
    Pairs even;
    Pairs odd;
    int i = first;
    if (i >= end) return;
    load(i, even);
    while (true) {
      step<bf16>(i, first, end, even, odd, load);
      if (++i == end) break;
      step<bf16>(i, first, end, odd, even, load);
      if (++i == end) break;
    }
    ptx::wgmma_wait_group<0>();
    release((slot.stage == 0 ? Ring::kStages : slot.stage) - 1);
  }

  // The sums over steps `first` to `end` of k.
  __device__ void multiply(int first, int end, int k) {
#pragma unroll
    for (auto& of_b : sums)
#pragma unroll
      for (float& s : of_b) s = 0;
    add<false>(first, end, [&](int i, Pairs& pairs) { load(i, k, pairs); });
  }
};

}  // namespace gemm
