// What the hardware gives a CTA. Plain C++.
#pragma once

namespace kernels {

constexpr int kSharedLimit = 232448;     // bytes of shared memory a CTA may have, on sm_90 and on sm_100
constexpr int kRtxSharedLimit = 101376;  // on sm_120 and sm_121

}  // namespace kernels
