// The one notion of equality: bits, NaN payloads included.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>

namespace bitwell::suite {

inline bool same_bits(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace bitwell::suite
