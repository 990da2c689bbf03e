// The NVFP4 batched GEMV that every kernel computes: c[m, l] = sum over k of (a * sfa)[m, k, l] * (b * sfb)[k, l].
// a: E2M1, two a byte, low nibble first, [l][m][k]. b: E2M1, [l][k]. c: fp16, [l][m].
// Scales: E4M3, one for 16 elements of k, in one of two layouts.
#pragma once
#include <cstdint>

#include "../ptx.cuh"

namespace gemv {

struct RowMajor {  // [l][row][k / 16]
  static __device__ size_t offset(int row, int rows, int group, int groups, int batch) {
    return (size_t(batch) * rows + row) * groups + group;
  }
};

struct Blocked {  // the permuted 128x4 atom: [l][row / 128][group / 4][row % 32][row % 128 / 32][group % 4]
  static __device__ size_t offset(int row, int rows, int group, int groups, int batch) {
    const size_t atoms_k = (groups + 3) / 4;
    const size_t atom = (size_t(batch) * ((rows + 127) / 128) + row / 128) * atoms_k + group / 4;
    return atom * 512 + (row % 32) * 16 + (row % 128) / 32 * 4 + group % 4;
  }
};

// Pointers to one row's data in one batch; `Layout` says where a scale is.
template <class Layout>
struct Row {
  const uint8_t* a;
  const uint8_t* b;
  const uint8_t* sfa;
  const uint8_t* sfb;
  int row, rows, groups, batch;

  __device__ Row(const uint8_t* a_, const uint8_t* b_, const uint8_t* sfa_, const uint8_t* sfb_, int row_, int m, int k,
                 int batch_)
      : a(a_ + (size_t(batch_) * m + row_) * (k / 2)), b(b_ + size_t(batch_) * (k / 2)), sfa(sfa_), sfb(sfb_),
        row(row_), rows(m), groups(k / 16), batch(batch_) {}

  __device__ const uint8_t* scale_a(int group) const { return sfa + Layout::offset(row, rows, group, groups, batch); }
  __device__ const uint8_t* scale_b(int group) const { return sfb + Layout::offset(0, 1, group, groups, batch); }
};

// 64 elements of k: what one thread loads at once. Needs k % 64 == 0.
struct Tile {
  uint4 a[2];
  uint4 b[2];
  uint32_t sfa;  // four scales, group 0 in the low byte
  uint32_t sfb;

  template <class Layout>
  __device__ static Tile load(const Row<Layout>& row, int tile) {
    Tile t;
    const uint4* a = reinterpret_cast<const uint4*>(row.a) + 2 * tile;
    const uint4* b = reinterpret_cast<const uint4*>(row.b) + 2 * tile;
    t.a[0] = __ldg(a);
    t.a[1] = __ldg(a + 1);
    t.b[0] = __ldg(b);
    t.b[1] = __ldg(b + 1);
    t.sfa = __ldg(reinterpret_cast<const uint32_t*>(row.scale_a(4 * tile)));
    t.sfb = __ldg(reinterpret_cast<const uint32_t*>(row.scale_b(4 * tile)));
    return t;
  }

  // Word 0 or 1 (eight elements each) of 16-element group g.
  __device__ static uint32_t word(const uint4 (&v)[2], int g, int half) {
    const uint4& q = v[g / 2];
    if (g % 2 == 0) return half == 0 ? q.x : q.y;
    return half == 0 ? q.z : q.w;
  }
};

// The four scale products sfa * sfb of a tile, each one fp16 rounding (448 * 448 overflows to infinity, as written).
__device__ inline void scale_products_f16(const Tile& t, uint16_t (&s)[4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t sa = ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(t.sfa >> (16 * half)));
    const uint32_t sb = ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(t.sfb >> (16 * half)));
    const uint32_t product = ptx::mul_rn_f16x2(sa, sb);
    s[2 * half] = static_cast<uint16_t>(product);
    s[2 * half + 1] = static_cast<uint16_t>(product >> 16);
  }
}

// Low plus high half of a packed pair, in fp32.
__device__ inline float sum_halves_f32(uint32_t pair) {
  return ptx::cvt_f32_f16(static_cast<uint16_t>(pair)) + ptx::cvt_f32_f16(static_cast<uint16_t>(pair >> 16));
}

// fp32 sum over a warp: lane i adds lane i + 16, then 8, 4, 2, 1; the total is in lane 0.
__device__ inline float warp_sum_down_f32(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v = v + __shfl_down_sync(0xFFFFFFFFu, v, offset);
  return v;
}

// Both layouts of a kernel as entry points gemv_<rung>_row_major and gemv_<rung>_blocked, with their launch bounds.
#define GEMV_ENTRIES(rung, ...)                                                                                        \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                                            \
      gemv_##rung##_row_major(const uint8_t* __restrict__ a, const uint8_t* __restrict__ b,                            \
                              const uint8_t* __restrict__ sfa, const uint8_t* __restrict__ sfb, uint16_t* c, int m,    \
                              int k, int l) {                                                                          \
    rung<gemv::RowMajor>(a, b, sfa, sfb, c, m, k, l);                                                                  \
  }                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                                            \
      gemv_##rung##_blocked(const uint8_t* __restrict__ a, const uint8_t* __restrict__ b,                              \
                            const uint8_t* __restrict__ sfa, const uint8_t* __restrict__ sfb, uint16_t* c, int m,      \
                            int k, int l) {                                                                            \
    rung<gemv::Blocked>(a, b, sfa, sfb, c, m, k, l);                                                                   \
  }

}  // namespace gemv
