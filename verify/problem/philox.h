// Philox4x32-10, the counter-based generator of cuRAND and torch (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC11).
#pragma once
#include <array>
#include <cstdint>

namespace bitwell::problem {

using PhiloxBlock = std::array<uint32_t, 4>;

// The four words of one value of the counter. `key`: its low word first.
constexpr PhiloxBlock philox(PhiloxBlock counter, uint64_t key) {
  auto low = static_cast<uint32_t>(key);
  auto high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xD2511F53} * counter[0];
    const uint64_t q = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(q >> 32) ^ counter[1] ^ low, static_cast<uint32_t>(q),
               static_cast<uint32_t>(p >> 32) ^ counter[3] ^ high, static_cast<uint32_t>(p)};
    low += 0x9E3779B9;   // the golden ratio
    high += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

}  // namespace bitwell::problem
