// NVFP4 dot products under whole scales of 0 to 3, as GPU MODE's GEMM contest draws them: every sum is exact
// in fp32, in any order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace bitwell::oracle {

// Twice each element times its scale. Throws std::domain_error for a scale that is none of 0, 1, 2 and 3.
std::vector<int16_t> halves(std::span<const uint8_t> codes, std::span<const uint8_t> scales);

// The sum of the products of two such rows. Throws std::domain_error if fp32 does not hold it.
float whole_dot(std::span<const int16_t> a, std::span<const int16_t> b);

}  // namespace bitwell::oracle
