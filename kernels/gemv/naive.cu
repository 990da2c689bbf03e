// One thread a row, every nibble and scale decoded by arithmetic, fp32 products and one fp32 sum in order of k.
// Shapes: any m and l, k a multiple of 16 (k = 0 gives +0). Block 128 x 1, grid ceil(m / 128) x l.
#include "problem.cuh"

namespace {

__device__ float decode_e2m1(unsigned nibble) {
  const unsigned exponent = (nibble >> 1) & 3u;
  const float fraction = (nibble & 1u) != 0 ? 0.5f : 0.0f;
  const float magnitude = exponent == 0 ? fraction : (1.0f + fraction) * static_cast<float>(1u << (exponent - 1));
  return (nibble & 8u) != 0 ? -magnitude : magnitude;
}

__device__ float decode_e4m3(unsigned code) {
  const unsigned exponent = (code >> 3) & 15u;
  const unsigned fraction = code & 7u;
  if ((code & 0x7Fu) == 0x7Fu) return __uint_as_float(0x7FFFFFFFu);
  const float unit = __uint_as_float((exponent == 0 ? 1u + 117u : exponent + 117u) << 23);  // 2^(exponent - 10)
  const float magnitude = static_cast<float>(exponent == 0 ? fraction : 8u + fraction) * unit;
  return (code & 0x80u) != 0 ? -magnitude : magnitude;
}

template <class Layout>
__device__ void naive(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                      int k, int l) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int batch = blockIdx.y;
  if (row >= m || batch >= l) return;
  const gemv::Row<Layout> data(a, b, sfa, sfb, row, m, k, batch);
  float sum = 0.0f;
  for (int group = 0; group < k / 16; ++group) {
    const float scale_a = decode_e4m3(*data.scale_a(group));
    const float scale_b = decode_e4m3(*data.scale_b(group));
    for (int i = 0; i < 8; ++i) {
      const unsigned pair_a = data.a[8 * group + i];
      const unsigned pair_b = data.b[8 * group + i];
      sum = sum + decode_e2m1(pair_a & 15u) * scale_a * (decode_e2m1(pair_b & 15u) * scale_b);
      sum = sum + decode_e2m1(pair_a >> 4) * scale_a * (decode_e2m1(pair_b >> 4) * scale_b);
    }
  }
  c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(sum);
}

}  // namespace

GEMV_ENTRIES(naive, 128)
