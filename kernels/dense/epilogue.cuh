// From sums in tensor memory to D: four warps, each with 32 rows of the tile, a thread a row.
#pragma once
#include "tiles.cuh"

namespace dense {

// Columns that a thread takes at a time.
constexpr int kColumns = kGroup;

struct Epilogue {
  const Problem& p;
  const Shared& shared;
  uint32_t tensor;  // this warp's lanes
  int warp, lane;
  float alpha, beta;
  int boxes = 0;  // staged so far

  __device__ Epilogue(const Problem& problem, const Shared& s, uint32_t memory)
      : p(problem), shared(s), warp(static_cast<int>(threadIdx.x) / 32), lane(static_cast<int>(threadIdx.x) % 32) {
    tensor = memory + (static_cast<uint32_t>(warp) * 32 << 16);
    alpha = *p.alpha;
    beta = *p.beta;
  }

  __device__ static void load(float (&sums)[kColumns], uint32_t from) {
    ptx::tcgen05_ld_32x32b_x16(sums, from);
    ptx::tcgen05_wait_ld();
  }

  // alpha * sum, or fma(alpha, sum, beta * c) where beta is not zero: C is then not looked at.
  __device__ void scale(float (&v)[kColumns], int row, int column, int z) const {
    const __half* const c = p.c + (static_cast<size_t>(z) * p.m + row) * p.n + column;
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      if (beta == 0)
        v[i] *= alpha;
      else if (row < p.m && column + i < p.n)
        v[i] = ptx::fma_rn_f32(alpha, v[i], beta * __half2float(c[i]));
  }

  __device__ static uint32_t code(float v) {
    if constexpr (kV.output == Output::f32) return __float_as_uint(v);
    if constexpr (kV.output == Output::bf16) return __bfloat16_as_ushort(__float2bfloat16_rn(v));
    return __half_as_ushort(__float2half_rn(v));
  }

  __device__ void store(const float (&v)[kColumns], int row, int column, int z) const {
    if (row >= p.m) return;
    const size_t first = (static_cast<size_t>(z) * p.m + row) * p.n;
    for (int i = 0; i < kColumns; ++i) {
      if (column + i >= p.n) continue;
      if constexpr (kV.output == Output::f32)
        static_cast<uint32_t*>(p.d)[first + column + i] = code(v[i]);
      else
        static_cast<uint16_t*>(p.d)[first + column + i] = static_cast<uint16_t>(code(v[i]));
    }
  }

