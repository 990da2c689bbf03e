// The fastest: A streamed once, as fast as memory gives it.
//
// k is cut into spans of 1024, 32 elements a lane. A unit is four rows 32 apart, whose blocked scales are 16 bytes. Sixteen
// warps keep a span of b each in registers and multiply; one copies units and their scales into a ring of shared memory; one
// adds the spans' sums in order of k and writes c, so that the bits depend on no launch shape. Where k is long and rows are few
// the CTAs of a cluster, (1, y, 1), share k, and the first of them adds.
//
// Shapes: any m, l up to 65535, k a multiple of 32. Grid (x, cluster size y, l), y a power of two; a CTA without a slot would hang:
// x is Work::slots at most. Where k takes passes, kTotals rows a CTA at most. Dynamic shared memory: sizeof(Shared).
#include <cstddef>
#include <type_traits>

#include "row_sum.cuh"
#include "streamed.cuh"

namespace {

using namespace gemv;

// When the mbarriers are there, in every CTA of the cluster.
__device__ __forceinline__ void begin(const Work& work) {
  __syncwarp();
  if (work.ctas == 1) {
    ptx::barrier_sync(1, kThreads);
  } else {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait();
  }
}

// For a phase at which other CTAs of the cluster may arrive.
__device__ __forceinline__ void wait(const Work& work, uint32_t barrier, uint32_t parity) {
  if (work.ctas == 1)
    ptx::mbarrier_wait_parity(barrier, parity);
  else
    ptx::mbarrier_wait_parity_cluster(barrier, parity);
}

// A slot's part of A, its runs of rows by a lane each.
__device__ __forceinline__ void copy_codes(const Work& work, Shared& shared, const uint8_t* a, uint32_t m, uint32_t k,
                                           uint32_t pass, uint32_t slot, uint32_t place) {
  const uint32_t lane = threadIdx.x % 32;
  if (lane < kUnitRows) {
    const uint32_t row = work.row(slot, lane);
    const uint32_t rows = min(m - min(m, row), work.groups());
    const uint32_t width = work.width(pass, k);
    const uint8_t* from = a + (size_t(blockIdx.z) * m + row) * (k / 2) + work.first_span(pass, work.rank) * kSpanBytes;
    const uint32_t to = ptx::shared_address(shared.codes[place][lane]);
    const uint32_t full = ptx::shared_address(&shared.slots[place].full);
    const uint32_t bytes = rows * width;
    ptx::mbarrier_arrive_expect_tx(full, bytes);
    if (bytes > 0) {
      if (width < k / 2 && rows > 1) {
#pragma unroll 1
        for (uint32_t i = 0; i < rows; ++i) ptx::cp_async_bulk(to + i * width, from + size_t(i) * (k / 2), width, full);
      } else {  // rows follow each other
        ptx::cp_async_bulk(to, from, bytes, full);
      }
    }
  }
  __syncwarp();
}

// The warp that copies: slot after slot into the ring, runs of rows and their blocked scales.
__device__ __forceinline__ void copy(const Work& work, Shared& shared, const uint8_t* a, const uint8_t* sfa, bool blocked,
                                     uint32_t m, uint32_t k) {
  const uint32_t lane = threadIdx.x % 32;
  const auto start_full = [&](uint32_t place) {
    ptx::mbarrier_init(ptx::shared_address(&shared.slots[place].full), kUnitRows + 32);
  };
  if (lane == 0) {
    start_full(0);
    ptx::fence_mbarrier_init();
  }
  __syncwarp();
  copy_codes(work, shared, a, m, k, 0, blockIdx.x, 0);
  const uint32_t atoms = (k + 63) / 64;
  const uint32_t unit = lane % work.groups();
  const uint32_t pitch = (32 >> work.log_groups) * 512;  // of scales that a lane copies
  Turn turn;
  bool first_slot = true;
#pragma unroll 1
  for (uint32_t pass = 0; pass < work.passes; ++pass) {
    const uint32_t first_atom = work.first_span(pass, work.rank) * (kSpan / 64);
    const uint8_t* of_scales =
        sfa + (size_t(blockIdx.z) * ((m + 127) / 128) * atoms + first_atom + (lane >> work.log_groups)) * 512;
    // Tiles of scales times units, each 16 bytes.
    const uint32_t pieces = blocked ? min(atoms - min(atoms, first_atom), work.columns * (kSpan / 64)) << work.log_groups : 0;
#pragma unroll 1
    for (uint32_t slot = blockIdx.x; slot < work.slots; slot += gridDim.x, turn.next(kSlots)) {
      Slot& own = shared.slots[turn.place];
      const uint32_t first = work.row(slot, 0);
      const uint8_t* scales_from = of_scales + (size_t(first / 128) * atoms * 32 + first % 32 + unit) * 16;
      uint32_t scales_to = ptx::shared_address(shared.scales[turn.place][lane]);
      const uint32_t mine = first + unit < m ? pieces : 0;
      if (!first_slot) {
        wait(work, ptx::shared_address(&own.empty), turn.parity ^ 1);
        copy_codes(work, shared, a, m, k, pass, slot, turn.place);
      }
#pragma unroll 4
      for (uint32_t i = lane; i < mine; i += 32, scales_to += 512, scales_from += pitch)
        ptx::cp_async_16(scales_to, scales_from);
      ptx::cp_async_mbarrier_arrive_noinc(ptx::shared_address(&own.full));
      if (!first_slot) continue;
      first_slot = false;
      if (lane == 0) {
        for (uint32_t i = 1; i < kSlots; ++i) start_full(i);
        for (uint32_t i = 0; i < kSlots; ++i) ptx::mbarrier_init(ptx::shared_address(&shared.slots[i].empty), kWarps + 1);
        for (uint32_t i = 0; i < kRounds; ++i) ptx::mbarrier_init(ptx::shared_address(&shared.done[i]), kWarps * work.ctas);
        ptx::fence_mbarrier_init();
      }
      begin(work);  // after the first slot, which is on its way early; before the next, which would delay b
    }
  }
}

// The warp that adds, of the cluster's first CTA: a lane a row or two, the spans' sums in order of k.
__device__ __forceinline__ void add(const Work& work, Shared& shared, uint16_t* c, uint32_t m) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t rows = work.rows();
  begin(work);
  Turn round;
  Turn turn;
  // Each slot is refilled after the sum of the one before it, so that no sums are overwritten before they are added.
  if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.slots[0].empty));
  if (work.rank != 0) return;
