// Published outputs as a kernel would have stored them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "verify/oracle/gemm.h"

namespace bitwell::verify {

// fp16, little endian. All of them are fp16 numbers.
inline std::vector<std::byte> as_halves(std::span<const float> outputs) {
  std::vector<std::byte> out;
  for (const float value : outputs) {
    const uint32_t code = oracle::stored(value, oracle::Output::f16);
    out.push_back(static_cast<std::byte>(code & 0xFF));
    out.push_back(static_cast<std::byte>(code >> 8));
  }
  return out;
}

}  // namespace bitwell::verify
