// How `streamed` is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include <algorithm>
#include <cstdint>

namespace gemv {

constexpr uint32_t kSpan = 1024;           // of k, for a warp
constexpr uint32_t kWarps = 16;            // that multiply
constexpr uint32_t kThreads = 32 * (kWarps + 2);  // and one warp that copies, and one that adds
constexpr uint32_t kTotals = 4096;         // floats: rows of a CTA where k takes passes
constexpr uint32_t kSharedBytes = 128080;  // dynamic: sizeof(Shared)

// The grid is (x, cluster, l), a cluster (1, cluster, 1).
struct StreamedGrid {
  int x, cluster;
};

// The grid for a GPU that runs `ctas` CTAs at once; m and l at least 1, k at least 0.
inline StreamedGrid streamed_grid(int m, int k, int l, int ctas) {
  const auto up = [](int64_t v, int64_t to) { return static_cast<int>((v + to - 1) / to); };
  const int spans = std::max(1, up(k, kSpan));
  const int warps = kWarps;
  StreamedGrid out{};
  int64_t least = 0;                        // slots that follow each other on the GPU
  for (const int cluster : {1, 2, 4, 8}) {  // a larger one starts later: only where it saves a slot
    if (cluster > spans) continue;
    const int columns = std::min(up(spans, cluster), warps);  // spans of a CTA at a time
    const int passes = up(spans, columns * cluster);
    int units = 1;  // of four rows, of a slot
    while (2 * units * columns <= warps) units *= 2;
    const int slots = up(m / 128 * 32 + std::min(32, m % 128), units);
    // Clusters of 4 and 8 do not fill the H200's processing clusters of 16 and 18 multiprocessors.
    const int at_once = std::max(1, ctas * (cluster > 2 ? 3 : 4) / 4 / cluster);
    int a_cta = up(slots, std::max(1, at_once / l));
    if (passes > 1) a_cta = std::min(a_cta, static_cast<int>(kTotals) / (4 * units));
    const int x = up(slots, a_cta);
    const int64_t steps = int64_t{up(int64_t{x} * l, at_once)} * up(slots, x) * passes;
    if (least != 0 && steps >= least) continue;
    least = steps;
    out = {x, cluster};
  }
  return out;
}

}  // namespace gemv