#pragma unroll 1
  for (uint32_t pass = 0; pass < work.passes; ++pass) {
    float* totals = shared.totals;
    const uint32_t spans = work.spans_of(pass, 0);
#pragma unroll 1
    for (uint32_t slot = blockIdx.x; slot < work.slots; slot += gridDim.x, totals += rows) {
      const uint32_t done = ptx::shared_address(&shared.done[round.place]);
      wait(work, done, round.parity);
#pragma unroll 1
      for (uint32_t i = lane; i < rows; i += 32) {
        const uint32_t row = work.row(slot, i % kUnitRows) + i / kUnitRows;
        if (row >= m) continue;
        const uint32_t own = ptx::shared_address(&shared.partials[round.place][i]);
        float& kept = totals[i];
        float total = pass == 0 ? 0.0f : kept;
        if (work.ctas == 1) {
#pragma unroll
          for (uint32_t s = 0; s < kWarps; ++s)  // all loads at once
            if (s < spans) total = total + ptx::ld_shared_f32(own + s * rows * 4);
        } else {
          for (uint32_t cta = 0; cta < work.ctas; ++cta) {
            const uint32_t of = ptx::mapa(own, cta);
            const uint32_t end = work.spans_of(pass, cta);
            for (uint32_t s = 0; s < end; ++s) total = total + ptx::ld_shared_cluster_f32(of + s * rows * 4);
          }
        }
        if (pass + 1 < work.passes)
          kept = total;
        else
          c[size_t(blockIdx.z) * m + row] = ptx::cvt_rn_f16_f32(total * 16.0f);
      }
      __syncwarp();
      round.next(kRounds);
      turn.next(kSlots);
      const uint32_t empty = ptx::shared_address(&shared.slots[turn.place].empty);
      if (work.ctas == 1) {
        if (lane == 0) ptx::mbarrier_arrive(empty);
      } else if (lane < work.ctas) {
        ptx::mbarrier_arrive_release_cluster(ptx::mapa(empty, lane));
      }
    }
  }
}

