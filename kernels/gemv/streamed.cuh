// How `streamed` shares its work out, and what a CTA keeps in shared memory.
#pragma once
#include <cstdint>

#include "problem.cuh"
#include "streamed.h"

namespace gemv {

constexpr uint32_t kSpanBytes = kSpan / 2;        // of a row of A
constexpr uint32_t kUnitRows = 4;                 // rows of a unit, 32 apart: their blocked scales are neighbours
constexpr uint32_t kSlots = 3;                    // of the ring
constexpr uint32_t kRounds = kSlots + 1;          // slots whose sums are kept: the warps are that far apart at most

struct Slot {  // its mbarriers
  uint64_t full;
  uint64_t empty;
};

struct Shared {
  uint8_t codes[kSlots][kUnitRows][kWarps * kSpanBytes];  // [row of a unit][unit][k]
  uint8_t scales[kSlots][kWarps * kSpan / 64][16];        // [64 of k, unit], as Blocked has them
  float partials[kRounds][kWarps * kUnitRows];            // [span][row]
  float totals[kTotals];                                  // of the CTA's rows, between passes over k
  Slot slots[kSlots];
  uint64_t done[kRounds];
};
static_assert(sizeof(Shared) == kSharedBytes, "what the host asks for");

// What a CTA does: a slot of the ring holds `columns` spans of 1 << log_groups units that follow each other, and there is a
// warp for each span of each unit. CTAs that differ in x take turns at the slots; those of a cluster, which differ in y, share the
// spans; k of more spans takes passes.
struct Work {
  uint32_t ctas, rank, spans, columns, passes, log_groups, slots;

  __device__ Work(uint32_t m, uint32_t k, uint32_t ctas_, uint32_t rank_)
      : ctas(ctas_), rank(rank_), spans((k + kSpan - 1) / kSpan) {
    const uint32_t log_ctas = 31 - __clz(ctas);
    columns = max(1, min((spans + ctas - 1) >> log_ctas, kWarps));
    passes = max(1, (spans + kWarps * ctas - 1) / kWarps >> log_ctas);
    log_groups = __clz(columns - 1) - 28;  // as many as there are warps for
    slots = (m / 128 * 32 + min(32, m % 128) + groups() - 1) >> log_groups;  // with any row inside
  }
  __device__ uint32_t groups() const { return 1u << log_groups; }
  __device__ uint32_t rows() const { return kUnitRows << log_groups; }
  // The first unit's row i; the next unit's follows it.
  __device__ uint32_t row(uint32_t slot, uint32_t i) const {
    const uint32_t unit = slot << log_groups;
    return unit / 32 * 128 + unit % 32 + 32 * i;
  }
  __device__ uint32_t first_span(uint32_t pass, uint32_t cta) const { return (pass * ctas + cta) * columns; }
  __device__ uint32_t spans_of(uint32_t pass, uint32_t cta) const {
    return min(spans - min(spans, first_span(pass, cta)), columns);
  }
  // Bytes of a row that a slot holds.
  __device__ uint32_t width(uint32_t pass, uint32_t k) const {
    const uint32_t before = first_span(pass, rank) * kSpanBytes;
    return min(k / 2 - min(k / 2, before), columns * kSpanBytes);
  }
};

// One of `of` places, and the parity of its mbarrier's phase.
struct Turn {
  uint32_t place = 0;
  uint32_t parity = 0;

  __device__ void next(uint32_t of) {
    if (++place < of) return;
    place = 0;
    parity ^= 1;
  }
};

}  // namespace gemv
