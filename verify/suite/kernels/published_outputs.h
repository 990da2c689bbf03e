// Published outputs as a kernel would have stored them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "verify/oracle/gemm.h"

namespace bitwell::suite {

// Little endian. All of them are fp16 numbers.
inline std::vector<std::byte> as_stored(std::span<const float> outputs, oracle::Output output) {
  std::vector<std::byte> out;
  for (const float value : outputs) {
    const uint32_t code = oracle::stored(value, output);
    for (int i = 0; i < (output == oracle::Output::f32 ? 4 : 2); ++i)
      out.push_back(static_cast<std::byte>(code >> (8 * i)));
  }
  return out;
}
inline std::vector<std::byte> as_halves(std::span<const float> outputs) {
  return as_stored(outputs, oracle::Output::f16);
}

}  // namespace bitwell::suite
