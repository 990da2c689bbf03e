// The top rung: A streamed once, 16 bytes a lane, as fast as memory gives it.
//
// k is cut into spans of 1024, 32 elements a lane. A warp keeps a span of b decoded in registers and walks over units of four
// rows 32 apart, whose blocked scales are one 16-byte load; kAhead units are under way before one is summed.
// Warps of a CTA share spans and units, CTAs of a cluster (0, y, 0) share k where rows are few; the spans' sums meet in the
// shared memory of the cluster's first CTA and are added in order of k, so that the bits depend on no launch shape.
//
// A code of A placed in a byte is an E4M3 number, 2^-6 times as large; b is kept 2^6 times as large, so that products are the
// codes' own: multiples of 1/4, at most 36, exact, as is a packed sum of eight. fp32 from there on.
// Shapes: any m and l, k a multiple of 32. Grid (x, cluster size, l) with 4 * spans * ceil(units / x) <= kPartials.
#include <type_traits>

#include "problem.cuh"

namespace {

constexpr int kSpan = 1024;      // of k, for a warp
constexpr int kWarps = 8;        // of a CTA
constexpr int kCtas = 2;         // of a multiprocessor
constexpr int kAhead = 2;        // units of a warp
constexpr int kPartials = 8192;  // floats
constexpr int kUnitRows = 4;     // of a unit, 32 apart

// Eight codes times 2^-6: pairs (0, 2), (4, 6), (1, 3), (5, 7).
__device__ inline void decode8(uint32_t word, uint32_t* pairs) {
  const uint32_t even = (word << 4 & 0x80808080u) | (word << 2 & 0x1C1C1C1Cu);
  const uint32_t odd = (word & 0x80808080u) | (word >> 2 & 0x1C1C1C1Cu);
  ptx::cvt_rn_f16x2_e4m3x2_x2(even, pairs[0], pairs[1]);
  ptx::cvt_rn_f16x2_e4m3x2_x2(odd, pairs[2], pairs[3]);
}

__device__ inline float scale_of(uint32_t two, int upper) {
  return ptx::cvt_f32_f16(static_cast<uint16_t>(two >> (16 * upper)));
}

// A lane's 32 elements of b, 2^6 times as large, and their scales; zero past the end of k.
struct Kept {
  uint32_t pairs[16];
  float scale[2];

  template <class Layout>
  __device__ void load(const uint8_t* b, const uint8_t* sfb, int k, int at, int batch) {
    uint4 words = make_uint4(0, 0, 0, 0);
    uint32_t scales = 0;
    if (at < k) {
      words = *reinterpret_cast<const uint4*>(b + size_t(batch) * (k / 2) + at / 2);
      scales = *reinterpret_cast<const uint16_t*>(sfb + Layout::offset(0, 1, at / 16, k / 16, batch));
    }
    decode8(words.x, pairs);
    decode8(words.y, pairs + 4);
    decode8(words.z, pairs + 8);
    decode8(words.w, pairs + 12);
#pragma unroll
    for (int i = 0; i < 16; ++i) pairs[i] = ptx::mul_rn_f16x2(pairs[i], 0x6C006C00u);  // 2^12
    const uint32_t two = ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(scales));
    for (int g = 0; g < 2; ++g) scale[g] = scale_of(two, g);
  }
};

__device__ inline int first_row(int unit) { return unit / 32 * 128 + unit % 32; }

// A lane's part of a unit as it comes from memory.
struct Raw {
  uint4 codes[kUnitRows];
  uint32_t scales[kUnitRows];  // two codes each, low; Blocked: in the half that the lane's place in k says
};

// A lane's way through A and its scales, unit by unit.
template <class Layout>
class Cursor {
 public:
  __device__ Cursor(const uint8_t* a, const uint8_t* sfa, int m, int k, int at, int batch, int unit)
      : row_(first_row(unit)), m_(m), k_(k), half_(at / 32 % 2 * 16), inside_(at < k),
        codes_(a + (size_t(batch) * m + row_) * (k / 2) + at / 2),
        scales_(sfa + Layout::offset(row_, m, kBlocked ? at / 64 * 4 : at / 16, k / 16, batch)) {}

  // Rows past m, and lanes past k, keep what was there: the first's sums are dropped, the second's b is zero.
  __device__ void load(Raw& raw) {
    if (!inside_) return;
    if constexpr (kBlocked) {
      const uint4 four = __ldg(reinterpret_cast<const uint4*>(scales_));
      raw.scales[0] = four.x;
      raw.scales[1] = four.y;
      raw.scales[2] = four.z;
      raw.scales[3] = four.w;
    }
#pragma unroll
    for (int i = 0; i < kUnitRows; ++i)
      if (row_ + 32 * i < m_) {
        raw.codes[i] = __ldcs(reinterpret_cast<const uint4*>(codes_ + size_t(k_ / 2) * 32 * i));
        if constexpr (!kBlocked)
          raw.scales[i] = __ldg(reinterpret_cast<const uint16_t*>(scales_ + size_t(k_ / 16) * 32 * i));
      }
    advance();
  }
  // Both scales of row i as fp16.
  __device__ uint32_t scales(const Raw& raw, int i) const {
    return ptx::cvt_rn_f16x2_e4m3x2(static_cast<uint16_t>(kBlocked ? raw.scales[i] >> half_ : raw.scales[i]));
  }

