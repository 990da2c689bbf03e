// Bytes as a launch file has them.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bitwell::launch {

inline std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view all = "0123456789abcdef";
  std::string digits;
  for (const std::byte b : bytes) {
    digits += all[static_cast<size_t>(b >> 4)];
    digits += all[static_cast<size_t>(b & std::byte{15})];
  }
  return digits;
}

}  // namespace bitwell::launch
