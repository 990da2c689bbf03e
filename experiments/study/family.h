// What dot products are drawn from.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bitwell::study {

enum class Family : uint8_t {
  problem,           // the GEMV contest's own: low nibbles {0, .5, 1, 1.5}, scales {0, 1, 2}
  gaussian,          // N(0, 1), scales in place of a tensor scale: about 0.3
  gaussian_stored,   // the same by the two-level recipe as it is stored: scales up to 448
  same_sign,         // |N(0, 1)|
  heavy_tailed,      // Student's t, three degrees of freedom
  outlier_channels,  // N(0, 1), one channel of 64 thirty times as large
  cancelling,        // the second half of k takes back the first but for one element of 64
  extreme_scales,    // N(0, 1) nibbles, every finite scale equally likely
  adversarial        // the worst that a search finds, for each order its own
};
struct NamedFamily {
  Family family;
  std::string_view name;
  std::string_view about;
};
// In the order of the enumeration.
std::span<const NamedFamily> families();
std::string_view name_of(Family family);

// Rows of A, or columns of B, one after the other: E2M1 codes, one a byte, and E4M3 scales, one for 16.
struct Vectors {
  size_t count = 0, k = 0;
  std::vector<uint8_t> codes, scales;
};
// k: a multiple of 16. Vector i depends on family, side, seed and i alone. Throws machine::InputError for
// adversarial, which is searched for each order by itself (adversarial.h).
Vectors draw(Family family, bool is_a, size_t count, size_t k, uint64_t seed);

// What vector i is drawn from before it is quantised; of gaussian, same_sign, heavy_tailed and
// outlier_channels.
std::vector<float> draw_values(Family family, bool is_a, size_t i, size_t k, uint64_t seed);

}  // namespace bitwell::study
