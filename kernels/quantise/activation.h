// How the activation side of SVDQuant is launched, and what its host and its code both count on. Plain C++.
#pragma once
#include "../nvfp4/tile.h"

namespace quantise {

constexpr int kActivationThreads = 256;
constexpr int kActivationRows = 16;   // a CTA
constexpr int kActivationStage = 256;  // elements of k that a CTA quantises, then multiplies: a group a thread
constexpr int kRankStep = 16;         // of ranks
constexpr int kMostRank = 256;        // 32 a warp

// CTAs for m rows: all rows of the scales' tiling have one.
constexpr int activation_ctas(int m) { return nvfp4::up(m, nvfp4::kRows) * (nvfp4::kRows / kActivationRows); }

}  // namespace quantise
