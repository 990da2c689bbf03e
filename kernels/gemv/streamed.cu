// The top rung: A streamed once, as fast as memory gives it.
//
// k is cut into spans of 1024, 32 elements a lane. A warp keeps a span of b in registers and walks down the CTA's units, each
// four rows 32 apart, whose blocked scales are 16 bytes; warps beyond the spans share the units. One more warp copies the
// units' rows into a ring of shared memory, in runs as long as they lie in memory. CTAs of a cluster (0, y, 0) share k where
// rows are few. The spans' sums are added in order of k, each row's in one CTA, so that the bits depend on no launch shape.
//
// Twice an E2M1 number is a small integer: prmt looks four codes of A up at once, the positive ones in one word and the
// negative ones in another, and dp4a adds their products with b and -b, exactly. The sums are added onto the bits of
// 1.5 * 2^23, which makes them fp32 numbers; fp32 from there on.
// Shapes: any m and l, k a multiple of 32. Grid (x, cluster size y, l), y a power of two; a CTA's spans times its rows are
// kPartials at most. Dynamic shared memory: sizeof(Shared).
#include <type_traits>

#include "streamed.cuh"

namespace {

using namespace gemv;

// The lane's value, in a register: ptxas would rather compute a cheap one again at every use.
__device__ inline uint32_t held(uint32_t v) { return __shfl_sync(0xFFFFFFFFu, v, threadIdx.x); }

constexpr uint32_t kSigns = 0x88888888u;
constexpr uint32_t kOne = 0x4B400000u;  // 1.5 * 2^23, whose bits count integers

// Twice the magnitudes that E2M1 codes 0 to 7 stand for, a byte each.
struct Magnitudes {
  uint32_t low, high;

  __device__ Magnitudes() : low(held(0x03020100u)), high(held(0x0C080604u)) {}
  // Of the four codes in the low half of a word: those of positive codes, others 0.
  __device__ uint32_t positive(uint32_t codes) const { return ptx::prmt(low, high, codes); }
};

// A lane's 32 elements of b, doubled, and negated; and their two scales as fp16, 2^-6 times as large, so that a product of two
// scales is a multiple of 2^-24 and below 2^12: exact.
struct Kept {
  uint32_t plus[8], minus[8];
  uint32_t scales;

  __device__ Kept(const uint4& codes, uint16_t scale_codes, const Magnitudes& of) {
    const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uint32_t half = words[i / 2] >> (16 * (i % 2));
      const uint32_t positive = of.positive(half);
      const uint32_t negative = of.positive(half ^ kSigns);
      plus[i] = __vsub4(positive, negative);
      minus[i] = __vsub4(negative, positive);
    }
    scales = ptx::mul_rn_f16x2(ptx::cvt_rn_f16x2_e4m3x2(scale_codes), 0x24002400u);
  }
};

