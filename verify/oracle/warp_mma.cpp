#include "verify/oracle/warp_mma.h"

namespace bitwell::oracle {
namespace {

// The i-th element that a thread holds. Of the bytes that have fewer bits, 4 stand in the middle, 6 at the
// bottom.
uint32_t element(const std::vector<Lanes>& registers, int lane, int i, int k, const FieldFormat& f) {
  const int each = k == 64 ? 8 : 4;
  const auto at = static_cast<size_t>(lane);
  const uint32_t word = registers[static_cast<size_t>(i / each)][at] >> i % each * (32 / each);
  const int bits = 1 + f.exponent_bits + f.fraction_bits;
  return (k != 64 && bits == 4 ? word >> 2 : word) & ((1u << bits) - 1);
}

// The row of A's a_i, and its column.
int a_row(int lane, int i, int k) {
  const int group = lane >> 2;
  if (k == 16) return i < 4 ? group : group + 8;
  if (k == 32) return (i < 4 || (8 <= i && i < 12)) ? group : group + 8;
  return (i < 8 || (16 <= i && i < 24)) ? group : group + 8;
}
int a_column(int lane, int i, int k) {
  const int thread = lane % 4;
  if (k == 16) return thread * 4 + (i & 3);
  if (k == 32) return thread * 4 + (i & 3) + (i < 8 ? 0 : 16);
  return thread * 8 + (i & 7) + (i < 16 ? 0 : 32);
}
// The row of B's b_i, whose column is the thread's group.
int b_row(int lane, int i, int k) {
  const int thread = lane % 4;
  if (k == 16) return thread * 4 + i;
  if (k == 32) return thread * 4 + (i & 3) + (i < 4 ? 0 : 16);
  return thread * 8 + (i & 7) + (i < 8 ? 0 : 32);
}

std::vector<uint8_t> bytes_of(uint32_t word, unsigned first, int count) {
  std::vector<uint8_t> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<uint8_t>(word >> 8 * (first + unsigned(i))));
  return out;
}

uint32_t dot(const WarpMma& mma, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, uint32_t c,
             const std::vector<uint8_t>& scale_a, const std::vector<uint8_t>& scale_b) {
  if (mma.scales > 1) return scaled_fp4_dot(a, b, c, mma.ue8m0, scale_a, scale_b);
  if (mma.scales == 1 && (scale_a[0] == 0xFF || scale_b[0] == 0xFF)) return 0x7FFFFFFF;
  const int scale = mma.scales == 1 ? scale_a[0] + scale_b[0] - 254 : 0;
  return fused_dot({32, 25, mma.half ? 2 : 0, mma.half ? -21 : -133}, mma.a, a, mma.b, b, c, scale);
}

}  // namespace

std::vector<Lanes> warp_mma(const WarpMma& mma, const WarpOperands& in) {
  const auto k = static_cast<size_t>(mma.k);
  std::vector<std::vector<uint32_t>> a(16, std::vector<uint32_t>(k)), b(8, std::vector<uint32_t>(k));
  std::vector<std::vector<uint8_t>> scale_a(16), scale_b(8);
  for (int lane = 0; lane < 32; ++lane) {
    const auto at = static_cast<size_t>(lane);
    for (int i = 0; i < mma.k / 2; ++i)
      a[static_cast<size_t>(a_row(lane, i, mma.k))][static_cast<size_t>(a_column(lane, i, mma.k))] =
          element(in.a, lane, i, mma.k, mma.a);
    for (int i = 0; i < mma.k / 4; ++i)
      b[at / 4][static_cast<size_t>(b_row(lane, i, mma.k))] = element(in.b, lane, i, mma.k, mma.b);
    if (unsigned(lane) % 4 / 2 == in.ids_a.thread)
      scale_a[at % 2 * 8 + at / 4] = bytes_of(in.scale_a[at], in.ids_a.byte, mma.scales);
    if (unsigned(lane) % 4 == in.ids_b.thread)
      scale_b[at / 4] = bytes_of(in.scale_b[at], in.ids_b.byte, mma.scales);
  }
  std::vector<Lanes> out(in.c.size());
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t i = 0; i < 4; ++i) {
      const size_t row = i < 2 ? lane / 4 : lane / 4 + 8;
      const size_t column = lane % 4 * 2 + (i & 1);
      const size_t r = mma.half ? i / 2 : i;
      const size_t shift = mma.half ? i % 2 * 16 : 0;
      const uint32_t c = in.c[r][lane] >> shift & (mma.half ? 0xFFFF : ~0u);
      out[r][lane] |= dot(mma, a[row], b[column], c, scale_a[row], scale_b[column]) << shift;
    }
  return out;
}

}  // namespace bitwell::oracle