 private:
  static constexpr bool kBlocked = std::is_same_v<Layout, gemv::Blocked>;
  __device__ void advance() {
    codes_ += k_ / 2;
    scales_ += kBlocked ? 16 : k_ / 16;
    if (++row_ % 32 != 0) return;
    row_ += 96;
    codes_ += size_t(k_ / 2) * 96;
    scales_ += kBlocked ? size_t((k_ / 16 + 3) / 4 - 1) * 512 : size_t(k_ / 16) * 96;
  }
  int row_, m_, k_, half_;
  bool inside_;
  const uint8_t* codes_;
  const uint8_t* scales_;
};

// A lane's sum of one row: two groups of 16, each exact before its scale.
__device__ inline float row_sum(const uint4& codes, uint32_t scales, const Kept& b) {
  const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
  float total = 0.0f;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    uint32_t a[8];
    decode8(words[2 * g], a);
    decode8(words[2 * g + 1], a + 4);
    uint32_t chain = ptx::mul_rn_f16x2(a[0], b.pairs[8 * g]);
#pragma unroll
    for (int j = 1; j < 8; ++j) chain = ptx::fma_rn_f16x2(a[j], b.pairs[8 * g + j], chain);
    total = ptx::fma_rn_f32(gemv::sum_halves_f32(chain), scale_of(scales, g) * b.scale[g], total);
  }
  return total;
}

// Four values' sums over the warp, by lane ^ 16, 8, 4, 2, 1; lane 8 * i holds value i's.
__device__ inline float warp_sums(const float (&v)[kUnitRows], int lane) {
  const bool upper = (lane & 16) != 0;
  float two[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float give = upper ? v[i] : v[i + 2];
    const float keep = upper ? v[i + 2] : v[i];
    two[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, 16);
  }
  const bool second = (lane & 8) != 0;
  const float give = second ? two[0] : two[1];
  float one = (second ? two[1] : two[0]) + __shfl_xor_sync(0xFFFFFFFFu, give, 8);
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2) one = one + __shfl_xor_sync(0xFFFFFFFFu, one, offset);
  return one;
}

template <class Layout>
__device__ void streamed(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                         int k, int l) {
  __shared__ float partials[kPartials];  // [unit of the CTA][row of the unit][span]
  ptx::barrier_cluster_arrive_relaxed();  // that the first CTA runs before its memory is written
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int batch = blockIdx.z;
  const int spans = max(1, (k + kSpan - 1) / kSpan);  // k = 0: one without elements
  const int ctas = static_cast<int>(ptx::cluster_nctaid_y());
  const int rank = static_cast<int>(ptx::cluster_ctaid_y());
  const int each = (spans + ctas - 1) / ctas;  // spans of a CTA
  const int abreast = each < kWarps ? each : kWarps;
  const int groups = kWarps / abreast;  // warps that share a span, each with units of its own
  const int group = warp / abreast;
  const int units = (m + 127) / 128 * 32;
  const int fair = units / static_cast<int>(gridDim.x);  // units of a CTA; the first CTAs have one more
  const int more = units % static_cast<int>(gridDim.x);
  const int first = fair * static_cast<int>(blockIdx.x) + min(static_cast<int>(blockIdx.x), more);
  const int count = fair + (static_cast<int>(blockIdx.x) < more ? 1 : 0);
  const uint32_t first_cta = ptx::mapa(ptx::shared_address(partials), 0);
  const int end = min(spans, (rank + 1) * each);
  ptx::barrier_cluster_wait();
  if (group < groups)
    for (int span = rank * each + warp % abreast; span < end; span += abreast) {
      const int at = span * kSpan + lane * 32;
      const int from = count * group / groups;
      const int rounds = count * (group + 1) / groups - from;
      Cursor<Layout> cursor(a, sfa, m, k, at, batch, first + from);
      Raw raw[kAhead] = {};
#pragma unroll
      for (int n = 0; n < kAhead; ++n)
        if (n < rounds) cursor.load(raw[n]);
      Kept kept;
      kept.load<Layout>(b, sfb, k, at, batch);
      uint32_t to = first_cta + ((from * kUnitRows + lane / 8) * spans + span) * 4;
      for (int round = 0; round < rounds; round += kAhead)
#pragma unroll
        for (int n = 0; n < kAhead; ++n) {
          if (round + n >= rounds) break;
          float sums[kUnitRows];
#pragma unroll
          for (int i = 0; i < kUnitRows; ++i) sums[i] = row_sum(raw[n].codes[i], cursor.scales(raw[n], i), kept);
          if (round + n + kAhead < rounds) cursor.load(raw[n]);
          const float sum = warp_sums(sums, lane);
          if (lane % 8 == 0) ptx::st_shared_cluster_f32(to, sum);
          to += kUnitRows * 4 * spans;
        }
    }
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait();
  if (rank != 0) return;
  for (int t = threadIdx.x; t < count * kUnitRows; t += blockDim.x) {  // a thread a row
    const int row = first_row(first + t / kUnitRows) + t % kUnitRows * 32;
    if (row >= m) continue;
    float total = 0.0f;
    for (int span = 0; span < spans; ++span) total = total + partials[t * spans + span];
    c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(total);
  }
}

}  // namespace

GEMV_ENTRIES(streamed, 32 * kWarps, kCtas)