// A lane's sum of one row, 2^-4 times as large: two groups of 16, each exact before its scale.
__device__ inline float row_sum(const uint4& codes, uint16_t scale_codes, const Kept& b, const Magnitudes& of,
                                uint32_t one) {
  const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
  const uint32_t scales = ptx::mul_rn_f16x2(ptx::cvt_rn_f16x2_e4m3x2(scale_codes), b.scales);
  float total = 0.0f;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    int sum = static_cast<int>(one);
#pragma unroll
    for (int i = 2 * g; i < 2 * g + 2; ++i) {
      const uint32_t upper = words[i] >> 16;
      sum = ptx::dp4a_s32(of.positive(words[i]), b.plus[2 * i], sum);
      sum = ptx::dp4a_s32(of.positive(upper), b.plus[2 * i + 1], sum);
      sum = ptx::dp4a_s32(of.positive(words[i] ^ kSigns), b.minus[2 * i], sum);
      sum = ptx::dp4a_s32(of.positive(upper ^ kSigns), b.minus[2 * i + 1], sum);
    }
    const float scale = ptx::cvt_f32_f16(static_cast<uint16_t>(scales >> (16 * g)));
    total = ptx::fma_rn_f32(__int_as_float(sum) - __int_as_float(kOne), scale, total);
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

// A warp's way through the scales of its units and one span of its batch.
template <class Layout>
class Scales {
 public:
  static constexpr bool kBlocked = std::is_same_v<Layout, Blocked>;

  // `inside`: lanes that hold elements of the span. `group`: the warp's first unit of the CTA's.
  __device__ Scales(const Work& work, const uint8_t* sfa, int m, int k, int batch, int span, int inside, int group,
                    Shared& shared)
      : unit_(work.first + group), left_(group < work.groups ? work.count - group : 0), step_(work.groups),
        inside_(inside), rows_(m), pitch_(k / 16) {
    const int lane = threadIdx.x % 32;
    const uint32_t own = ptx::shared_address(shared.scales[0][threadIdx.x / 32]);
    if constexpr (kBlocked) {  // a lane of 16 copies a tile's 16 bytes
      atoms_ = (k / 16 + 3) / 4;
      const int atom = (batch * ((m + 127) / 128) + unit_ / 32) * atoms_ + span * (kSpan / 64) + lane;
      from_ = sfa + size_t(atom) * 512 + unit_ % 32 * 16;
      until_ = 32 - unit_ % 32;
      if (2 * lane >= inside) left_ = 0;
      to_ = own + lane * 16;
      // Lanes past the end of k hold zeros for b, and read what lane 0 reads.
      at_ = held(own + (lane < inside ? lane / 2 * 16 + lane % 2 * 2 : 0));
    } else {
      from_ = sfa + size_t(batch) * m * pitch_ + span * (kSpan / 16) + lane * 2;
    }
  }
  // Sets the next unit's on their way, as a group of asynchronous copies: kScales - 1 of them are ahead of load().
  __device__ void copy() {
    if constexpr (!kBlocked) return;
    if (left_ > 0) ptx::cp_async_16(to_ + copied_ * sizeof(Shared::scales[0]), from_);
    ptx::cp_async_commit_group();
    if (++copied_ == kScales) copied_ = 0;
    left_ -= step_;
    until_ -= step_;
    from_ += 16 * step_;
    if (until_ > 0) return;
    until_ += 32;
    from_ += size_t(atoms_ - 1) * 512;
  }
  // The lane's of each row of the next unit, whose group the warp has waited for.
  __device__ void load(uint16_t (&codes)[kUnitRows]) {
#pragma unroll
    for (int i = 0; i < kUnitRows; ++i) {
      if constexpr (kBlocked) {
        codes[i] = ptx::ld_shared_u16(at_ + loaded_ * sizeof(Shared::scales[0]) + i * 4);
      } else {
        const int row = first_row(unit_) + 32 * i;
        const bool is = left_ > 0 && row < rows_ && static_cast<int>(threadIdx.x % 32) < inside_;
        codes[i] = is ? __ldg(reinterpret_cast<const uint16_t*>(from_ + size_t(row) * pitch_)) : 0;
      }
    }
    if constexpr (kBlocked) {
      if (++loaded_ == kScales) loaded_ = 0;
    } else {
      unit_ += step_;
      left_ -= step_;
    }
  }

 private:
  int unit_, left_, step_, inside_, rows_, pitch_;
  const uint8_t* from_;
  int until_, atoms_;            // Blocked: units of the same 128 rows; tiles of 128 rows
  int copied_ = 0, loaded_ = 0;  // places in the ring
  uint32_t to_, at_;
};

template <class Layout>
__device__ void streamed(const uint8_t* a, const uint8_t* b, const uint8_t* sfa, const uint8_t* sfb, uint16_t* c, int m,
                         int k, int l) {
  extern __shared__ __align__(128) uint8_t memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int batch = blockIdx.z;
  const int ctas = static_cast<int>(ptx::cluster_nctaid_y());
  const int rank = static_cast<int>(ptx::cluster_ctaid_y());
  const Work work(m, k, ctas, rank);
  Copier copier(work, a, m, k, batch);
  if (threadIdx.x == 32 * kWarps) {
    for (int i = 0; i < kSlots; ++i) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[i]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[i]), kWarps);
    }
    ptx::fence_mbarrier_init();
    if (copier.more()) copier.next(shared);
  }
  // When the mbarriers are there, the first slot, b and the first scales on their way; more of A would delay those.
  const auto begun = [&] {
    if (work.mine > 0) ptx::barrier_sync(1, kThreads);
  };
  if (warp == kWarps) {
    __syncwarp();
    begun();
    if (lane == 0)
      while (copier.more()) copier.next(shared);
  } else {
    int column = warp;
    int group = 0;
    for (; column >= work.columns && group < work.groups; ++group) column -= work.columns;
    Turn turn(work);
#pragma unroll 1
    for (int pass = 0; pass < work.mine; pass += kWarps) {
      const int span = work.from + pass + column;
      const bool is = group < work.groups && pass + column < work.mine;
      const int inside = is ? min(32, (k - span * kSpan) / 32) : 0;
      const int at = span * kSpan + lane * 32;
      uint4 codes_b = make_uint4(0, 0, 0, 0);
      uint16_t scales_b = 0;
      if (lane < inside) {
        codes_b = *reinterpret_cast<const uint4*>(b + size_t(batch) * (k / 2) + at / 2);
        scales_b = *reinterpret_cast<const uint16_t*>(sfb + Layout::offset(0, 1, at / 16, k / 16, batch));
      }
      Scales<Layout> scales(work, sfa, m, k, batch, span, inside, group, shared);
      for (int i = 1; i < kScales; ++i) scales.copy();
      if (pass == 0) begun();
      const Magnitudes of;
      const uint32_t one = held(kOne);
      const Kept kept(codes_b, scales_b, of);
      const uint32_t codes = held(ptx::shared_address(shared.codes) + group * work.width(pass, k) + column * kSpanBytes +
                                  (lane < inside ? lane * 16 : 0));
      uint32_t to = ptx::shared_address(shared.partials) + ((pass + column) * work.count + group) * kUnitRows * 4 + lane / 8 * 4;
      // Units whose sums are still to be stored, by the lane that holds one.
      int stores = is && lane % 8 == 0 ? work.count - group : 0;
#pragma unroll 1
      for (int left = work.count; left > 0; left -= work.groups, turn.next()) {
        scales.copy();
        ptx::cp_async_wait_group<kScales - 1>();
        ptx::mbarrier_wait_parity(ptx::shared_address(&shared.full[turn.slot]), turn.parity);
        __syncwarp();
        uint4 of_a[kUnitRows];
        uint16_t scale_codes[kUnitRows];
        scales.load(scale_codes);
#pragma unroll
        for (int i = 0; i < kUnitRows; ++i)
          of_a[i] = ptx::ld_shared_v4(codes + turn.slot * sizeof(Shared::codes[0]) + i * sizeof(Shared::codes[0][0]));
        __syncwarp();
        if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.empty[turn.slot]));
        float sums[kUnitRows];
#pragma unroll
        for (int i = 0; i < kUnitRows; ++i) sums[i] = row_sum(of_a[i], scale_codes[i], kept, of, one);
        const float sum = warp_sums(sums, lane);
        if (stores > 0) ptx::st_shared_f32(to, sum);
        stores -= work.groups;
        to += work.groups * kUnitRows * 4;
      }
      ptx::cp_async_wait_group<0>();
    }
  }
  __syncwarp();
  if (ctas == 1) {
    __syncthreads();
  } else {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait();
  }
  // A thread a row, the CTAs of the cluster in turn.
  const int rows = work.count * kUnitRows;
  for (int i = rank * kThreads + threadIdx.x; i < rows; i += ctas * kThreads) {
    const int row = first_row(work.first + i / kUnitRows) + i % kUnitRows * 32;
    if (row >= m) continue;
    float total = 0.0f;
    for (int cta = 0, span = 0; span < work.spans; ++cta) {
      const float* own = &shared.partials[i];
      const uint32_t of = ptx::mapa(ptx::shared_address(own), cta);
      const int end = min(work.each, work.spans - span);
#pragma unroll 4
      for (int s = 0; s < end; ++s)
        total = total + (ctas == 1 ? own[s * rows] : ptx::ld_shared_cluster_f32(of + s * rows * 4));
      span += end;
    }
    c[size_t(batch) * m + row] = ptx::cvt_rn_f16_f32(total * 16.0f);
  }
  if (ctas > 1) {  // no CTA ends while another reads its sums
    __syncwarp();
    ptx::barrier_cluster_arrive_relaxed();
    ptx::barrier_cluster_wait();
  }
}

}  // namespace

GEMV_ENTRIES(streamed, kThreads, 1)
