// How the streamed rung shares its work out, and how A comes into a CTA's shared memory.
#pragma once
#include <cstdint>

#include "problem.cuh"

namespace gemv {

constexpr int kSpan = 1024;                  // of k, for a warp
constexpr int kSpanBytes = kSpan / 2;        // of a row of A
constexpr int kWarps = 16;                   // that multiply
constexpr int kThreads = 32 * (kWarps + 1);  // and one warp that copies
constexpr int kUnitRows = 4;                 // rows of a unit, 32 apart: their blocked scales are neighbours
constexpr int kSlots = 4;                    // of the ring, at most
constexpr int kScales = 3;                   // of the ring of scales
constexpr int kPartials = 4096;              // floats

struct Shared {
  uint8_t codes[kSlots][kUnitRows][kWarps * kSpanBytes];  // [row of a unit][unit of the slot][k]
  uint8_t scales[kScales][kWarps][kSpan / 64][16];        // of a warp's unit and span, as Blocked has them
  float partials[kPartials];                              // [span of the CTA][row of its units]
  uint64_t full[kSlots];
  uint64_t empty[kSlots];
};
static_assert(sizeof(Shared) == 159808, "what gemv_streamed_shape asks for");

__device__ inline int first_row(int unit) { return unit / 32 * 128 + unit % 32; }

// What a CTA does: `count` units from `first` on, `mine` spans from `from` on (each CTA of the cluster but the last: `each`).
// A slot of the ring holds `columns` spans of `groups` units, and there is a warp for each span of each unit.
struct Work {
  int first, count, spans, each, from, mine, columns, groups;

  __device__ Work(int m, int k, int ctas, int rank) {
    spans = (k + kSpan - 1) / kSpan;
    each = (spans + ctas - 1) >> (31 - __clz(ctas));  // ctas is a power of two
    from = rank * each;
    mine = max(0, min(spans - from, each));
    columns = min(each, kWarps);
    groups = 0;
    for (int warps = columns; warps <= kWarps && columns > 0; warps += columns) ++groups;
    const unsigned units = m / 128 * 32 + min(32, m % 128);  // with any row inside
    const unsigned fair = units / gridDim.x;
    const unsigned more = units - fair * gridDim.x;  // CTAs that have one unit more
    first = fair * blockIdx.x + min(blockIdx.x, more);
    count = fair + (blockIdx.x < more ? 1 : 0);
  }
  // Bytes of a row that a slot holds, in the pass over k that begins with span `pass` of the CTA.
  __device__ int width(int pass, int k) const { return min(columns * kSpanBytes, k / 2 - (from + pass) * kSpanBytes); }
};

// The slot of the ring that comes next, and the parity of its phase. Long ways through A take one slot more: it decouples the
// warps from the memory, and delays the first arrivals.
struct Turn {
  int slots;
  int slot = 0;
  uint32_t parity = 0;

  __device__ explicit Turn(const Work& work) : slots(work.count >= 24 * work.groups ? kSlots : kSlots - 1) {}
  __device__ void next() {
    if (++slot < slots) return;
    slot = 0;
    parity ^= 1;
  }
};

// The copying thread's way through A: slot after slot into the ring, rows that follow each other in memory at once.
class Copier {
 public:
  __device__ Copier(const Work& work, const uint8_t* a, int m, int k, int batch)
      : work_(work), turn_(work), a_(a + size_t(batch) * m * (k / 2)), m_(m), k_(k), unit_(work.first) {}

  __device__ bool more() const { return pass_ < work_.mine; }
  // Sets the next slot's copies on their way, once the slot is empty.
  __device__ void next(Shared& shared) {
    const int width = work_.width(pass_, k_);
    const bool whole = width == k_ / 2;  // rows, which follow each other
    const uint8_t* from = a_ + (work_.from + pass_) * kSpanBytes;
    const int last = min(unit_ + work_.groups, work_.first + work_.count);
    const uint32_t full = ptx::shared_address(&shared.full[turn_.slot]);
    uint32_t to = ptx::shared_address(shared.codes[turn_.slot]);
    ptx::mbarrier_wait_parity(ptx::shared_address(&shared.empty[turn_.slot]), turn_.parity ^ 1);
#pragma unroll 1
    while (unit_ < last) {
      const int run = whole ? min(last - unit_, 32 - unit_ % 32) : 1;
      const int row = first_row(unit_);
#pragma unroll
      for (int j = 0; j < kUnitRows; ++j) {
        const int bytes = min(run, m_ - row - 32 * j) * width;
        if (bytes <= 0) continue;
        ptx::mbarrier_expect_tx(full, bytes);
        ptx::cp_async_bulk(to + j * sizeof(Shared::codes[0][0]), from + size_t(k_ / 2) * (row + 32 * j), bytes, full);
      }
      to += run * width;
      unit_ += run;
    }
    ptx::mbarrier_arrive(full);
    turn_.next();
    if (unit_ < work_.first + work_.count) return;
    unit_ = work_.first;
    pass_ += kWarps;
  }

 private:
  const Work& work_;
  Turn turn_;
  const uint8_t* a_;
  int m_, k_;
  int pass_ = 0;  // over k: its first span of the CTA's
  int unit_;
};

}  // namespace gemv