  // 16 columns as E2M1 under one scale: a sixth of the largest, as E4M3. Returns the scale.
  __device__ uint32_t quantise(const float (&v)[kColumns], int row, int column, int z) const {
    float largest = 0;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) largest = ptx::max_nan_f32(largest, fabsf(v[i]));
    const uint32_t scale = ptx::cvt_rn_satfinite_e4m3_f32(ptx::div_rn_f32(largest, 6.0f));
    const float divisor =
        ptx::cvt_f32_f16(static_cast<uint16_t>(ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(scale))));
    float quotients[kColumns];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) quotients[i] = scale == 0 ? 0 : ptx::div_rn_f32(v[i], divisor);
    if (row < p.m && column < p.n)
      *reinterpret_cast<uint2*>(static_cast<uint8_t*>(p.d) + ((static_cast<size_t>(z) * p.m + row) * p.n + column) / 2) = {
          ptx::cvt_rn_satfinite_e2m1x2_f32_x4(quotients), ptx::cvt_rn_satfinite_e2m1x2_f32_x4(quotients + 8)};
    return row < p.m && column < p.n ? scale : 0;
  }
  // The scales of four groups, in the 128x4 tiling; of padding, 0.
  __device__ void store_scales(uint32_t word, int row, int column, int z) const {
    const int atoms = up(p.n, 64), blocks = up(p.m, 128);
    if (row / 128 >= blocks || column / 64 >= atoms) return;
    const size_t atom = (static_cast<size_t>(z) * blocks + row / 128) * atoms + column / 64;
    uint8_t* const scales = static_cast<uint8_t*>(p.d) + static_cast<size_t>(p.l) * p.m * p.n / 2;  // behind the codes
    *reinterpret_cast<uint32_t*>(scales + atom * kAtom + row % 32 * 16 + row % 128 / 32 * 4) = word;
  }

  // The columns of the tile that this CTA finishes: sums(v, column) gives them.
  template <class Sums>
  __device__ void finish(const Place& place, int from, int to, Sums sums) {
    const int row = place.x * kRows + static_cast<int>(threadIdx.x);
    const bool by_tma = kV.store == Store::tma && static_cast<long long>(p.n) * bytes_of(kV.output) % 16 == 0;
    uint32_t scales = 0;
    for (int column = from; column < to; column += kColumns) {
      float v[kColumns];
      sums(v, column);
      const int first = place.y * kTileN + column;
      scale(v, row, first, place.z);
      if constexpr (kV.output == Output::nvfp4) {
        scales |= quantise(v, row, first, place.z) << column % 64 / kGroup * 8;
        if (column % 64 != 64 - kGroup) continue;
        store_scales(scales, row, first, place.z);
        scales = 0;
      } else if (by_tma) {
        stage(v, column, place);
      } else {
        store(v, row, first, place.z);
      }
    }
  }

  // Into a box of 32 rows of 128 bytes, swizzled by 128 bytes, which leaves when it is full. Each warp has boxes of its own, so
  // that none waits for another.
  __device__ void stage(const float (&v)[kColumns], int column, const Place& place) {
    constexpr int kBytes = bytes_of(kV.output);
    constexpr int kBoxColumns = 128 / kBytes;
    const uint32_t box = shared.box(warp, boxes);
    if (column % kBoxColumns == 0) {
      if (lane == 0) ptx::cp_async_bulk_wait_group_read<kV.boxes() - 1>();
      __syncwarp();
    }
    uint32_t words[kColumns * kBytes / 4];
#pragma unroll
    for (int i = 0; i < kColumns * kBytes / 4; ++i)
      words[i] = kBytes == 4 ? code(v[i]) : code(v[2 * i]) | code(v[2 * i + 1]) << 16;
#pragma unroll
    for (int i = 0; i < kColumns * kBytes / 16; ++i) {
      const int chunk = column % kBoxColumns * kBytes / 16 + i;
      ptx::st_shared_v4(box + lane * 128 + (chunk ^ lane % 8) * 16,
                        {words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]});
    }
    if ((column + kColumns) % kBoxColumns != 0) return;
    ptx::fence_proxy_async_shared();
    __syncwarp();
    if (lane == 0) {
      const int row = place.x * kRows + warp * kBoxRows;
      const int first = place.y * kTileN + column + kColumns - kBoxColumns;
      if (row < p.m && first < p.n) ptx::cp_async_bulk_tensor_3d_store(p.out, first, row, place.z, box);
      ptx::cp_async_bulk_commit_group();
    }
    ++boxes;
  }

  __device__ void tile(const Place& place, int i) {
    const int sums = i % kAccumulators;
    ptx::mbarrier_wait_parity(shared.done(sums), i / kAccumulators & 1);
    ptx::tcgen05_fence_after_thread_sync();
    const uint32_t from = tensor + sums * kNextSums;
    if constexpr (kSplit > 1) {
      send(from);
      constexpr int kSlice = kTileN / kSplit;
      finish(place, cluster_part() * kSlice, (cluster_part() + 1) * kSlice,
             [&](float(&v)[kColumns], int column) { receive(v, column % kSlice); });
    } else {
      const auto columns = [&](float(&v)[kColumns], int column) { load(v, from + column); };
      // The columns that the next tile's sums share come first: with them, and all of the tile's before this one, it has room.
      if constexpr (constexpr int kShared = kV.overlap(); kShared > 0) {
        const int first = sums == 0 ? kTileN - kShared : 0;
#pragma unroll 1
        for (int part = 0; part < 2; ++part) {
          const int from_column = part == 0 ? first : first == 0 ? kShared : 0;
          finish(place, from_column, from_column + (part == 0 ? kShared : kTileN - kShared), columns);
          if (part == 0) give_room(i);
        }
      } else {
        finish(place, 0, kTileN, columns);
      }
    }
    if constexpr (kPersistent && kV.overlap() == 0) give_room(i);
  }
  // After this CTA's i-th tile: others' sums may take the place of what has been read.
  __device__ void give_room(int i) const {
    ptx::tcgen05_fence_before_thread_sync();
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive_release_cluster(ptx::mapa(shared.free(i % kRooms), leader()));
  }

  // The sums of a part of k: every CTA of the split gets those of the columns that it finishes, 16 bytes of each row together.
  __device__ uint32_t partial(int part, int column) const {
    return shared.partials() + ((part * (kTileN / kSplit) + column) / 4 * kRows + threadIdx.x) * 16;
  }
  __device__ void send(uint32_t from) const {
    constexpr int kSlice = kTileN / kSplit;
    const bool none = Part(p).steps == 0;  // nothing was multiplied
    for (int column = 0; column < kTileN; column += kColumns) {
      float v[kColumns];
      load(v, from + column);
      const int to = rank_of(cluster_x(), cluster_y(), column / kSlice);
      const uint32_t barrier = ptx::mapa(shared.sent(), to);
#pragma unroll
      for (int i = 0; i < kColumns; i += 4)
        ptx::st_async_v4(ptx::mapa(partial(cluster_part(), column % kSlice + i), to), none ? 0 : v[i], none ? 0 : v[i + 1],
                         none ? 0 : v[i + 2], none ? 0 : v[i + 3], barrier);
    }
    ptx::mbarrier_wait_parity_cluster(shared.sent(), 0);
  }
  // Added in order of k.
  __device__ void receive(float (&v)[kColumns], int column) const {
#pragma unroll
    for (int i = 0; i < kColumns; i += 4) {
      float4 sum = ptx::ld_shared_v4_f32(partial(0, column + i));
#pragma unroll
      for (int part = 1; part < kSplit; ++part) {
        const float4 next = ptx::ld_shared_v4_f32(partial(part, column + i));
        sum = make_float4(sum.x + next.x, sum.y + next.y, sum.z + next.z, sum.w + next.w);
      }
      v[i] = sum.x;
      v[i + 1] = sum.y;
      v[i + 2] = sum.z;
      v[i + 3] = sum.w;
    }
  }

  __device__ void run() {
    each_tile(p, shared, [&](const Place& place, int i) { tile(place, i); });
    if constexpr (kV.store == Store::tma)
      if (lane == 0) ptx::cp_async_bulk_wait_group_read<0>();
  }
};

}  // namespace dense