// A warp that multiplies.
template <class Layout>
__device__ __forceinline__ void multiply(const Work& work, Shared& shared, const uint8_t* b, const uint8_t* sfa,
                                         const uint8_t* sfb, uint32_t m, uint32_t k) {
  constexpr bool kBlocked = std::is_same_v<Layout, Blocked>;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t group = warp >> (4 - work.log_groups);
  const uint32_t column = warp % (kWarps >> work.log_groups);
  Turn turn;
  Turn round;
#pragma unroll 1
  for (uint32_t pass = 0; pass < work.passes; ++pass) {
    const uint32_t span = work.first_span(pass, work.rank) + column;
    const bool is = column < work.spans_of(pass, work.rank);
    const uint32_t inside = is ? min(32, (k - span * kSpan) / 32) : 0;  // lanes that hold elements
    const uint32_t at = span * kSpan + lane * 32;
    uint4 codes_b = make_uint4(0, 0, 0, 0);
    uint16_t scales_b = 0;
    if (lane < inside) {
      codes_b = __ldg(reinterpret_cast<const uint4*>(b + size_t(blockIdx.z) * (k / 2) + at / 2));
      scales_b = __ldg(reinterpret_cast<const uint16_t*>(sfb + Layout::offset(0, 1, at / 16, k / 16, blockIdx.z)));
    }
    if (pass == 0) begin(work);
    const Magnitudes of;
    const uint32_t one = held(kOne);
    const Kept kept(codes_b, scales_b, of);
    // Lanes past the end of k hold zeros for b, and read what lane 0 reads; warps without a span read what warp 0 reads.
    const uint32_t width = work.width(pass, k);
    const uint32_t codes = held(ptx::shared_address(shared.codes) + (is ? group * width + column * kSpanBytes : 0) +
                                (lane < inside ? lane * 16 : 0));
    const uint32_t piece = is ? ((column * (kSpan / 64) + (lane < inside ? lane / 2 : 0)) << work.log_groups) + group : 0;
    const uint32_t scales = held(ptx::shared_address(shared.scales) + piece * 16 + (lane < inside ? lane % 2 * 2 : 0));
    const uint32_t slots = held(ptx::shared_address(shared.slots));
    const uint32_t own_done = ptx::shared_address(shared.done);
    const uint32_t done = held(work.ctas == 1 ? own_done : ptx::mapa(own_done, 0));
    const uint32_t to = held(ptx::shared_address(&shared.partials[0][column * work.rows() + group * kUnitRows + lane / 8]));
    const uint32_t stores = held(is && lane % 8 == 0);
    const uint32_t end = held(work.slots);
#pragma unroll 1
    for (uint32_t slot = blockIdx.x; slot < end; slot += gridDim.x) {
      const uint32_t own = slots + turn.place * sizeof(Slot);
      const uint32_t from = codes + turn.place * sizeof(Shared::codes[0]);
      uint4 of_a[kUnitRows];
      uint16_t scale_codes[kUnitRows];
      float sums[kUnitRows];
      ptx::mbarrier_wait_parity(own + offsetof(Slot, full), turn.parity);
      __syncwarp();
#pragma unroll
      for (uint32_t i = 0; i < kUnitRows; ++i) {
        if constexpr (kBlocked) {
          scale_codes[i] = ptx::ld_shared_u16(scales + turn.place * sizeof(Shared::scales[0]) + i * 4);
        } else {
          const uint32_t row = work.row(slot, i) + group;
          scale_codes[i] = row < m && lane < inside
                               ? __ldg(reinterpret_cast<const uint16_t*>(
                                     sfa + Layout::offset(row, m, at / 16, k / 16, blockIdx.z)))
                               : 0;
        }
      }
#pragma unroll
      for (uint32_t i = 0; i < kUnitRows; ++i) of_a[i] = ptx::ld_shared_v4(from + i * sizeof(Shared::codes[0][0]));
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(own + offsetof(Slot, empty));
#pragma unroll
      for (uint32_t i = 0; i < kUnitRows; ++i) sums[i] = row_sum(of_a[i], scale_codes[i], kept, of, one);
      const float sum = warp_sums(sums, lane);
      if (stores) ptx::st_shared_f32(to + round.place * sizeof(Shared::partials[0]), sum);
      __syncwarp();
      if (lane == 0) {
        const uint32_t of_round = done + round.place * sizeof(uint64_t);
        if (work.ctas == 1)
          ptx::mbarrier_arrive(of_round);
        else
          ptx::mbarrier_arrive_release_cluster(of_round);
      }
      turn.next(kSlots);
      round.next(kRounds);
    }
  }
}

// Alone: not in a cluster, which lets the compiler leave out what a cluster needs. ptxas puts the last branch first: the warp that
// copies waits least for instructions, which no cache has at a kernel's start.
template <class Layout, bool alone>
__device__ __forceinline__ void run(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                                    uint32_t m, uint32_t k) {
  extern __shared__ __align__(128) uint8_t memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const Work work(m, k, alone ? 1 : gridDim.y, alone ? 0 : blockIdx.y);
  const uint32_t warp = threadIdx.x / 32;
  if (warp < kWarps)
    multiply<Layout>(work, shared, b, sfa, sfb, m, k);
  else if (warp > kWarps)
    add(work, shared, c, m);
  else
    copy(work, shared, a, sfa, std::is_same_v<Layout, Blocked>, m, k);
  if (alone) return;
  __syncwarp();
  ptx::barrier_cluster_arrive_release();  // no CTA ends while another reads its sums or arrives at its mbarriers
  ptx::barrier_cluster_wait();
}

template <class Layout>
__device__ void streamed(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c,
                         uint32_t m, uint32_t k, int) {
  if (gridDim.y > 1)
    run<Layout, false>(a, b, sfa, sfb, c, m, k);
  else
    run<Layout, true>(a, b, sfa, sfb, c, m, k);
}

}  // namespace

GEMV_ENTRIES(streamed, kThreads, 1)
