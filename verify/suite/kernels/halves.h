// Numbers of two bytes, fp16 or bf16, as the cases of kernels have them.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "verify/oracle/epilogue.h"

namespace bitwell::suite {

inline float value_of(uint16_t code, bool bf16) {
  return bf16 ? std::bit_cast<float>(uint32_t{code} << 16) : oracle::half(code);
}

inline std::vector<std::byte> bytes_of(const std::vector<uint16_t>& codes) {
  std::vector<std::byte> out(codes.size() * 2);
  std::memcpy(out.data(), codes.data(), out.size());
  return out;
}

}  // namespace bitwell::suite
